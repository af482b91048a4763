//! A document of thousands of pages goes through a worker that stays small.

use crate::{
    make::{pdf, sentence},
    script::Script,
};
use plumbline_system_tests::{PgPool, World, eventually, jobs::NewJob};
use serde_json::json;

/// Pages of the document.
const PAGES: usize = 2_000;
/// Maximum memory of the worker in MiB: the unoptimized program itself takes 59; the rest are copies of the document, its
/// text and its chunks, which are written by one step each, the rows of its 2,000 passages with their candidate sentences
/// (twice: the model chunks it again), and the report at the end; it peaked at 312.
const MOST_MIB: u64 = 340;

#[sqlx::test(migrations = false)]
async fn two_thousand_pages_are_extracted_cut_and_cited(pool: PgPool) {
    let world = World::new(pool).await;
    let document = pdf(PAGES);
    world.import("large.pdf", &document);
    let quote = sentence(1500, 7);
    let script = Script::start(vec![
        vec![("extract_document_text", json!({"file_path": "input/large.pdf"}))],
        vec![("cite", json!({"source": "large.pdf", "page": 1500, "quote": quote}))],
        vec![("chunk_document", json!({"file_path": "input/large.pdf"}))],
        vec![("search_files", json!({"query": quote, "path": "chunks"}))],
    ])
    .await;
    world.let_rows_set(&["llm.base_url"], &[&script.base_url()]);
    world.let_passages_be();
    let config = json!({"llm": {"base_url": script.base_url()}});
    let worker = world.worker();
    eventually("the worker", async || worker.stderr().contains("dashboard at").then_some(())).await;
    let idle = worker.peak_memory_mib();
    let job = world.insert(&NewJob { config: Some(config), ..NewJob::with_path("large.pdf") }).await;
    let mut step = world.until(job, "its first step", |job| job.step > 0 || job.ended).await;
    let mut report = format!("idle: {idle} MiB; ");
    while !step.ended {
        report.push_str(&format!("step {}: {} MiB at most; ", step.step, worker.peak_memory_mib()));
        let known = step.step;
        step = world.until(job, "another step", |job| job.step > known || job.ended).await;
    }
    let peak = worker.peak_memory_mib();
    println!("a PDF of {} MiB: {report}in all {peak} MiB", document.len() >> 20);
    let said = script.said();
    assert_eq!(step.status, "completed", "{said:?} {:?}", step.error);
    assert!(said[0][0].contains("pages: 2000\n") && said[1][0].contains("cit_"), "{:?}", &said[..2]);
    assert!(said[3][0].contains(&quote), "{}", said[3][0]);
    assert!(peak <= MOST_MIB, "the worker had {peak} MiB at most: {report}");
    // Thousands of files may take the folder longer than a job waits for it: they are written in the background.
    let shown = world.workspace().join(format!("job_{job}/output/notes.md"));
    eventually("the folder", async || shown.exists().then_some(())).await;
    worker.stop().await;
    world.finish().await;
}

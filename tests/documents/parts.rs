//! The parts of a long text are written by one step; a crash before its end leaves nothing behind.

use crate::script::Script;
use plumbline_system_tests::{PgPool, Uuid, World, jobs::NewJob};
use serde_json::json;

/// Three parts of text in few sentences: the scan for duties is not what is tried here.
fn manual() -> String {
    let paragraph = |number: usize| {
        let records = (0..60).map(|kind| format!("records of kind {number}.{kind}")).collect::<Vec<_>>().join(", ");
        format!("Rule {number}. For {} years shall be kept: {records}.\n\n", number % 30)
    };
    (0..1_700).map(paragraph).collect()
}

/// Runs a job that extracts and cuts the manual; the first worker has that fail-point.
async fn run(world: &World, armed: Option<&str>) -> Uuid {
    // A turn whose local tools were interrupted is requested again; an undisturbed job chunks twice.
    let cut = || vec![("chunk_document", json!({"file_path": "input/manual.txt"}))];
    let extract = vec![("extract_document_text", json!({"file_path": "input/manual.txt"}))];
    let script = Script::start(vec![extract, cut(), cut()]).await;
    world.let_rows_set(&["llm.base_url"], &[&script.base_url()]);
    world.let_passages_be();
    let config = json!({"llm": {"base_url": script.base_url()}});
    let job = world.insert(&NewJob { config: Some(config), ..NewJob::with_path("manual.txt") }).await;
    if let Some(armed) = armed {
        let mut command = world.command(&["worker", "--until-idle"]);
        command.env("PLUMBLINE_FAIL_POINTS", armed);
        let ended = world.start(command).ended().await;
        assert_eq!(ended.code, None, "{armed} did not crash the worker: {}", ended.stderr);
        world.age_workers().await;
    }
    world.work_until_idle().await;
    assert_eq!(world.job(job).await.status, "completed", "{armed:?}: {:?}", script.said());
    job
}

/// The texts and chunks of a job with their contents.
async fn texts(pool: &PgPool, job: Uuid) -> Vec<(String, String)> {
    sqlx::query_as("SELECT path, sha256 FROM workspace_files WHERE job_id = $1 AND path LIKE 'chunks/%' ORDER BY path")
        .bind(job)
        .fetch_all(pool)
        .await
        .expect("the files can be listed")
}

#[sqlx::test(migrations = false)]
async fn a_crash_before_the_parts_are_committed_changes_nothing(pool: PgPool) {
    let world = World::new(pool.clone()).await;
    world.import("manual.txt", manual());
    let calm = run(&world, None).await;
    let expected = texts(&pool, calm).await;
    assert!(expected.iter().any(|(path, _)| path == "chunks/manual.part3.md"), "{expected:?}");
    // The step with the parts of the text, and the one with their chunks.
    for armed in ["after_tools/tactical=crash", "written/tactical=crash", "written/tactical=crash@2"] {
        let job = run(&world, Some(armed)).await;
        assert_eq!(texts(&pool, job).await, expected, "{armed}");
    }
    let left: i64 = sqlx::query_scalar(
        "SELECT count(*) FROM blobs b WHERE NOT EXISTS (
            SELECT FROM file_versions f WHERE f.job_id = b.job_id AND f.sha256 = b.sha256)",
    )
    .fetch_one(&pool)
    .await
    .expect("contents can be counted");
    assert_eq!(left, 0, "contents that no file has");
    world.finish().await;
}

//! What one job makes a worker compute keeps no other job, no probe and no request to stop waiting.

use plumbline_system_tests::{
    PgPool, Uuid, World, eventually,
    jobs::NewJob,
    probe::Probed,
    scripted::{Reply, Request, Scripted},
};
use serde_json::json;
use std::time::{Duration, Instant};

/// More than any machine of these tests has processors for.
const SEARCHERS: usize = 6;
/// Steps of the bystander that are counted, before and during.
const STEPS: i64 = 20;
/// How much slower the bystander may get: the machine is shared with the searches, and with other tests.
const SLOWER: f64 = 10.0;

/// As large as one can be searched, and without an end of line.
fn letters() -> String {
    let letter = |n: u32| if (n.wrapping_mul(2_654_435_761) >> 13).is_multiple_of(2) { 'a' } else { 'b' };
    (0..4 * 1024 * 1024).map(letter).collect()
}

fn is_bystanders(request: &Request) -> bool {
    request.texts().any(|text| text.contains("as a bystander"))
}

/// Searchers search with expressions that are as costly as they may be; the bystander writes.
fn answer(request: &Request, number: usize) -> Reply {
    if is_bystanders(request) {
        return Reply::calls(&[("write_file", json!({"path": "notes.md", "content": format!("Note {number}.")}))]);
    }
    let query = format!("a[ab]{{{}}}[X-Y]", 900 - number % 100);
    Reply::calls(&[("search_files", json!({"query": query, "path": "input", "mode": "regex"}))])
}

/// Steps a second of a job, over some steps.
async fn pace(world: &World, job: Uuid) -> f64 {
    let begun = (world.job(job).await.step, Instant::now());
    let now = world.until(job, "makes steps", |row| row.step >= begun.0 + STEPS).await;
    (now.step - begun.0) as f64 / begun.1.elapsed().as_secs_f64()
}

#[sqlx::test(migrations = false)]
async fn costly_expressions_keep_nothing_else_waiting(pool: PgPool) {
    let world = World::new(pool).await;
    // The search is what is costly here: to cut such a text into passages would take longer by far.
    world.let_rows_set(&["documents.prepare"], &[]);
    world.import("letters.txt", letters());
    let model = Scripted::start(answer).await;
    let mut command = world.command(&["worker"]);
    command.env("OPENAI_BASE_URL", model.base_url());
    let worker = Probed::start(&world, command).await;
    let bystander = world.insert(&NewJob { prompt: "Write notes as a bystander", ..NewJob::default() }).await;
    world.until(bystander, "has begun", |row| row.step > 2).await;
    let before = pace(&world, bystander).await;

    let config = Some(json!({"documents": {"prepare": "model"}}));
    let searcher = NewJob { prompt: "Search the letters", config, ..NewJob::with_path("letters.txt") };
    let mut searchers = Vec::new();
    for _ in 0..SEARCHERS {
        searchers.push(world.insert(&searcher).await);
    }
    let asked = || model.seen().iter().filter(|request| !is_bystanders(request)).count();
    eventually("each searcher to have its first answer", async || (asked() >= SEARCHERS).then_some(())).await;
    let mut slowest = Duration::ZERO;
    for _ in 0..10 {
        let begun = Instant::now();
        assert_eq!(worker.ask("/healthz").await.0, 200);
        slowest = slowest.max(begun.elapsed());
    }
    let during = pace(&world, bystander).await;
    println!("the bystander made {before:.1} steps a second, then {during:.1}; /healthz took {slowest:?} at most");
    assert!(slowest < Duration::from_secs(1), "/healthz took {slowest:?}");
    assert!(during * SLOWER > before, "{before:.1} steps a second, then {during:.1}");
    let given_up = |request: &Request| request.new_results().iter().any(|result| result.contains("given up in"));
    eventually("a search to be given up", async || model.seen().iter().any(given_up).then_some(())).await;

    worker.program.stop().await;
    for job in searchers.into_iter().chain([bystander]) {
        assert_eq!(world.job(job).await.status, "pending", "given back, and none failed");
    }
    world.finish().await;
}

//! One job's computation delays no other job, no probe and no shutdown.

use plumbline_system_tests::{
    PgPool, World, eventually,
    jobs::NewJob,
    probe::Probed,
    scripted::{Reply, Request, Scripted},
};
use serde_json::json;

/// More than any machine of these tests has processors for.
const SEARCHERS: usize = 6;
/// Steps of the bystander that are counted.
const STEPS: i64 = 20;

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

#[sqlx::test(migrations = false)]
async fn costly_expressions_keep_nothing_else_waiting(pool: PgPool) {
    let world = World::new(pool).await;
    // Only the search is tested here: splitting such a text into passages would take far longer.
    world.let_rows_set(&["documents.prepare"], &[]);
    world.import("letters.txt", letters());
    let model = Scripted::start(answer).await;
    let mut command = world.command(&["worker"]);
    command.env("OPENAI_BASE_URL", model.base_url());
    let worker = Probed::start(&world, command).await;
    let bystander = world.insert(&NewJob { prompt: "Write notes as a bystander", ..NewJob::default() }).await;
    world.until(bystander, "has begun", |row| row.step > 2).await;

    let config = Some(json!({"documents": {"prepare": "model"}}));
    let searcher = NewJob { prompt: "Search the letters", config, ..NewJob::with_path("letters.txt") };
    let mut searchers = Vec::new();
    for _ in 0..SEARCHERS {
        searchers.push(world.insert(&searcher).await);
    }
    let asked = || model.seen().iter().filter(|request| !is_bystanders(request)).count();
    eventually("each searcher to have its first answer", async || (asked() >= SEARCHERS).then_some(())).await;
    // A search takes seconds on any machine, a step of the bystander none. Where each search kept the event loop, the
    // bystander would make a step between two of them.
    let (searches, from) = (asked(), world.job(bystander).await.step);
    for step in 1..=STEPS {
        assert_eq!(worker.ask("/healthz").await.0, 200);
        world.until(bystander, "makes a step", |row| row.step >= from + step).await;
    }
    let searched = asked() - searches;
    assert!((searched as i64) < STEPS, "{searched} searches ended while the bystander made {STEPS} steps");
    let given_up = |request: &Request| request.new_results().iter().any(|result| result.contains("given up in"));
    eventually("a search to be given up", async || model.seen().iter().any(given_up).then_some(())).await;

    worker.program.stop().await;
    for job in searchers.into_iter().chain([bystander]) {
        assert_eq!(world.job(job).await.status, "pending", "given back, and none failed");
    }
    world.finish().await;
}

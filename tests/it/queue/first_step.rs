//! The first step of a job: its files are in the rows before the first model call.

use plumbline_system_tests::{Answer, PgPool, Uuid, World, documents, jobs::NewJob};
use serde_json::json;

/// Path, hash and step of each file, as the rows have them.
async fn files(pool: &PgPool, job: Uuid) -> Vec<(String, String, i64)> {
    let files = "SELECT path, sha256, step FROM workspace_files WHERE job_id = $1 ORDER BY path";
    sqlx::query_as(files).bind(job).fetch_all(pool).await.expect("the files can be listed")
}

#[sqlx::test(migrations = false)]
async fn it_is_written_before_the_request_and_a_crash_then_continues_from_it(pool: PgPool) {
    let world = World::new(pool.clone()).await;
    let policy = documents::policy(2);
    // Nothing but these jobs asks the model.
    let config = json!({"on_complete": {"enqueue": null}});
    let new = NewJob { config: Some(config), ..NewJob::with_content("policy.md", policy.markdown.as_bytes()) };
    world.model.hold_from(1);
    let calm = world.insert(&new).await;
    let worker = world.worker();
    world.model.arrived(1).await;
    let first = files(&pool, calm).await;
    for path in ["instructions.md", "input/policy.md", "tools/read_file.md"] {
        assert!(first.iter().any(|(known, ..)| known == path), "{path} is missing: {first:?}");
    }
    let steps = |prefix: &str| {
        let below = first.iter().filter(move |(path, ..)| path.starts_with(prefix));
        below.map(|(.., step)| *step).collect::<std::collections::BTreeSet<_>>()
    };
    assert_eq!(
        (steps("input/"), steps("chunks/")),
        ([1].into(), [2].into()),
        "the document is prepared, too: {first:?}"
    );
    world.model.answers(Answer::Work);
    world.becomes(calm, "completed").await;
    worker.stop().await;
    let finished = files(&pool, calm).await;

    let job = world.insert(&new).await;
    let mut armed = world.command(&["worker", "--until-idle"]);
    armed.env("PLUMBLINE_FAIL_POINTS", "before_model/strategic=crash");
    let ended = world.start(armed).ended().await;
    assert_eq!(ended.code, None, "the worker did not crash: {}", ended.stderr);
    assert_eq!(world.job(job).await.step, 2);
    assert!(!files(&pool, job).await.is_empty(), "it was cut off before its first step");
    world.age_workers().await;
    world.work_until_idle().await;
    world.becomes(job, "completed").await;
    let paths = |files: Vec<(String, String, i64)>| files.into_iter().map(|(path, ..)| path).collect::<Vec<_>>();
    assert_eq!(paths(files(&pool, job).await), paths(finished));
    world.finish().await;
}

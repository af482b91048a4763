//! The documentation of a job's tools: there while the model is first asked, and complete whatever happens to the worker
//! just then.

use plumbline_system_tests::{Answer, PgPool, Uuid, World, documents, eventually, jobs::NewJob};
use serde_json::json;

/// Path, hash and step of each.
async fn tool_files(pool: &PgPool, job: Uuid) -> Vec<(String, String, i64)> {
    let files =
        "SELECT path, sha256, step FROM workspace_files WHERE job_id = $1 AND path LIKE 'tools/%' ORDER BY path";
    sqlx::query_as(files).bind(job).fetch_all(pool).await.expect("the files can be listed")
}

#[sqlx::test(migrations = false)]
async fn they_are_written_while_the_model_is_first_asked_and_after_a_crash_by_the_successor(pool: PgPool) {
    let world = World::new(pool.clone()).await;
    let policy = documents::policy(2);
    // Nothing but these jobs asks the model.
    let config = json!({"on_complete": {"enqueue": null}});
    let new = NewJob { config: Some(config), ..NewJob::with_content("policy.md", policy.markdown.as_bytes()) };
    world.model.hold_from(1);
    let calm = world.insert(&new).await;
    let worker = world.worker();
    world.model.arrived(1).await;
    let files = eventually("the tools' documentation, with no answer of the model", async || {
        Some(tool_files(&pool, calm).await).filter(|files| !files.is_empty())
    })
    .await;
    assert!(files.iter().any(|(path, ..)| path == "tools/read_file.md"), "{files:?}");
    assert!(files.iter().all(|(.., step)| *step == 1), "they are of the step that took the job in: {files:?}");
    world.model.answers(Answer::Work);
    world.becomes(calm, "completed").await;
    worker.stop().await;
    assert_eq!(tool_files(&pool, calm).await, files);

    let job = world.insert(&new).await;
    let mut armed = world.command(&["worker", "--until-idle"]);
    armed.env("PLUMBLINE_FAIL_POINTS", "before_model/strategic=crash");
    let ended = world.start(armed).ended().await;
    assert_eq!(ended.code, None, "the worker did not crash: {}", ended.stderr);
    let row = world.job(job).await;
    assert_eq!((row.step, tool_files(&pool, job).await), (1, Vec::new()), "it was not cut off in between");
    world.age_workers().await;
    world.work_until_idle().await;
    world.becomes(job, "completed").await;
    assert_eq!(tool_files(&pool, job).await, files);
    world.finish().await;
}

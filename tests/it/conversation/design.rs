//! The configuration of the design, word for word, runs jobs.

use super::promises::{closing, completes, does, goes_on, offered, todos};
use plumbline_system_tests::{
    PgPool, World,
    jobs::NewJob,
    scripted::{Reply, Request, Scripted},
};
use serde_json::json;
use std::path::PathBuf;

/// Job types of the operator's with the lists of the design, word for word: the folder.
fn of_the_design(world: &World) -> PathBuf {
    let config = json!({
        "$extends": "defaults",
        "job_type": "creator",
        "tools": {
            "workspace": ["read_file", "write_file", "list_files", "search_files"],
            "strategic": ["todo_write", "job_complete"],
            "tactical": ["todo_complete"],
            "domain": ["extract_document_text", "chunk_document", "add_requirement"]
        },
        "connections": {"postgres": true, "neo4j": false}
    });
    let folder = world.folder().join("files/creator");
    std::fs::create_dir_all(&folder).expect("the world's folder can be written");
    std::fs::write(folder.join("config.json"), config.to_string()).expect("the world's folder can be written");
    world.folder().join("files")
}

#[sqlx::test(migrations = false)]
async fn the_designs_own_configuration_runs_a_job(pool: PgPool) {
    let world = World::new(pool).await;
    let types = of_the_design(&world);
    let plan = ("write_file", json!({"path": "main_plan.md", "content": "# Plan\n\n## Phase 1: Reading\n"}));
    let model = Scripted::start(move |_, number| match number {
        // Without a plan its todo stays open, and so do those after it.
        1 => goes_on("Reading"),
        2 => Reply::calls(&[plan.clone(), todos("Reading")].into_iter().chain(closing(3)).collect::<Vec<_>>()),
        3 => does("one"),
        _ => completes(),
    })
    .await;
    let job = world.insert(&NewJob { prompt: "Note what holds", ..NewJob::default() }).await;
    let mut command = world.command(&["worker", "--until-idle"]);
    command.env("PLUMBLINE_CONFIG_DIR", types).env("OPENAI_BASE_URL", model.base_url());
    let ended = world.start(command).ended().await;
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let seen = model.seen();
    let list = |request: &Request| request.texts().find(|text| text.contains("ACTIVE TODO LIST")).map(str::to_owned);
    let first = list(&seen[0]).expect("a request has the list");
    assert!(
        first.contains("2. Write main_plan.md: the goal, the approach") && !first.contains("write_plan"),
        "{first}"
    );
    let refused = "Error: todo 2 stays open: there is no main_plan.md.";
    let results: Vec<&str> = seen[1].new_results();
    assert!(results.iter().any(|result| result.starts_with(refused)), "{results:?}");
    let job = world.job(job).await;
    assert_eq!(job.status, "completed", "{job:?}");
    assert_eq!(
        offered(&seen[2]),
        [
            "read_file",
            "write_file",
            "list_files",
            "search_files",
            "todo_complete",
            "extract_document_text",
            "chunk_document",
            "add_requirement",
            "todo_rewind",
        ]
    );
    world.finish().await;
}

#[sqlx::test(migrations = false)]
async fn the_rehearsal_model_brings_the_designs_own_job_to_its_end(pool: PgPool) {
    let world = World::new(pool).await;
    let types = of_the_design(&world);
    let policy = b"# Records\n\nInvoices must be kept for ten years.\n\nThe auditor must be shown each of them.\n";
    let id = world.insert(&NewJob::with_content("policy.md", policy)).await;
    let mut command = world.command(&["worker", "--until-idle"]);
    command.env("PLUMBLINE_CONFIG_DIR", types);
    let ended = world.start(command).ended().await;
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let job = world.job(id).await;
    assert_eq!(job.status, "completed", "{job:?}");
    assert!(job.requests < 40, "{} requests", job.requests);
    let done: (Option<i32>, Option<i32>, i64) = sqlx::query_as(
        "SELECT phases_done, phases_total, (SELECT count(*) FROM requirement_cache r WHERE r.job_id = j.id)
         FROM jobs j WHERE id = $1",
    )
    .bind(id)
    .fetch_one(&world.pool)
    .await
    .expect("the job can be read");
    assert_eq!((done.0, done.2), (done.1, 2), "every phase of its plan is done, and both duties are recorded");
    assert!(done.1.is_some_and(|phases| phases > 0), "{done:?}");
    let refused: i64 = sqlx::query_scalar(
        "SELECT count(*) FROM messages WHERE job_id = $1 AND role = 'tool' AND content LIKE 'Error: %'",
    )
    .bind(id)
    .fetch_one(&world.pool)
    .await
    .expect("the conversation can be read");
    assert_eq!(refused, 0, "no call was refused");
    world.finish().await;
}

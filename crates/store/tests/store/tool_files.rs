//! The documentation of a job's tools: written after the step that takes the job in, as files of that step.

use crate::support::{commit, execute, running, store, value};
use plumbline_engine::{Change, FileWrite, Product};
use plumbline_store::{ClaimedJob, Error, LoadedJob, Store};
use sqlx::PgPool;
use std::time::Duration;

fn write(path: &str, content: &str) -> Change {
    Change::Product(Product::WriteFile(FileWrite::text(path, content)))
}

/// Two of them have the same content.
fn documentation() -> Vec<FileWrite> {
    [("cite", "quotes"), ("read_file", "reads"), ("list_files", "reads")]
        .map(|(tool, text)| FileWrite::text(format!("tools/{tool}.md"), text))
        .to_vec()
}

async fn put(store: &Store, job: &ClaimedJob) -> Result<(), Error> {
    let files = documentation();
    store.put_tool_files(&job.lease(), &files.iter().collect::<Vec<_>>()).await
}

/// Path, step and content of each.
async fn stored(pool: &PgPool, job: &str) -> Option<String> {
    let rows = "SELECT string_agg(concat_ws(' ', path, step, convert_from(workspace_file(job_id, path), 'UTF8')), ', '
                                  ORDER BY path COLLATE \"C\")
                FROM workspace_files WHERE path LIKE 'tools/%' AND job_id";
    value(pool, format!("{rows} = {job}")).await
}

#[sqlx::test(migrations = "../../migrations")]
async fn they_are_files_of_the_step_that_took_the_job_in_however_late_and_often_they_are_written(pool: PgPool) {
    let store = store(&pool);
    let job = running(&store).await;
    commit(&store, job.lease(), 0, &[]).await.unwrap();
    commit(&store, job.lease(), 1, &[write("instructions.md", "Extract")]).await.unwrap();
    commit(&store, job.lease(), 2, &[write("instructions.md", "Extract more")]).await.unwrap();
    for _ in 0..2 {
        put(&store, &job).await.unwrap();
    }
    let expected = "tools/cite.md 2 quotes, tools/list_files.md 2 reads, tools/read_file.md 2 reads";
    assert_eq!(stored(&pool, &format!("'{}'", job.id)).await.as_deref(), Some(expected));
    assert_eq!(value(&pool, "SELECT count(*) FROM file_versions").await.as_deref(), Some("5"));
    assert_eq!(value(&pool, "SELECT count(*) FROM blobs").await.as_deref(), Some("4"));
    assert_eq!(store.load(&job.lease()).await.unwrap().files.len(), 4);
    let violations = store.invariants(Duration::from_secs(60)).await.unwrap();
    assert!(!violations.iter().any(|violation| violation.rule.contains("file")), "{violations:?}");
    // A fork at that step has them, one before it does not.
    let fork = |step| format!("(SELECT fork_job('{}', {step}))", job.id);
    let at = |step| value(&pool, fork(step));
    let (first, second) = (at(1).await.unwrap(), at(2).await.unwrap());
    assert_eq!(stored(&pool, &format!("'{first}'")).await, None);
    assert_eq!(stored(&pool, &format!("'{second}'")).await.as_deref(), Some(expected));
}

#[sqlx::test(migrations = "../../migrations")]
async fn without_the_lease_and_before_the_job_is_taken_in_nothing_is_written(pool: PgPool) {
    let store = store(&pool);
    let job = running(&store).await;
    put(&store, &job).await.unwrap();
    commit(&store, job.lease(), 0, &[write("instructions.md", "Extract")]).await.unwrap();
    let older = ClaimedJob { lease_epoch: job.lease_epoch - 1, ..job.clone() };
    assert!(matches!(put(&store, &older).await, Err(Error::LeaseLost(id)) if id == job.id));
    execute(&pool, format!("UPDATE jobs SET status = 'paused' WHERE id = '{}'", job.id)).await.unwrap();
    assert!(matches!(put(&store, &job).await, Err(Error::LeaseLost(id)) if id == job.id));
    assert_eq!(stored(&pool, &format!("'{}'", job.id)).await, None);
    assert_eq!(value(&pool, "SELECT count(*) FROM blobs").await.as_deref(), Some("1"));
}

#[sqlx::test(migrations = "../../migrations")]
async fn the_claim_of_a_new_job_says_all_that_loading_it_would(pool: PgPool) {
    let store = store(&pool);
    let job = running(&store).await;
    assert_eq!(LoadedJob::new(&job), Some(store.load(&job.lease()).await.unwrap()));
    assert_eq!(LoadedJob::new(&ClaimedJob { feedback_pending: true, ..job.clone() }), None);
    assert_eq!(LoadedJob::new(&ClaimedJob { step: 1, ..job }), None);
}

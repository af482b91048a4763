//! Files that jobs share: stored once in the database, present in every job's workspace.

use crate::{
    story::{self, documentation},
    support::{commit, running, store, value},
};
use plumbline_engine::{Change, FileWrite, Product};
use plumbline_store::{ClaimedJob, Store, TracePage};
use sqlx::PgPool;
use std::time::Duration;

/// A job that has written its first step.
async fn begun(store: &Store) -> ClaimedJob {
    let job = running(store).await;
    let own = Change::Product(Product::WriteFile(FileWrite::text("notes.md", "Its own.")));
    commit(store, job.lease(), 0, &[own, Change::Product(Product::ShareFiles(documentation()))]).await.unwrap();
    job
}

#[sqlx::test(migrations = "../../migrations")]
async fn whoever_reads_a_workspace_finds_them_in_it(pool: PgPool) {
    let store = store(&pool);
    let job = begun(&store).await;
    let all = ["notes.md", "tools/cite.md", "tools/read_file.md"];
    let (path, text) = ("tools/cite.md", b"How to cite.".to_vec());

    let loaded = store.load(&job.lease()).await.unwrap();
    assert_eq!(loaded.files.keys().collect::<Vec<_>>(), all);
    assert_eq!(loaded.files[path], documentation().files[0].facts);
    let index = store.file_index(job.id).await.unwrap();
    assert_eq!(index.iter().map(|row| row.path.as_str()).collect::<Vec<_>>(), all);
    assert_eq!(
        (index[1].size, index[1].step, index[1].sha256.as_deref().map(|hash| &hash[..4])),
        (12, 1, Some("0175"))
    );
    let changed = store.changed_files(&[(job.id, 0)]).await.unwrap();
    assert_eq!(changed.iter().map(|file| file.path.as_str()).collect::<Vec<_>>(), all);
    assert_eq!(changed[1].content, Some(text.clone()));
    assert_eq!(store.changed_files(&[(job.id, 1)]).await.unwrap(), []);
    assert_eq!(store.read_file(job.id, path).await.unwrap(), Some(text.clone()));
    let wanted = all.map(str::to_owned);
    let read = store.read_files(job.id, &wanted).await.unwrap();
    assert_eq!((read.len(), &read[path]), (3, &text));
    let page = store.file_page(job.id, "notes.md", 1).await.unwrap();
    assert_eq!(page.iter().map(|file| file.path.as_str()).collect::<Vec<_>>(), ["tools/cite.md"]);
    assert_eq!(store.file_page(job.id, "", 10).await.unwrap().len(), 3);
    let part = store.file_part(job.id, path, 4, 2).await.unwrap().unwrap();
    assert_eq!((part.size, part.part), (12, b"to".to_vec()));
    let steps = store.step_page(job.id, None, 10, 100).await.unwrap();
    assert_eq!(steps[0].files.iter().map(|file| file.path.as_str()).collect::<Vec<_>>(), all);
    let recorded = store.recording(job.id).await.unwrap().unwrap();
    assert_eq!(recorded.steps[0].files[path].as_ref(), Some(&text));
    let traced = store.trace(job.id, TracePage { after: 0, until: 9, limit: 9 }).await.unwrap();
    assert_eq!(traced[0].effects.iter().filter(|effect| effect.what.starts_with("tools/")).count(), 2);
    let shown = format!("SELECT string_agg(path, ' ' ORDER BY path) FROM workspace_files WHERE job_id = '{}'", job.id);
    assert_eq!(value(&pool, shown).await, Some(all.join(" ")));
    let people = format!("SELECT convert_from(workspace_file('{}', '{path}'), 'UTF8')", job.id);
    assert_eq!(value(&pool, people).await.as_deref(), Some("How to cite."));
}

#[sqlx::test(migrations = "../../migrations")]
async fn they_are_in_the_database_once_however_many_jobs_have_them(pool: PgPool) {
    // Two workers that do not know each other's writes.
    let (store, other) = (store(&pool), store(&pool));
    let first = begun(&store).await;
    for store in [&store, &other] {
        begun(store).await;
    }
    assert_eq!(value(&pool, "SELECT count(*) FROM shared_files").await.as_deref(), Some("2"));
    assert_eq!(value(&pool, "SELECT count(*) FROM job_shared_files").await.as_deref(), Some("3"));
    assert_eq!(
        value(&pool, "SELECT count(*) FROM file_versions WHERE path LIKE 'tools/%'").await.as_deref(),
        Some("0")
    );
    sqlx::query("DELETE FROM jobs WHERE id = $1").bind(first.id).execute(&pool).await.unwrap();
    assert_eq!(value(&pool, "SELECT count(*) FROM job_shared_files").await.as_deref(), Some("2"));
    assert_eq!(store.read_file(first.id, "tools/cite.md").await.unwrap(), None);
    begun(&store).await;
    let broken = store.invariants(Duration::from_secs(60)).await.unwrap();
    assert!(broken.iter().all(|violation| !violation.rule.contains("I6") && !violation.rule.contains("shared")));
}

#[sqlx::test(migrations = "../../migrations")]
async fn a_fork_has_them_too_and_a_job_without_any_has_none(pool: PgPool) {
    let store = store(&pool);
    let (source, without) = (running(&store).await, running(&store).await);
    story::tell(&store, source.lease()).await;
    let fork = store.fork(source.id, 2).await.unwrap();
    assert_eq!(store.read_file(fork, "tools/cite.md").await.unwrap(), Some(b"How to cite.".to_vec()));
    assert_eq!(store.read_file(without.id, "tools/cite.md").await.unwrap(), None);
    assert_eq!(store.file_index(without.id).await.unwrap(), []);
}

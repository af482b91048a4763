//! The workspace: versions, contents, the view.

use crate::support::{commit, running, store, value};
use plumbline_engine::{Change, FileWrite, Product};
use plumbline_store::{ClaimedJob, Store};
use sqlx::PgPool;

fn write(path: &str, content: &str) -> Change {
    Change::Product(Product::WriteFile(FileWrite::text(path, content)))
}

fn append(path: &str, text: &str) -> Change {
    Change::Product(Product::AppendFile { path: path.into(), text: text.into() })
}

fn delete(path: &str) -> Change {
    Change::Product(Product::DeleteFile { path: path.into() })
}

async fn text(store: &Store, job: &ClaimedJob, path: &str) -> Option<String> {
    store.read_file(job.id, path).await.unwrap().map(|content| String::from_utf8(content).unwrap())
}

#[sqlx::test(migrations = "../../migrations")]
async fn write_append_overwrite_and_delete(pool: PgPool) {
    let store = store(&pool);
    let job = running(&store).await;
    let steps: [(&[Change], Option<&str>); 7] = [
        (&[append("log.md", "one\n")], Some("one\n")),
        (&[append("log.md", "two\n"), append("log.md", "three\n")], Some("one\ntwo\nthree\n")),
        (&[write("log.md", "new\n"), append("log.md", "more\n")], Some("new\nmore\n")),
        (&[append("log.md", "lost\n"), write("log.md", "last wins\n")], Some("last wins\n")),
        (&[write("log.md", "x"), delete("log.md")], None),
        (&[append("log.md", "again\n")], Some("again\n")),
        (&[delete("log.md"), append("log.md", "anew\n")], Some("anew\n")),
    ];
    for (step, (changes, expected)) in (0..).zip(steps) {
        commit(&store, job.lease(), step, changes).await.unwrap();
        assert_eq!(text(&store, &job, "log.md").await.as_deref(), expected, "step {step}");
        let size = expected.map(|text| text.len().to_string());
        assert_eq!(value(&pool, "SELECT sum(size) FROM workspace_files").await, size, "step {step}");
    }
    let people = format!("SELECT convert_from(workspace_file('{}', 'log.md'), 'UTF8')", job.id);
    assert_eq!(value(&pool, people).await.as_deref(), Some("anew\n"));
    assert_eq!(value(&pool, "SELECT count(*) FROM file_versions").await.as_deref(), Some("7"));
}

#[sqlx::test(migrations = "../../migrations")]
async fn the_same_content_is_stored_once_and_binary_is_kept(pool: PgPool) {
    let store = store(&pool);
    let job = running(&store).await;
    let bytes: Vec<u8> = (0..=255).collect();
    let binary =
        |path: &str| Change::Product(Product::WriteFile(FileWrite { path: path.into(), content: bytes.clone() }));
    commit(&store, job.lease(), 0, &[binary("input/a.bin"), binary("input/b.bin")]).await.unwrap();
    commit(&store, job.lease(), 1, &[binary("input/c.bin")]).await.unwrap();
    assert_eq!(value(&pool, "SELECT count(*) FROM blobs").await.as_deref(), Some("1"));
    assert_eq!(store.read_file(job.id, "input/c.bin").await.unwrap(), Some(bytes));
    let sha256 = "40aff2e9d2d8922e47afd4648e6967497158785fbd1da870e7110266bf944880";
    let index = store.file_index(job.id).await.unwrap();
    assert_eq!(index.len(), 3);
    assert!(index.iter().all(|file| file.sha256.as_deref() == Some(sha256) && file.size == 256));
    let shown = value(&pool, "SELECT DISTINCT sha256 FROM workspace_files").await;
    assert_eq!(shown.as_deref(), Some(sha256));
}

#[sqlx::test(migrations = "../../migrations")]
async fn the_mirror_learns_what_changed_since_a_step(pool: PgPool) {
    let store = store(&pool);
    let job = running(&store).await;
    commit(&store, job.lease(), 0, &[write("a.md", "a"), write("b.md", "b")]).await.unwrap();
    commit(&store, job.lease(), 1, &[write("b.md", "bb")]).await.unwrap();
    commit(&store, job.lease(), 2, &[delete("a.md"), write("c.md", "c")]).await.unwrap();
    let large = "x".repeat(70_000);
    commit(&store, job.lease(), 3, &[write("d.md", &large)]).await.unwrap();
    let other = running(&store).await;
    commit(&store, other.lease(), 0, &[write("a.md", "another job's")]).await.unwrap();
    let since = store.changed_files(&[(job.id, 1), (other.id, 0)]).await.unwrap();
    let brief = |id| -> Vec<(&str, bool, Option<&[u8]>)> {
        let of_job = since.iter().filter(|file| file.job_id == id);
        of_job.map(|file| (file.path.as_str(), file.deleted, file.content.as_deref())).collect()
    };
    let expected: [(&str, bool, Option<&[u8]>); 4] =
        [("a.md", true, None), ("b.md", false, Some(b"bb")), ("c.md", false, Some(b"c")), ("d.md", false, None)];
    assert_eq!(brief(job.id), expected, "what is large is read by itself");
    assert_eq!(brief(other.id).len(), 1);
    let now: Vec<(String, i64)> =
        store.file_index(job.id).await.unwrap().into_iter().map(|row| (row.path, row.step)).collect();
    assert_eq!(now, [("b.md".into(), 2), ("c.md".into(), 3), ("d.md".into(), 4)]);
    assert!(store.changed_files(&[(job.id, 4)]).await.unwrap().is_empty());
}

#[sqlx::test(migrations = "../../migrations")]
async fn a_run_loads_the_index_and_the_memory_files(pool: PgPool) {
    let store = store(&pool);
    let job = running(&store).await;
    let changes = [
        write("workspace.md", "# Memory\n\nThe policy has 12 pages in three parts.\n"),
        write("main_plan.md", "# Plan\n\n1. Read everything first\n"),
        write("output/report.md", "# Report\n\nTODO\n"),
    ];
    commit(&store, job.lease(), 0, &changes).await.unwrap();
    let loaded = store.load(&job.lease()).await.unwrap();
    assert_eq!(loaded.memory.workspace, "# Memory\n\nThe policy has 12 pages in three parts.\n");
    assert_eq!(loaded.memory.main_plan, "# Plan\n\n1. Read everything first\n");
    assert_eq!(loaded.memory.summary, "");
    assert_eq!(loaded.files.len(), 3);
    assert!(loaded.files["output/report.md"].placeholder);
    assert!(!loaded.files["workspace.md"].placeholder);
    assert_eq!(loaded.files["workspace.md"].size, 50);
}

#[sqlx::test(migrations = "../../migrations")]
async fn jobs_do_not_see_each_others_files(pool: PgPool) {
    let store = store(&pool);
    let (one, two) = (running(&store).await, running(&store).await);
    commit(&store, one.lease(), 0, &[write("a.md", "mine")]).await.unwrap();
    commit(&store, two.lease(), 0, &[append("a.md", "yours")]).await.unwrap();
    assert_eq!(text(&store, &one, "a.md").await.as_deref(), Some("mine"));
    assert_eq!(text(&store, &two, "a.md").await.as_deref(), Some("yours"));
    let both = store.read_files(one.id, &["a.md".into(), "none.md".into()]).await.unwrap();
    assert_eq!(both.into_iter().collect::<Vec<_>>(), [("a.md".to_owned(), b"mine".to_vec())]);
}

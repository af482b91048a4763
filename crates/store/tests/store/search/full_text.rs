//! The search index over the workspace's texts.

use crate::support::{commit, running, store, value};
use plumbline_engine::{Change, FileWrite, Product};
use plumbline_store::{FoundSegment, NewSegment, Store};
use sqlx::PgPool;
use uuid::Uuid;

fn write(path: &str, text: &str) -> Change {
    Change::Product(Product::WriteFile(FileWrite::text(path, text)))
}

fn paths(paths: &[&str]) -> Vec<String> {
    paths.iter().map(|path| (*path).to_owned()).collect()
}

/// Indexes missing contents, one segment per line; returns the number of contents.
async fn index(store: &Store, job: Uuid, paths: &[String]) -> usize {
    let contents = store.unindexed(job, paths, 1 << 20).await.unwrap();
    let passages: Vec<NewSegment> = contents
        .iter()
        .flat_map(|content| {
            let text = std::str::from_utf8(&content.content).unwrap_or_default();
            text.lines().enumerate().map(|(n, line)| NewSegment {
                sha256: content.sha256.clone(),
                part: n as i32,
                first_line: n as i32 + 1,
                text: line.to_owned(),
            })
        })
        .collect();
    let keys: Vec<Vec<u8>> = contents.iter().map(|content| content.sha256.clone()).collect();
    store.index_segments(job, &keys, &passages).await.unwrap();
    contents.len()
}

fn places(found: &[FoundSegment]) -> Vec<String> {
    found.iter().map(|passage| format!("{}:{}", passage.path, passage.first_line)).collect()
}

#[sqlx::test(migrations = "../../migrations")]
async fn passages_are_ranked_by_the_words_they_have(pool: PgPool) {
    let store = store(&pool);
    let (job, other) = (running(&store).await, running(&store).await);
    let text = "Invoices are kept for ten years.\nLetters may go.\nThe retention period of an invoice is ten years.\n";
    commit(&store, job.lease(), 0, &[write("chunks/a.md", text), write("chunks/b.md", "Nobody keeps a period.\n")])
        .await
        .unwrap();
    commit(&store, other.lease(), 0, &[write("chunks/a.md", "The retention period is another job's.\n")])
        .await
        .unwrap();
    let all = paths(&["chunks/a.md", "chunks/b.md"]);
    assert_eq!(index(&store, job.id, &all).await, 2);
    assert_eq!(index(&store, other.id, &all).await, 1);
    assert_eq!(index(&store, job.id, &all).await, 0, "once is enough");
    for (query, expected) in [
        ("retention periods", vec!["chunks/a.md:3", "chunks/b.md:1"]),
        ("invoice", vec!["chunks/a.md:1", "chunks/a.md:3"]),
        ("\"ten years\" -retention", vec!["chunks/a.md:1", "chunks/a.md:3"]),
        ("nothing of this", vec![]),
        ("'& | !:* (", vec![]),
        ("", vec![]),
    ] {
        let mut found = places(&store.search_segments(job.id, query, &all, 10).await.unwrap());
        if query == "invoice" {
            found.sort();
        }
        assert_eq!(found, expected, "{query}");
    }
    let found = store.search_segments(job.id, "period", &paths(&["chunks/b.md"]), 10).await.unwrap();
    assert_eq!(places(&found), ["chunks/b.md:1"]);
    assert_eq!(found[0].text, "Nobody keeps a period.");
}

#[sqlx::test(migrations = "../../migrations")]
async fn what_was_deleted_or_overwritten_is_forgotten(pool: PgPool) {
    let store = store(&pool);
    let job = running(&store).await;
    let all = paths(&["a.md", "b.md"]);
    commit(&store, job.lease(), 0, &[write("a.md", "old words"), write("b.md", "other words")]).await.unwrap();
    index(&store, job.id, &all).await;
    let gone = Change::Product(Product::DeleteFile { path: "b.md".into() });
    commit(&store, job.lease(), 1, &[write("a.md", "new words"), gone]).await.unwrap();
    // Even before the index is updated, deleted content is not found.
    assert_eq!(store.search_segments(job.id, "words", &all, 10).await.unwrap(), []);
    assert_eq!(index(&store, job.id, &all).await, 1);
    assert_eq!(store.forget_segments(job.id).await.unwrap(), 2);
    let found = store.search_segments(job.id, "words", &all, 10).await.unwrap();
    assert_eq!(found, [FoundSegment { path: "a.md".into(), first_line: 1, text: "new words".into() }]);
    assert_eq!(value(&pool, "SELECT count(*) FROM file_segments").await.as_deref(), Some("1"));
}

#[sqlx::test(migrations = "../../migrations")]
async fn batches_are_bounded_and_bytes_that_are_no_text_are_left_alone(pool: PgPool) {
    let store = store(&pool);
    let job = running(&store).await;
    let binary = Product::WriteFile(FileWrite { path: "x.bin".into(), content: vec![0xff, 0, 0xfe] });
    let long = "word ".repeat(100);
    commit(&store, job.lease(), 0, &[write("a.md", &long), Change::Product(binary)]).await.unwrap();
    commit(&store, job.lease(), 1, &[write("b.md", &format!("{long}more"))]).await.unwrap();
    let all = paths(&["a.md", "b.md", "x.bin"]);
    let first = store.unindexed(job.id, &all, 1).await.unwrap();
    assert_eq!(first.len(), 1, "at least one, however large");
    assert_eq!(store.unindexed(job.id, &all, 1 << 20).await.unwrap().len(), 3);
    assert_eq!(index(&store, job.id, &all).await, 3);
    assert_eq!(store.unindexed(job.id, &all, 1 << 20).await.unwrap(), []);
}

#[sqlx::test(migrations = "../../migrations")]
async fn the_nearest_meaning_comes_first(pool: PgPool) {
    let store = store(&pool);
    let job = running(&store).await;
    let all = paths(&["a.md"]);
    commit(&store, job.lease(), 0, &[write("a.md", "east\nnorth\nnorth-east\nwest")]).await.unwrap();
    index(&store, job.id, &all).await;
    let missing = store.unembedded(job.id, &all, "compass", 10).await.unwrap();
    let texts: Vec<&str> = missing.iter().map(|passage| passage.text.as_str()).collect();
    assert_eq!(texts, ["east", "north", "north-east", "west"]);
    let embeddings = [vec![3.0, 0.0], vec![0.0, 0.5], vec![1.0, 1.0], vec![-1.0, 0.0]];
    store.put_embeddings(job.id, "compass", &missing, &embeddings).await.unwrap();
    assert_eq!(store.unembedded(job.id, &all, "compass", 10).await.unwrap(), []);
    assert_eq!(store.unembedded(job.id, &all, "another", 10).await.unwrap().len(), 4);
    let found = store.nearest_segments(job.id, "compass", &[0.9, 0.1], &all, 3).await.unwrap();
    let texts: Vec<&str> = found.iter().map(|passage| passage.text.as_str()).collect();
    assert_eq!(texts, ["east", "north-east", "north"]);
    assert_eq!(store.nearest_segments(job.id, "compass", &[1.0, 0.0, 0.0], &all, 3).await.unwrap(), []);
}

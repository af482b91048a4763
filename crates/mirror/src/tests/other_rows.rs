//! A folder whose id is used again by another row: its creator gets none of the folder's content.

use super::{
    super::{Applied, Marker, WriterId},
    Bench, FIRST, settle, written,
};
use std::{collections::BTreeMap, fs};

/// The same id, another row, and no file yet.
const NEXT: Marker = Marker { row: 8, epoch: 1, step: 0, done: false };

/// A folder of a row that had a document, with a file that a person has put there, long ago.
async fn of_a_row_before() -> Bench {
    let mut bench = Bench::new(&[("input/secret.md", "the merger"), ("output/a.md", "of it")]);
    bench.repair_last(Marker { row: 7, epoch: 5, ..FIRST }).await;
    fs::write(bench.path("input/put.md"), "more of it").unwrap();
    settle(&bench.path("input/put.md"));
    bench.rows.clear();
    bench
}

#[tokio::test]
async fn another_row_of_an_id_begins_with_an_empty_folder() {
    let bench = of_a_row_before().await;
    let before = bench.mirror.found(bench.job, 8, &[]).await.unwrap();
    assert!(before.files.is_empty(), "nothing is taken in before the folder is this row's");
    assert!(!bench.repair_last(NEXT).await.stale, "the epochs of another row say nothing");
    assert_eq!(bench.shown(), BTreeMap::new());
    assert!(bench.mirror.found(bench.job, 8, &[]).await.unwrap().files.is_empty());
    assert_eq!(bench.marker(), serde_json::json!({"row": 8, "epoch": 1, "step": 0}));
}

#[tokio::test]
async fn a_writer_of_the_row_before_stops() {
    let bench = of_a_row_before().await;
    bench.repair_last(NEXT).await;
    let zombie = WriterId { row: 7, epoch: 5 };
    let applied = bench.mirror.apply(bench.job, zombie, 9, vec![written("input/secret.md", "the merger")]).await;
    assert_eq!(applied, Ok(Applied::Stale));
    assert!(bench.repair_last(Marker { row: 7, epoch: 6, ..FIRST }).await.stale);
    assert_eq!(bench.shown(), BTreeMap::new());
}

#[tokio::test]
async fn what_people_put_there_for_this_row_stays() {
    let bench = Bench::new(&[]);
    bench.repair_last(NEXT).await;
    fs::write(bench.path("input/put.md"), "for this one").unwrap();
    bench.repair_last(Marker { epoch: 2, ..NEXT }).await;
    assert_eq!(bench.shown().keys().collect::<Vec<_>>(), ["input/put.md"]);
}

//! Workers that were stalled for longer than their lease, and their later writes to a folder.

use super::{
    super::{Applied, Marker, StaleFolder, WriterId, apply, folder::Folder, folder_name, repair},
    Bench, FIRST, deleted, written,
};
use std::{collections::BTreeMap, fs, time::Duration};

/// The stalled worker.
const EARLIER: WriterId = WriterId { row: 0, epoch: 1 };

#[tokio::test]
async fn a_newer_worker_stops_a_writing_that_has_begun() {
    let bench = Bench::new(&[]);
    bench.repair(1).await;
    bench.apply(1, 1, vec![written("a.md", "old")]).await.unwrap();
    let folder = || Folder::open(&bench.root.path().join("workspace"), &folder_name(bench.job)).unwrap();
    let events = vec![deleted("a.md"), written("a.md", "zombie"), written("b.md", "zombie")];
    let Ok(Ok((mut writer, seen))) = apply::begin(folder(), EARLIER, events[1..].to_vec()) else {
        panic!("it is its own")
    };
    let Ok(Ok((mut deleting, _))) = apply::begin(folder(), EARLIER, events) else { panic!("it is its own") };
    bench.repair_last(Marker { epoch: 2, ..FIRST }).await;
    fs::write(bench.path("a.md"), "new").unwrap();
    writer.write_all();
    deleting.write_all();
    assert_eq!(apply::finish(writer, &seen, EARLIER, 2), Ok(Applied::Stale));
    assert_eq!(apply::finish(deleting, &seen, EARLIER, 2), Ok(Applied::Stale));
    assert_eq!(bench.shown(), BTreeMap::from([("a.md".to_owned(), b"new".to_vec())]));
    assert_eq!(bench.temporaries(), 0);
}

/// A worker may stall between its check and its next action, and the newer one may have finished by then.
#[tokio::test]
async fn a_stalled_worker_does_not_harm_a_folder_that_a_newer_one_has_finished() {
    let bench = Bench::new(&[("a.md", "new")]);
    let folder = || Folder::open(&bench.root.path().join("workspace"), &folder_name(bench.job)).unwrap();
    bench.repair(1).await;
    let Ok(Ok((mut writer, seen))) = apply::begin(folder(), EARLIER, vec![written("a.md", "zombie")]) else {
        panic!("it is its own")
    };
    let Ok(Ok((mut deleting, _))) = apply::begin(folder(), EARLIER, vec![deleted("b.md")]) else {
        panic!("it is its own")
    };
    writer.write_all();
    deleting.write_all();
    bench.finish(2).await;
    assert_eq!(bench.mirror.stale(Duration::ZERO).await, []);
    let mut plan = repair::Plan::default();
    assert_eq!(repair::remove(&folder(), EARLIER, vec!["a.md".into()], &mut plan), Ok(false));
    assert_eq!((plan.removed.len(), bench.shown()["a.md"].as_slice()), (0, b"new".as_slice()));
    // Its rename at that moment may be the last write: the folder is compared again.
    let again = StaleFolder { job: bench.job, row: 0, epoch: 2, step: 1 };
    for writer in [writer, deleting] {
        assert_eq!(apply::finish(writer, &seen, EARLIER, 2), Ok(Applied::Stale));
        assert_eq!(bench.mirror.stale(Duration::ZERO).await, [again]);
        bench.finish(2).await;
    }
}

mod other_rows;
mod zombies;

use super::{Applied, FileEvent, Finds, IndexEntry, Marker, Mirror, Repaired, WriterId, export};
use sha2::{Digest, Sha256};
use std::{
    collections::BTreeMap,
    convert::Infallible,
    fs,
    os::unix::fs::symlink,
    path::Path,
    time::{Duration, SystemTime},
};
use tempfile::TempDir;
use uuid::Uuid;

/// The files of a job's first writer.
const FIRST: Marker = Marker { row: 0, epoch: 1, step: 1, done: false };

/// A workspace folder, a job in it, and the rows of its files.
struct Bench {
    root: TempDir,
    mirror: Mirror,
    job: Uuid,
    rows: BTreeMap<String, Vec<u8>>,
}

impl Bench {
    fn new(rows: &[(&str, &str)]) -> Self {
        let root = tempfile::tempdir().unwrap();
        let mirror = Mirror::new(root.path().join("workspace"));
        let rows = rows.iter().map(|(path, text)| ((*path).to_owned(), text.as_bytes().to_vec())).collect();
        Self { root, mirror, job: Uuid::from_u128(7), rows }
    }

    fn path(&self, path: &str) -> std::path::PathBuf {
        self.mirror.path(self.job).join(path)
    }

    fn index(&self) -> Vec<IndexEntry> {
        let entry = |(path, content): (&String, &Vec<u8>)| IndexEntry {
            path: path.clone(),
            sha256: hex::encode(Sha256::digest(content)),
            size: content.len() as u64,
        };
        self.rows.iter().map(entry).collect()
    }

    async fn apply(&self, epoch: i64, step: i64, events: Vec<FileEvent>) -> Result<Applied, super::MirrorTrouble> {
        self.mirror.apply(self.job, WriterId { row: 0, epoch }, step, events).await
    }

    async fn repair(&self, epoch: i64) -> Repaired {
        self.repair_last(Marker { row: 0, epoch, step: 1, done: false }).await
    }

    /// As a writer does that has nothing more to show.
    async fn finish(&self, epoch: i64) -> Repaired {
        self.repair_last(Marker { row: 0, epoch, step: 1, done: true }).await
    }

    async fn repair_last(&self, last: Marker) -> Repaired {
        let read = |path: String| async move { Ok::<_, Infallible>(self.rows.get(&path).cloned()) };
        self.mirror.repair(self.job, last, &self.index(), read).await.unwrap()
    }

    /// Every file of the job's folder, the mirror's own aside, with its text.
    fn shown(&self) -> BTreeMap<String, Vec<u8>> {
        let mut files = BTreeMap::new();
        collect(&self.path(""), &self.path(""), &mut files);
        files
    }

    fn marker(&self) -> serde_json::Value {
        serde_json::from_slice(&fs::read(self.path(".plumbline/mirror.json")).unwrap()).unwrap()
    }

    fn temporaries(&self) -> usize {
        fs::read_dir(self.path(".plumbline/tmp")).unwrap().count()
    }
}

fn collect(root: &Path, folder: &Path, files: &mut BTreeMap<String, Vec<u8>>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
        if path.is_dir() && name != ".plumbline" {
            collect(root, &path, files);
        } else if path.is_file() {
            files.insert(name, fs::read(&path).unwrap());
        }
    }
}

fn written(path: &str, text: &str) -> FileEvent {
    FileEvent::Written { path: path.into(), content: text.into() }
}

fn deleted(path: &str) -> FileEvent {
    FileEvent::Deleted { path: path.into() }
}

/// Makes a file look unmodified for a minute.
fn settle(path: &Path) {
    let file = fs::File::options().write(true).open(path).unwrap();
    file.set_modified(SystemTime::now() - Duration::from_secs(60)).unwrap();
}

#[tokio::test]
async fn steps_are_shown_in_place_and_leave_nothing_unfinished() {
    let bench = Bench::new(&[]);
    bench.repair(1).await;
    let first = vec![written("a.md", "one"), written("output/deep/b.md", "two"), deleted("never/was.md")];
    assert_eq!(bench.apply(1, 1, first).await, Ok(Applied::Written));
    assert_eq!(
        bench.apply(1, 2, vec![written("a.md", "three"), deleted("output/deep/b.md")]).await,
        Ok(Applied::Written)
    );
    assert_eq!(bench.shown(), BTreeMap::from([("a.md".to_owned(), b"three".to_vec())]));
    assert_eq!(bench.temporaries(), 0);
    assert_eq!(bench.marker(), serde_json::json!({"row": 0, "epoch": 1, "step": 1}), "it was written a moment ago");
    settle(&bench.path(".plumbline/mirror.json"));
    bench.apply(1, 3, vec![written("a.md", "four")]).await.unwrap();
    assert_eq!(bench.marker(), serde_json::json!({"row": 0, "epoch": 1, "step": 3}));
}

#[tokio::test]
async fn a_reader_never_sees_half_a_file() {
    let bench = Bench::new(&[]);
    bench.repair(1).await;
    bench.apply(1, 1, vec![written("a.md", &"x".repeat(100_000))]).await.unwrap();
    // An open reader keeps the old file: it is replaced, not overwritten.
    let mut open = fs::File::open(bench.path("a.md")).unwrap();
    bench.apply(1, 2, vec![written("a.md", "short")]).await.unwrap();
    let mut old = String::new();
    std::io::Read::read_to_string(&mut open, &mut old).unwrap();
    assert_eq!(old.len(), 100_000);
}

#[tokio::test]
async fn names_that_lead_elsewhere_are_refused_and_the_rest_is_shown() {
    let bench = Bench::new(&[]);
    bench.repair(1).await;
    for name in ["../escaped.md", "/tmp/plumbline-escaped.md", "a/../../escaped.md", ".plumbline/mirror.json", ""] {
        let trouble =
            bench.apply(1, 1, vec![written(name, "x"), written("good.md", "y"), deleted(name)]).await.unwrap_err();
        assert!(trouble.to_string().contains("and 1 more"), "{name}: {trouble}");
    }
    assert_eq!(bench.shown().keys().collect::<Vec<_>>(), ["good.md"]);
    assert!(!bench.root.path().join("workspace/escaped.md").exists());
    assert_eq!(bench.temporaries(), 0);
}

#[tokio::test]
async fn a_link_that_somebody_plants_is_replaced_and_not_followed() {
    let bench = Bench::new(&[]);
    bench.repair(1).await;
    bench.apply(1, 1, vec![written("output/a.md", "one"), written("b.md", "one")]).await.unwrap();
    let outside = bench.root.path().join("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("target"), "mine").unwrap();
    fs::remove_dir_all(bench.path("output")).unwrap();
    symlink(&outside, bench.path("output")).unwrap();
    fs::remove_file(bench.path("b.md")).unwrap();
    symlink(outside.join("target"), bench.path("b.md")).unwrap();
    bench.apply(1, 2, vec![written("output/a.md", "two"), written("b.md", "two")]).await.unwrap();
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 1);
    assert_eq!(fs::read_to_string(outside.join("target")).unwrap(), "mine");
    assert_eq!(
        bench.shown(),
        BTreeMap::from([("b.md".into(), b"two".to_vec()), ("output/a.md".into(), b"two".to_vec())])
    );
}

#[tokio::test]
async fn a_worker_that_lost_the_job_writes_nothing() {
    let mut bench = Bench::new(&[("a.md", "new")]);
    bench.repair(1).await;
    bench.apply(1, 5, vec![written("a.md", "old")]).await.unwrap();
    bench.repair(2).await;
    assert_eq!(bench.apply(1, 6, vec![written("a.md", "zombie"), deleted("a.md")]).await, Ok(Applied::Stale));
    bench.rows.insert("b.md".into(), b"zombie".to_vec());
    assert_eq!(bench.repair(1).await, Repaired { stale: true, ..Repaired::default() });
    assert_eq!(bench.shown(), BTreeMap::from([("a.md".to_owned(), b"new".to_vec())]));
}

#[tokio::test]
async fn a_folder_that_was_deleted_comes_back_from_the_rows() {
    let bench = Bench::new(&[("a.md", "one"), ("output/b.md", "two"), ("empty.md", "")]);
    assert_eq!(bench.repair(1).await.written, ["a.md", "empty.md", "output/b.md"]);
    fs::remove_dir_all(bench.path("")).unwrap();
    let wiped = bench.apply(1, 2, vec![written("a.md", "one")]).await;
    assert_eq!(wiped, Ok(Applied::Wiped), "one step alone would not make it whole");
    bench.repair(1).await;
    assert_eq!(bench.shown(), bench.rows);
    assert_eq!(bench.repair(1).await, Repaired::default(), "a second repair finds nothing to do");
}

#[tokio::test]
async fn external_changes_are_repaired() {
    let bench = Bench::new(&[("a.md", "one"), ("output/b.md", "two"), ("c", "three"), ("d/e", "four")]);
    bench.repair(1).await;
    fs::write(bench.path("a.md"), "eno").unwrap();
    fs::remove_file(bench.path("output/b.md")).unwrap();
    fs::write(bench.path("output/stray.md"), "?").unwrap();
    symlink("/etc/passwd", bench.path("link")).unwrap();
    fs::remove_file(bench.path("c")).unwrap();
    fs::create_dir(bench.path("c")).unwrap();
    fs::write(bench.path("c/inner"), "?").unwrap();
    fs::remove_dir_all(bench.path("d")).unwrap();
    fs::write(bench.path("d"), "a file where a folder was").unwrap();
    fs::write(bench.path(".plumbline/tmp/left-by-a-crash"), "half").unwrap();
    let repaired = bench.repair(1).await;
    assert_eq!(repaired.removed, ["c/inner", "d", "link", "output/stray.md"]);
    assert_eq!(repaired.written, ["a.md", "c", "d/e", "output/b.md"]);
    assert_eq!(bench.shown(), bench.rows);
    assert_eq!(bench.temporaries(), 0);
}

#[tokio::test]
async fn a_file_that_a_person_puts_into_input_is_handed_over_and_stays() {
    let bench = Bench::new(&[("input/policy.pdf", "%PDF")]);
    bench.repair(1).await;
    fs::create_dir(bench.path("input/more")).unwrap();
    for path in ["input/annex.txt", "input/more/b.txt", "input/.part", "input/copying.txt"] {
        fs::write(bench.path(path), "by a person").unwrap();
        settle(&bench.path(path));
    }
    fs::write(bench.path("input/copying.txt"), "half").unwrap();
    fs::write(bench.path("input/policy.pdf"), "changed").unwrap();
    let looked = bench.mirror.found(bench.job, 0, &bench.index()).await.unwrap().files;
    let repaired = bench.repair(1).await;
    let names: Vec<&str> = looked.iter().map(|found| found.path.as_str()).collect();
    assert_eq!(names, ["input/annex.txt", "input/more/b.txt"]);
    assert_eq!(looked[0].bytes, b"by a person");
    assert!(bench.path("input/annex.txt").exists() && bench.path("input/copying.txt").exists());
    assert_eq!(repaired.written, ["input/policy.pdf"], "a document of the job is the rows' again");
}

#[tokio::test]
async fn a_link_in_input_is_not_taken_in_whatever_its_kind() {
    let bench = Bench::new(&[("input/policy.pdf", "%PDF")]);
    bench.repair(1).await;
    let outside = bench.path("../secret.txt");
    fs::write(&outside, "of somebody else").unwrap();
    settle(&outside);
    fs::hard_link(&outside, bench.path("input/hard.txt")).unwrap();
    symlink(&outside, bench.path("input/soft.txt")).unwrap();
    let looked = bench.mirror.found(bench.job, 0, &bench.index()).await.unwrap();
    assert_eq!(looked, Finds { files: Vec::new(), linked: vec!["input/hard.txt".into()] });
    fs::remove_file(&outside).unwrap();
    let looked = bench.mirror.found(bench.job, 0, &bench.index()).await.unwrap();
    assert_eq!((looked.files.len(), looked.linked.len()), (1, 0), "the only name of a file is none of a link");
}

#[tokio::test]
async fn one_look_takes_a_bounded_number_of_files_and_none_that_is_too_large() {
    let bench = Bench::new(&[]);
    bench.repair(1).await;
    let deep = (0..60).fold("input/deep".to_owned(), |path, _| path + "/d");
    fs::create_dir_all(bench.path(&deep)).unwrap();
    // A sparse file of two gigabytes.
    fs::File::create(bench.path("input/0-large.bin")).unwrap().set_len(2 << 30).unwrap();
    settle(&bench.path("input/0-large.bin"));
    for number in 0..150 {
        let path = bench.path(&format!("input/{number:03}.txt"));
        fs::write(&path, "by a person").unwrap();
        settle(&path);
    }
    let mut index = bench.index();
    for expected in [100, 50, 0] {
        let found = bench.mirror.found(bench.job, 0, &index).await.unwrap().files;
        assert_eq!(found.len(), expected, "after {} were taken in", index.len());
        index.extend(found.into_iter().map(|file| IndexEntry { path: file.path, sha256: String::new(), size: 11 }));
    }
    assert!(index.iter().all(|entry| entry.path != "input/0-large.bin"));
}

#[tokio::test]
async fn a_volume_that_cannot_be_written_is_trouble_and_no_panic() {
    let root = tempfile::tempdir().unwrap();
    let blocked = root.path().join("workspace");
    fs::write(&blocked, "a file where the workspace folder should be").unwrap();
    let mirror = Mirror::new(blocked.join("deeper"));
    let job = Uuid::from_u128(7);
    let trouble = mirror.apply(job, WriterId { row: 0, epoch: 1 }, 1, vec![written("a.md", "x")]).await.unwrap_err();
    assert!(trouble.to_string().contains("could not open its folder"), "{trouble}");
    let read = |_: String| async { Ok::<_, Infallible>(None) };
    assert!(mirror.repair(job, FIRST, &[], read).await.is_err());
    assert!(mirror.found(job, 0, &[]).await.is_err());
}

#[tokio::test]
async fn content_that_cannot_be_loaded_is_trouble_and_the_rest_is_written() {
    let bench = Bench::new(&[("a.md", "one"), ("b.md", "two")]);
    let read =
        |path: String| async move { if path == "a.md" { Err("connection lost") } else { Ok(Some(b"two".to_vec())) } };
    let trouble = bench.mirror.repair(bench.job, FIRST, &bench.index(), read).await.unwrap_err();
    assert!(trouble.to_string().contains("`a.md` could not be loaded (connection lost)"), "{trouble}");
    assert_eq!(bench.shown().keys().collect::<Vec<_>>(), ["b.md"]);
}

#[tokio::test]
async fn an_export_is_a_plain_folder_and_never_overwrites() {
    let root = tempfile::tempdir().unwrap();
    let dir = root.path().join("out");
    let files = || vec![("a.md".to_owned(), b"one".to_vec()), ("output/b.md".to_owned(), b"two".to_vec())];
    assert_eq!(export(&dir, files()).await.unwrap(), 2);
    let mut shown = BTreeMap::new();
    collect(&dir, &dir, &mut shown);
    assert_eq!(shown, files().into_iter().collect());
    assert!(!dir.join(".plumbline").exists());
    let refused = export(&dir, files()).await.unwrap_err().to_string();
    assert!(refused.contains("is not empty"), "{refused}");
    let escaping = vec![("../x".to_owned(), Vec::new())];
    assert!(export(&root.path().join("other"), escaping).await.is_err());
    assert!(!root.path().join("x").exists());
}

#[tokio::test]
async fn a_folder_is_unfinished_until_its_writer_says_so() {
    let mut bench = Bench::new(&[]);
    bench.repair(2).await;
    settle(&bench.path(".plumbline/mirror.json"));
    bench.apply(2, 5, vec![written("a.md", "one")]).await.unwrap();
    bench.rows.insert("a.md".into(), b"one".to_vec());
    let stale = [super::StaleFolder { job: bench.job, row: 0, epoch: 2, step: 5 }];
    assert_eq!(bench.mirror.stale(Duration::ZERO).await, stale);
    assert!(bench.mirror.stale(Duration::from_secs(60)).await.is_empty(), "its writer may still be at it");
    assert!(bench.finish(1).await.stale);
    assert_eq!(bench.mirror.stale(Duration::ZERO).await, stale, "an older writer has no say");
    bench.finish(2).await;
    assert!(bench.mirror.stale(Duration::ZERO).await.is_empty());
    bench.apply(3, 6, vec![written("a.md", "two")]).await.unwrap();
    assert_eq!(bench.mirror.stale(Duration::ZERO).await.len(), 1, "a new writer begins anew");
    fs::remove_file(bench.path("a.md")).unwrap();
    assert_eq!(bench.finish(3).await.written, ["a.md"]);
    assert!(bench.mirror.stale(Duration::ZERO).await.is_empty(), "also one that had something to put right");
}

#[tokio::test]
async fn a_folder_without_its_marker_is_unfinished_and_anybodys_to_repair() {
    let bench = Bench::new(&[("a.md", "one")]);
    bench.repair(2).await;
    bench.finish(2).await;
    fs::remove_dir_all(bench.path("")).unwrap();
    fs::create_dir_all(bench.path("output")).unwrap();
    let stale = [super::StaleFolder { job: bench.job, row: 0, epoch: 0, step: 0 }];
    assert_eq!(bench.mirror.stale(Duration::ZERO).await, stale);
    assert!(bench.mirror.stale(Duration::from_secs(60)).await.is_empty(), "its writer may still be at it");
    bench.finish(0).await;
    assert_eq!(bench.shown(), bench.rows);
    assert!(bench.mirror.stale(Duration::ZERO).await.is_empty());
}

#[tokio::test]
async fn the_documentation_of_tools_is_on_the_disk_once_and_no_change_of_it_spreads() {
    let bench = Bench::new(&[]);
    let path = |job: u128, path: &str| bench.mirror.path(Uuid::from_u128(job)).join(path);
    let show = async |job: u128, text: &str| {
        let job = Uuid::from_u128(job);
        let none = |_: String| async { Ok::<_, Infallible>(None) };
        bench.mirror.repair(job, FIRST, &[], none).await.unwrap();
        let events = vec![written("tools/cite.md", text), written("output/cite.md", text)];
        bench.mirror.apply(job, WriterId { row: 0, epoch: 1 }, 2, events).await.unwrap();
    };
    show(1, "how to cite").await;
    show(2, "how to cite").await;
    let inode = |job: u128, name: &str| std::os::unix::fs::MetadataExt::ino(&fs::metadata(path(job, name)).unwrap());
    assert_eq!(inode(1, "tools/cite.md"), inode(2, "tools/cite.md"));
    assert_ne!(inode(1, "output/cite.md"), inode(2, "output/cite.md"), "a job's own files are its own");

    show(3, "how to cite better").await;
    assert_eq!(fs::read_to_string(path(1, "tools/cite.md")).unwrap(), "how to cite");
    assert_eq!(fs::read_to_string(path(3, "tools/cite.md")).unwrap(), "how to cite better");

    // A person removes the protection and changes the file in place.
    let mut permissions = fs::metadata(path(3, "tools/cite.md")).unwrap().permissions();
    assert!(permissions.readonly());
    std::os::unix::fs::PermissionsExt::set_mode(&mut permissions, 0o644);
    fs::set_permissions(path(3, "tools/cite.md"), permissions).unwrap();
    fs::write(path(3, "tools/cite.md"), "changed").unwrap();
    show(4, "how to cite better").await;
    assert_eq!(fs::read_to_string(path(4, "tools/cite.md")).unwrap(), "how to cite better");
}

#[tokio::test]
async fn jobs_that_are_shown_together_keep_their_own_release_of_the_documentation() {
    let bench = Bench::new(&[]);
    let job = |n: u128| Uuid::from_u128(n);
    for n in 1..=20 {
        let none = |_: String| async { Ok::<_, Infallible>(None) };
        bench.mirror.repair(job(n), FIRST, &[], none).await.unwrap();
    }
    let text = |n: u128| if n.is_multiple_of(2) { "how to cite" } else { "how to cite better" };
    let shows = (1..=20)
        .map(|n| bench.mirror.apply(job(n), WriterId { row: 0, epoch: 1 }, 2, vec![written("tools/cite.md", text(n))]));
    for shown in futures_util::future::join_all(shows).await {
        assert_eq!(shown, Ok(Applied::Written));
    }
    for n in 1..=20 {
        assert_eq!(fs::read_to_string(bench.mirror.path(job(n)).join("tools/cite.md")).unwrap(), text(n));
    }
}

#[tokio::test]
async fn documentation_with_the_maximum_number_of_hard_links_is_copied_again() {
    let bench = Bench::new(&[]);
    let show = async |job: u128| {
        let (job, none) = (Uuid::from_u128(job), |_: String| async { Ok::<_, Infallible>(None) });
        bench.mirror.repair(job, FIRST, &[], none).await.unwrap();
        bench
            .mirror
            .apply(job, WriterId { row: 0, epoch: 1 }, 2, vec![written("tools/cite.md", "how to cite")])
            .await
            .unwrap();
        fs::read_to_string(bench.mirror.path(job).join("tools/cite.md")).unwrap()
    };
    assert_eq!(show(1).await, "how to cite");
    let mut copies = fs::read_dir(bench.root.path().join("workspace/.plumbline/shared")).unwrap();
    let copy = copies.next().unwrap().unwrap().path();
    assert!(copies.next().is_none(), "there is one copy");
    let names = bench.root.path().join("names");
    fs::create_dir(&names).unwrap();
    // Some file systems have no bound within reach.
    let linked = |n: &u32| fs::hard_link(&copy, names.join(n.to_string()));
    let refused = (0..70_000).map(|n| linked(&n)).find_map(Result::err);
    assert!(refused.is_none_or(|error| error.kind() == std::io::ErrorKind::TooManyLinks));
    assert_eq!(show(2).await, "how to cite");
}

#[tokio::test]
async fn a_folder_may_replace_a_file_and_a_file_a_folder() {
    let bench = Bench::new(&[]);
    bench.repair(1).await;
    bench.apply(1, 1, vec![written("a", "file"), written("b/c", "within")]).await.unwrap();
    let turned = vec![written("a/c", "within"), deleted("a"), written("b", "file"), deleted("b/c")];
    assert_eq!(bench.apply(1, 2, turned).await, Ok(Applied::Written));
    assert_eq!(bench.shown(), BTreeMap::from([("a/c".into(), b"within".to_vec()), ("b".into(), b"file".to_vec())]));
}

#[tokio::test]
async fn more_files_than_are_written_at_once_are_all_shown() {
    let bench = Bench::new(&[]);
    bench.repair(1).await;
    let name = |number: usize| format!("output/{}/{number}.md", number % 3);
    bench.apply(1, 1, (0..100).map(|number| written(&name(number), &number.to_string())).collect()).await.unwrap();
    let expected: BTreeMap<_, _> = (0..100).map(|number| (name(number), number.to_string().into_bytes())).collect();
    assert_eq!(bench.shown(), expected);
    assert_eq!(bench.temporaries(), 0);
}

#[tokio::test]
async fn jobs_that_are_shown_together_do_not_disturb_each_other() {
    let bench = Bench::new(&[]);
    let jobs: Vec<Uuid> = (0..100).map(Uuid::from_u128).collect();
    for job in &jobs[3..] {
        let none = |_: String| async { Ok::<_, Infallible>(None) };
        bench.mirror.repair(*job, FIRST, &[], none).await.unwrap();
    }
    // A folder that cannot be one, one that was taken away, a later worker's, one with a bad name among its files.
    fs::write(bench.mirror.path(jobs[0]), "a file").unwrap();
    let locked = bench.mirror.path(jobs[0]);
    let later = Marker { epoch: 2, ..FIRST };
    bench.mirror.repair(jobs[2], later, &[], |_| async { Ok::<_, Infallible>(None) }).await.unwrap();
    let mut all = tokio::task::JoinSet::new();
    for (place, job) in jobs.iter().copied().enumerate() {
        let mirror = bench.mirror.clone();
        let mut events = vec![written("output/a.md", &place.to_string())];
        events.extend((place == 3).then(|| written("../a.md", "x")));
        all.spawn(async move { (place, mirror.apply(job, WriterId { row: 0, epoch: 1 }, 1, events).await) });
    }
    while let Some(done) = all.join_next().await {
        let (place, shown) = done.unwrap();
        match place {
            0 | 1 => assert_eq!(shown, Ok(Applied::Wiped), "{place}"),
            2 => assert_eq!(shown, Ok(Applied::Stale)),
            3 => assert!(shown.unwrap_err().to_string().contains("`../a.md`")),
            _ => assert_eq!(shown, Ok(Applied::Written), "{place}"),
        }
    }
    assert!(locked.is_dir(), "a file in the place of a folder has gone");
    for (place, job) in jobs.iter().enumerate().skip(3) {
        let shown = fs::read_to_string(bench.mirror.path(*job).join("output/a.md")).unwrap();
        assert_eq!(shown, place.to_string());
    }
}

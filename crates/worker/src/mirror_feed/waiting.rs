//! What waits to be shown of one job: the newest state of each file, however many steps it has changed in meanwhile.
//!
//! Contents wait in memory while all jobs together have room for it; what is more is read back from the rows when its
//! turn comes.

use crate::mirror::{FileEvent, Finds, IndexEntry, Mirror};
use plumbline_engine::{Change, Product};
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Instant,
};
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore, oneshot};

/// Memory for what waits, of all jobs of a worker.
const ROOM: usize = 32 << 20;
/// What it is given out in.
const UNIT: usize = 1 << 10;
/// What a file is taken for whose size is not known, and most bytes that are read back at once.
const READ_AT_ONCE: usize = 1 << 20;

/// Memory for contents; cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Room(Arc<Semaphore>);

impl Default for Room {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(ROOM / UNIT)))
    }
}

impl Room {
    fn at_once(&self, bytes: usize) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.0).try_acquire_many_owned(units(bytes)).ok()
    }

    /// Waits for room to read back what takes `bytes`; must not be asked by one who has room already.
    pub(super) async fn to_read(&self, bytes: usize) -> OwnedSemaphorePermit {
        let asked = Arc::clone(&self.0).acquire_many_owned(units(bytes)).await;
        asked.expect("nobody closes it")
    }
}

/// As many as there are at most, so that a file larger than all the room has its turn too.
fn units(bytes: usize) -> u32 {
    u32::try_from(bytes.div_ceil(UNIT).clamp(1, ROOM / UNIT)).expect("all the room is a small number")
}

/// A file as it is to be shown.
enum Newest {
    /// With this content, for which there is room.
    Here(Vec<u8>, OwnedSemaphorePermit),
    /// With this content, which others hold too.
    Shared(Arc<[u8]>),
    /// As the rows have it, about so many bytes.
    InRows(usize),
    Deleted,
}

/// What to look for under `input/`: which files are none of these.
pub(super) struct Wanted {
    pub(super) known: Vec<IndexEntry>,
    pub(super) answer: oneshot::Sender<Finds>,
}

/// Committed steps that are not shown.
pub(super) struct Steps {
    /// The last one.
    pub(super) number: i64,
    /// The parts of the job that they belong to, for the fail-points.
    pub(super) parts: Vec<&'static str>,
    /// When the first of them was committed.
    pub(super) since: Instant,
    /// Contents that were put aside became files'. There may be many: a repair reads them back one at a time.
    pub(super) placed: bool,
    files: BTreeMap<String, Newest>,
}

/// Steps in the order in which they are shown.
pub(super) struct Split {
    pub(super) events: Vec<FileEvent>,
    /// The room that the events take.
    pub(super) held: Vec<OwnedSemaphorePermit>,
    /// Paths that are read back at once, and about how many bytes they have.
    pub(super) parts: Vec<(Vec<String>, usize)>,
}

/// What is to be done, in this order.
#[derive(Default)]
pub(super) struct Batch {
    pub(super) steps: Option<Steps>,
    pub(super) look: Option<Wanted>,
}

#[derive(Default)]
struct State {
    batch: Batch,
    /// No more comes.
    closed: bool,
    /// The job's row was there when it left.
    there: bool,
    /// Nobody takes it any more.
    left: bool,
}

/// The place between a job and the writer of its folder.
struct Waiting {
    room: Room,
    state: Mutex<State>,
    /// Something waits, or no more comes.
    some: Notify,
    /// Somebody waits for it.
    hurry: Notify,
}

/// The job's end.
pub(super) struct Giver(Arc<Waiting>);

/// The writer's end.
pub(super) struct Taker(Arc<Waiting>);

pub(super) fn channel(room: &Room) -> (Giver, Taker) {
    let waiting =
        Arc::new(Waiting { room: room.clone(), state: Mutex::default(), some: Notify::new(), hurry: Notify::new() });
    (Giver(Arc::clone(&waiting)), Taker(waiting))
}

impl Giver {
    /// Adds what a committed step changed.
    pub(super) fn step(&self, number: i64, part: &'static str, changes: Vec<Change>) {
        let mut state = self.0.state();
        let mut files = changes.into_iter().filter_map(product).peekable();
        if state.left || files.peek().is_none() {
            return;
        }
        let steps = state.batch.steps.get_or_insert_with(|| Steps::new(number));
        steps.number = steps.number.max(number);
        steps.parts.push(part);
        files.for_each(|product| steps.add(product, &self.0.room));
        drop(state);
        self.0.some.notify_one();
    }

    /// Asks for a look; whether anybody will.
    pub(super) fn look(&self, wanted: Wanted) -> bool {
        let mut state = self.0.state();
        if state.left {
            return false;
        }
        state.batch.look = Some(wanted);
        drop(state);
        self.0.wake();
        true
    }

    /// No more comes, and the job's row has just been written.
    pub(super) fn close_there(&self) {
        self.0.state().there = true;
        self.close();
    }

    /// No more comes.
    pub(super) fn close(&self) {
        self.0.state().closed = true;
        self.0.wake();
    }
}

impl Drop for Giver {
    fn drop(&mut self) {
        self.close();
    }
}

impl Taker {
    /// What is to be done next, once its time has come or somebody waits for it; `None` when no more comes.
    pub(super) async fn next(&self, mirror: &Mirror) -> Option<Batch> {
        loop {
            let (some, hurries) = {
                let state = self.0.state();
                (state.batch.steps.is_some() || state.batch.look.is_some(), state.closed || state.batch.look.is_some())
            };
            if some {
                if !hurries {
                    tokio::select! {
                        () = tokio::time::sleep(mirror.until_next()) => {}
                        () = self.0.hurry.notified() => {}
                    }
                }
                return Some(std::mem::take(&mut self.0.state().batch));
            }
            if hurries {
                return None;
            }
            self.0.some.notified().await;
        }
    }

    /// Whether the job's row was there when it left: if not, it may have been deleted.
    pub(super) fn left_a_row(&self) -> bool {
        self.0.state().there
    }
}

impl Drop for Taker {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.left = true;
        state.batch = Batch::default();
    }
}

impl Waiting {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wake(&self) {
        self.some.notify_one();
        self.hurry.notify_one();
    }
}

impl Steps {
    fn new(number: i64) -> Self {
        Self { number, parts: Vec::new(), since: Instant::now(), placed: false, files: BTreeMap::new() }
    }

    fn add(&mut self, product: Product, room: &Room) {
        let (path, newest) = match product {
            Product::ShareFiles(shared) => {
                let files = shared.files.iter();
                self.files.extend(files.map(|file| (file.path.clone(), Newest::Shared(Arc::clone(&file.content)))));
                return;
            }
            Product::WriteFile(file) => {
                let size = file.content.len();
                let newest = room.at_once(size).map_or(Newest::InRows(size), |held| Newest::Here(file.content, held));
                (file.path, newest)
            }
            Product::DeleteFile { path } => (path, Newest::Deleted),
            Product::AppendFile { path, .. } => (path, Newest::InRows(READ_AT_ONCE)),
            _ => {
                self.placed = true;
                return;
            }
        };
        self.files.insert(path, newest);
    }

    pub(super) fn n_files(&self) -> usize {
        self.files.len()
    }

    /// The paths where the job has something.
    pub(super) fn paths(&self) -> impl Iterator<Item = &str> {
        self.files.iter().filter(|(_, newest)| !matches!(newest, Newest::Deleted)).map(|(path, _)| path.as_str())
    }

    /// What can be shown as it is, and what is to be read back.
    pub(super) fn split(self) -> Split {
        let mut split = Split { events: Vec::new(), held: Vec::new(), parts: Vec::new() };
        for (path, newest) in self.files {
            match newest {
                Newest::Here(content, room) => {
                    split.events.push(FileEvent::Written { path, content });
                    split.held.push(room);
                }
                Newest::Shared(content) => split.events.push(FileEvent::Shared { path, content }),
                Newest::Deleted => split.events.push(FileEvent::Deleted { path }),
                Newest::InRows(size) => {
                    match split.parts.last_mut().filter(|(_, bytes)| bytes + size <= READ_AT_ONCE) {
                        Some((paths, bytes)) => {
                            paths.push(path);
                            *bytes += size;
                        }
                        None => split.parts.push((vec![path], size)),
                    }
                }
            }
        }
        split
    }
}

/// What a change does to files, if anything.
fn product(change: Change) -> Option<Product> {
    let Change::Product(product) = change else { return None };
    match product {
        Product::WriteFile(_)
        | Product::DeleteFile { .. }
        | Product::PlaceFile(_)
        | Product::ShareFiles(_)
        | Product::AppendFile { .. } => Some(product),
        Product::AddSource(_) | Product::AddCitation(_) | Product::AddRequirement(_) | Product::JudgeRequirement(_) => {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Batch, READ_AT_ONCE, Room, Split, Steps, Taker, UNIT, Wanted, channel};
    use crate::mirror::{FileEvent, Mirror};
    use plumbline_engine::{Change, FileWrite, Product};
    use std::sync::Arc;
    use tokio::sync::{Semaphore, oneshot};

    fn write(path: &str, text: &str) -> Change {
        Change::Product(Product::WriteFile(FileWrite::text(path, text)))
    }

    fn delete(path: &str) -> Change {
        Change::Product(Product::DeleteFile { path: path.into() })
    }

    fn written(path: &str, text: &str) -> FileEvent {
        FileEvent::Written { path: path.into(), content: text.into() }
    }

    async fn steps(taker: &Taker) -> Steps {
        taker.next(&Mirror::new("/nowhere")).await.and_then(|batch| batch.steps).expect("steps wait")
    }

    #[tokio::test]
    async fn only_the_newest_state_of_each_file_is_shown() {
        let (giver, taker) = channel(&Room::default());
        giver.step(3, "tactical", vec![write("a.md", "one"), write("b.md", "one"), write("c.md", "one")]);
        giver.step(4, "tactical", vec![write("a.md", "two"), delete("b.md")]);
        giver.step(5, "tactical", Vec::new());
        let steps = steps(&taker).await;
        assert_eq!((steps.number, steps.parts.len()), (4, 2), "a step without files is none of the folder's");
        assert_eq!(steps.paths().collect::<Vec<_>>(), ["a.md", "c.md"]);
        let Split { events, parts, .. } = steps.split();
        assert_eq!(
            events,
            [written("a.md", "two"), FileEvent::Deleted { path: "b.md".into() }, written("c.md", "one")]
        );
        assert!(parts.is_empty());
    }

    #[tokio::test]
    async fn what_has_no_room_is_read_back_in_parts_and_room_comes_back() {
        let room = Room(Arc::new(Semaphore::new(2)));
        let (giver, taker) = channel(&room);
        let large = "x".repeat(READ_AT_ONCE / 2);
        let appended = Change::Product(Product::AppendFile { path: "z.md".into(), text: "more".into() });
        let changes = ["a", "b", "c"].map(|path| write(path, &large)).into_iter();
        let small = [write("d", "fits"), write("e", &"x".repeat(UNIT)), write("f", "does not"), appended];
        giver.step(1, "tactical", changes.chain(small).collect());
        let Split { events, held, parts } = steps(&taker).await.split();
        assert_eq!(events, [written("d", "fits"), written("e", &"x".repeat(UNIT))]);
        let paths: Vec<Vec<String>> = parts.iter().map(|(paths, _)| paths.clone()).collect();
        assert_eq!(paths, [vec!["a", "b"], vec!["c", "f"], vec!["z.md"]]);
        assert!(room.at_once(1).is_none());
        drop((events, held));
        assert!(room.at_once(UNIT + 1).is_some());
        drop(Room::default().to_read(usize::MAX).await);
    }

    #[tokio::test]
    async fn what_waits_is_handed_over_when_no_more_comes() {
        let (giver, taker) = channel(&Room::default());
        giver.step(1, "tactical", vec![write("a.md", "one")]);
        drop(giver);
        assert_eq!(steps(&taker).await.number, 1);
        assert!(taker.next(&Mirror::new("/nowhere")).await.is_none());
    }

    #[tokio::test]
    async fn a_look_comes_with_the_steps_before_it() {
        let (giver, taker) = channel(&Room::default());
        giver.step(1, "tactical", vec![write("a.md", "one")]);
        assert!(giver.look(Wanted { known: Vec::new(), answer: oneshot::channel().0 }));
        let batch = taker.next(&Mirror::new("/nowhere")).await;
        assert!(matches!(batch, Some(Batch { steps: Some(_), look: Some(_) })));
    }

    #[tokio::test]
    async fn nothing_waits_for_a_writer_that_has_left() {
        let (giver, taker) = channel(&Room(Arc::new(Semaphore::new(1))));
        let (answer, found) = oneshot::channel();
        assert!(giver.look(Wanted { known: Vec::new(), answer }));
        giver.step(1, "tactical", vec![write("a.md", "one")]);
        drop(taker);
        assert!(found.await.is_err(), "who asked is not kept waiting");
        giver.step(2, "tactical", vec![write("b.md", "two")]);
        assert!(!giver.look(Wanted { known: Vec::new(), answer: oneshot::channel().0 }));
        assert!(giver.0.room.at_once(1).is_some());
    }
}

//! Pending work of one job's mirror: its last committed step, and a requested scan of `input/`.

use crate::{Finds, IndexEntry, Mirror};
use parking_lot::Mutex;
use std::{sync::Arc, time::Instant};
use tokio::sync::{Notify, oneshot};

/// A requested scan of `input/`: files that are not among these.
pub(crate) struct Wanted {
    pub(crate) known: Vec<IndexEntry>,
    pub(crate) answer: oneshot::Sender<Finds>,
}

/// Committed steps with file changes that are not applied.
pub(crate) struct Steps {
    /// The last one.
    pub(crate) number: i64,
    /// Their parts of the job, for the fail-points.
    pub(crate) parts: Vec<&'static str>,
    /// When the first of them was committed.
    pub(crate) since: Instant,
}

/// Pending work, in this order.
#[derive(Default)]
pub(crate) struct Batch {
    pub(crate) steps: Option<Steps>,
    pub(crate) look: Option<Wanted>,
}

#[derive(Default)]
struct State {
    batch: Batch,
    /// No more comes.
    closed: bool,
    /// The job's row existed when it left.
    there: bool,
    /// There is no receiver any more.
    left: bool,
}

/// The channel between a job and the writer of its folder.
#[derive(Default)]
struct Pending {
    state: Mutex<State>,
    /// Something is pending, or the job has left.
    some: Notify,
    /// A caller waits for it.
    hurry: Notify,
}

/// The job's end.
pub(crate) struct Sender(Arc<Pending>);

/// The writer's end.
pub(crate) struct Receiver(Arc<Pending>);

pub(crate) fn channel() -> (Sender, Receiver) {
    let pending = Arc::<Pending>::default();
    (Sender(Arc::clone(&pending)), Receiver(pending))
}

impl Sender {
    /// A committed step has changed files.
    pub(crate) fn step(&self, number: i64, part: &'static str) {
        let mut state = self.0.state.lock();
        if state.left {
            return;
        }
        let new = || Steps { number, parts: Vec::new(), since: Instant::now() };
        let steps = state.batch.steps.get_or_insert_with(new);
        steps.number = steps.number.max(number);
        steps.parts.push(part);
        drop(state);
        self.0.some.notify_one();
    }

    /// Requests a scan; returns whether there is a receiver.
    pub(crate) fn look(&self, wanted: Wanted) -> bool {
        let mut state = self.0.state.lock();
        if state.left {
            return false;
        }
        state.batch.look = Some(wanted);
        drop(state);
        self.0.wake();
        true
    }

    /// The job leaves, and its row has just been written.
    pub(crate) fn close_there(&self) {
        self.0.state.lock().there = true;
        self.close();
    }

    /// No more comes.
    pub(crate) fn close(&self) {
        self.0.state.lock().closed = true;
        self.0.wake();
    }
}

impl Drop for Sender {
    fn drop(&mut self) {
        self.close();
    }
}

impl Receiver {
    /// The next work, at its interval or when a caller waits for it; `None` if the job has left.
    pub(crate) async fn next(&self, mirror: &Mirror) -> Option<Batch> {
        loop {
            let (some, hurries) = {
                let state = self.0.state.lock();
                (state.batch.steps.is_some() || state.batch.look.is_some(), state.closed || state.batch.look.is_some())
            };
            if some {
                if !hurries {
                    tokio::select! {
                        () = tokio::time::sleep(mirror.until_next()) => {}
                        () = self.0.hurry.notified() => {}
                    }
                }
                return Some(std::mem::take(&mut self.0.state.lock().batch));
            }
            if hurries {
                return None;
            }
            self.0.some.notified().await;
        }
    }

    /// Whether the job's row existed when it left: if not, it may have been deleted.
    pub(crate) fn left_a_row(&self) -> bool {
        self.0.state.lock().there
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        let mut state = self.0.state.lock();
        state.left = true;
        state.batch = Batch::default();
    }
}

impl Pending {
    fn wake(&self) {
        self.some.notify_one();
        self.hurry.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::{Batch, Wanted, channel};
    use crate::Mirror;
    use tokio::sync::oneshot;

    fn wanted() -> Wanted {
        Wanted { known: Vec::new(), answer: oneshot::channel().0 }
    }

    #[tokio::test]
    async fn what_waits_is_handed_over_together_and_also_when_no_more_comes() {
        let (sender, receiver) = channel();
        sender.step(3, "tactical");
        sender.step(4, "tactical");
        drop(sender);
        let steps = receiver.next(&Mirror::new("/nowhere")).await.and_then(|batch| batch.steps).expect("steps wait");
        assert_eq!((steps.number, steps.parts.len()), (4, 2));
        assert!(receiver.next(&Mirror::new("/nowhere")).await.is_none());
    }

    #[tokio::test]
    async fn a_look_comes_with_the_steps_before_it() {
        let (sender, receiver) = channel();
        sender.step(1, "tactical");
        assert!(sender.look(wanted()));
        let batch = receiver.next(&Mirror::new("/nowhere")).await;
        assert!(matches!(batch, Some(Batch { steps: Some(_), look: Some(_) })));
    }

    #[tokio::test]
    async fn nothing_waits_for_a_writer_that_has_left() {
        let (sender, receiver) = channel();
        let (answer, found) = oneshot::channel();
        assert!(sender.look(Wanted { known: Vec::new(), answer }));
        drop(receiver);
        assert!(found.await.is_err(), "who asked is not kept waiting");
        assert!(!sender.look(wanted()));
    }
}

//! The queue of steps of all jobs. Pending steps are written together, so that a busy disk has fewer flushes per file;
//! see [`super::apply`].

use super::{
    Applied, FileEvent, MirrorTrouble, apply,
    folder::{Folder, open_root},
    folder_name,
    marker::WriterId,
};
use std::{
    collections::VecDeque,
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};
use tokio::sync::oneshot;
use uuid::Uuid;

/// Jobs whose steps are written together.
const TOGETHER: usize = 16;
/// Maximum writing threads, if one cannot keep up.
const THREADS: usize = 4;

/// The changes of one job.
#[derive(Debug)]
pub(crate) struct Order {
    pub(crate) job: Uuid,
    pub(crate) writer: WriterId,
    pub(crate) step: i64,
    pub(crate) events: Vec<FileEvent>,
    pub(crate) answer: oneshot::Sender<Result<Applied, MirrorTrouble>>,
}

/// The queue and its threads.
#[derive(Debug, Default)]
pub(crate) struct Queue(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    waiting: VecDeque<Order>,
    threads: usize,
}

impl Queue {
    /// Adds an order; it is answered when done.
    pub(crate) fn push(self: &Arc<Self>, root: &Arc<PathBuf>, order: Order) {
        let starts = {
            let mut state = self.state();
            state.waiting.push_back(order);
            let starts = state.threads < THREADS && state.waiting.len() > state.threads * TOGETHER;
            state.threads += usize::from(starts);
            starts
        };
        if starts {
            let (queue, root) = (Arc::clone(self), Arc::clone(root));
            plumbline_bounds::blocking::unbounded(move || queue.work(&root));
        }
    }

    fn work(&self, root: &Path) {
        while let Some(orders) = self.take() {
            // A panic is logged by the panic hook; waiters of these orders see a closed channel.
            let _ = catch_unwind(AssertUnwindSafe(|| carry_out(root, orders)));
        }
    }

    /// The next orders; `None` ends the thread.
    fn take(&self) -> Option<Vec<Order>> {
        let mut state = self.state();
        if state.waiting.is_empty() {
            state.threads -= 1;
            return None;
        }
        let count = state.waiting.len().min(TOGETHER);
        Some(state.waiting.drain(..count).collect())
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn carry_out(root: &Path, orders: Vec<Order>) {
    let opened = open_root(root);
    let (mut writers, mut begun) = (Vec::new(), Vec::new());
    for order in orders {
        let name = folder_name(order.job);
        let folder = match &opened {
            Ok(opened) => Folder::within(opened, &name).map_err(|error| trouble(root, &name, &error)),
            Err(error) => Err(trouble(root, &name, error)),
        };
        match folder.and_then(|folder| apply::begin(folder, order.writer, order.events)) {
            Ok(Ok((writer, seen))) => {
                writers.push(writer);
                begun.push((seen, order.writer, order.step, order.answer));
            }
            Ok(Err(left)) => tell(order.answer, Ok(left)),
            Err(trouble) => tell(order.answer, Err(trouble)),
        }
    }
    apply::show(&mut writers);
    for (written, (seen, writer, step, answer)) in writers.into_iter().zip(begun) {
        tell(answer, apply::finish(written, &seen, writer, step));
    }
}

fn trouble(root: &Path, name: &str, error: &std::io::Error) -> MirrorTrouble {
    MirrorTrouble::at("open its folder", &root.join(name).display().to_string(), error)
}

fn tell(answer: oneshot::Sender<Result<Applied, MirrorTrouble>>, result: Result<Applied, MirrorTrouble>) {
    // There is no waiter if the job is gone.
    let _ = answer.send(result);
}

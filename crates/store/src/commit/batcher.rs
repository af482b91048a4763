//! Group commit: steps that arrive while others are being written share a transaction.
//!
//! A statement has a fixed cost for server and worker, and a commit waits for the disk. So a step that arrives while no
//! batch is in flight is a batch of one, and is written at once; steps that arrive meanwhile form the next batch. The
//! busier the worker, the more steps share one commit.
//!
//! A batch is as safe as single commits. Each step has its own fence, and a failed fence does not affect the others. A
//! step that its batch did not write is written in a batch of one outside the queue, which waits for locks, so its
//! result is the same as without the others: a step that must wait for a lock delays no other, and one that the server
//! rejects fails no other.

use super::{
    Committed,
    batch::{self, Failure, Locks, PreparedStep},
};
use crate::{Store, error::During};
use parking_lot::Mutex;
use std::{collections::VecDeque, sync::Arc, time::Duration};
use tokio::{runtime::Handle, sync::oneshot, time::timeout};

/// Maximum steps in one batch. More gain nothing, and all of them wait until the last is written.
const MAX_STEPS: usize = 64;
/// Bytes in one batch beyond which no other step joins.
const MAX_BYTES: usize = 1 << 20;
/// Longest queueing delay. A batch starts after it even if one is in flight, which may be blocked on a user's lock.
const MAX_DELAY: Duration = Duration::from_millis(50);
/// This many steps do not wait for the batch in flight: their batch executes while that one waits for the disk. With 16
/// concurrent jobs this writes a third more steps than one batch at a time (two processors, a disk that flushes in 0.3
/// ms).
const EARLY_START: usize = 8;
/// Maximum batches in flight, not counting overdue ones.
const MAX_IN_FLIGHT: usize = 2;
/// A batch without an answer within this time is given up: its connection is dead, and holds a place in the pool. The
/// same as the worker's call timeout.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(30);

/// The batches in flight, and the waiting ones.
#[derive(Debug, Default)]
pub(crate) struct CommitBatcher {
    queue: Mutex<Queue>,
}

#[derive(Debug, Default)]
struct Queue {
    /// The number of the latest batch.
    numbered: u64,
    in_flight: Vec<u64>,
    waiting: VecDeque<CommitBatch>,
}

/// Steps that share a transaction, and their waiters.
#[derive(Debug)]
struct CommitBatch {
    number: u64,
    steps: Vec<Arc<PreparedStep>>,
    replies: Vec<oneshot::Sender<Reply>>,
    /// Their approximate size.
    bytes: usize,
}

/// The result of a step in its batch. No reply at all: unknown.
#[derive(Debug)]
pub(super) enum Reply {
    Written(Committed),
    /// It is not in the database, possibly because of another step or a lock: write it alone.
    NotWritten,
    /// A batch of one failed, with this error.
    Failed(Failure),
}

/// A batch's slot among those in flight. Dropping it passes the slot to the next batch.
struct Slot {
    store: Store,
    number: u64,
}

impl Drop for Slot {
    fn drop(&mut self) {
        let next = self.store.batcher.queue.lock().leave(self.number);
        self.store.start(next);
    }
}

impl Store {
    /// Adds a step to a batch, which a separate task writes: it must not be cancelled with the call of one of its
    /// steps.
    pub(super) fn admit(&self, step: Arc<PreparedStep>) -> oneshot::Receiver<Reply> {
        let mut queue = self.batcher.queue.lock();
        let (reply, opened) = queue.add(step);
        let ready = queue.ready();
        drop(queue);
        if ready.is_none()
            && let Some(number) = opened
        {
            self.start_overdue(number);
        }
        self.start(ready);
        reply
    }

    /// Makes sure that a batch is written, whatever happens to those in flight.
    fn start_overdue(&self, number: u64) {
        let store = self.clone();
        tokio::spawn(async move {
            tokio::time::sleep(MAX_DELAY).await;
            let overdue = store.batcher.queue.lock().overtake(number);
            store.start(overdue);
        });
    }

    fn start(&self, batch: Option<CommitBatch>) {
        let Some(batch) = batch else { return };
        let slot = Slot { store: self.clone(), number: batch.number };
        // No runtime: shutting down, waiters are dropped.
        if let Ok(runtime) = Handle::try_current() {
            runtime.spawn(async move { batch.write(&slot.store).await });
        }
    }
}

impl Queue {
    /// Adds a step to the last waiting batch, or to a new one, whose number is returned.
    fn add(&mut self, step: Arc<PreparedStep>) -> (oneshot::Receiver<Reply>, Option<u64>) {
        let (reply, receiver) = oneshot::channel();
        if let Some(last) = self.waiting.back_mut().filter(|last| !last.is_full()) {
            last.add(step, reply);
            return (receiver, None);
        }
        self.numbered += 1;
        let mut opened = CommitBatch { number: self.numbered, steps: Vec::new(), replies: Vec::new(), bytes: 0 };
        opened.add(step, reply);
        self.waiting.push_back(opened);
        (receiver, Some(self.numbered))
    }

    /// The longest-waiting batch, if it may start: none is in flight, or it has enough steps to start beside one.
    fn ready(&mut self) -> Option<CommitBatch> {
        let first = self.waiting.front()?;
        let may_start = match self.in_flight.len() {
            0 => true,
            others => others < MAX_IN_FLIGHT && first.steps.len() >= EARLY_START,
        };
        if may_start { self.take(0) } else { None }
    }

    /// The batch after this one. An overtaken batch has no slot to pass on.
    fn leave(&mut self, number: u64) -> Option<CommitBatch> {
        let place = self.in_flight.iter().position(|other| *other == number)?;
        self.in_flight.swap_remove(place);
        self.ready()
    }

    /// The batch with this number, if it still waits: it takes the slot of those in flight, which may never finish.
    fn overtake(&mut self, number: u64) -> Option<CommitBatch> {
        let place = self.waiting.iter().position(|batch| batch.number == number)?;
        self.in_flight.clear();
        self.take(place)
    }

    fn take(&mut self, place: usize) -> Option<CommitBatch> {
        let batch = self.waiting.remove(place)?;
        self.in_flight.push(batch.number);
        Some(batch)
    }
}

impl CommitBatch {
    fn is_full(&self) -> bool {
        self.steps.len() >= MAX_STEPS || self.bytes >= MAX_BYTES
    }

    fn add(&mut self, step: Arc<PreparedStep>, reply: oneshot::Sender<Reply>) {
        self.bytes += step.size();
        self.steps.push(step);
        self.replies.push(reply);
    }

    /// Writes all steps and replies to each waiter. A waiter without a reply must re-read the row: the answer was lost.
    async fn write(self, store: &Store) {
        let steps: Vec<&PreparedStep> = self.steps.iter().map(|step| &**step).collect();
        let written = store.write(&steps, Locks::Skip).await;
        let mut replies: Vec<_> = self.replies.into_iter().map(Some).collect();
        // A waiter that timed out re-reads the row.
        let mut reply =
            |place: usize, reply| drop(replies.get_mut(place).and_then(Option::take).map(|to| to.send(reply)));
        match written {
            Ok(written) => written.into_iter().for_each(|step| reply(step.place, Reply::Written(step.committed))),
            Err(failure) if failure.is_lock_timeout() => {}
            Err(failure) if steps.len() == 1 => reply(0, Reply::Failed(failure)),
            Err(failure) if failure.in_doubt => return,
            Err(_) => {}
        }
        (0..steps.len()).for_each(|place| reply(place, Reply::NotWritten));
    }
}

impl Store {
    /// Writes steps on a connection from the pool.
    pub(super) async fn write(&self, steps: &[&PreparedStep], locks: Locks) -> Result<Vec<batch::Written>, Failure> {
        let mut connection = self.pool.acquire().await.during("begin a step")?;
        if locks == Locks::Wait {
            // The caller may give up, and leave a transaction open that the driver does not know of.
            connection.close_on_drop();
        }
        let written = timeout(ANSWER_TIMEOUT, batch::write(&mut connection, steps, locks)).await;
        written.unwrap_or_else(|_| {
            connection.close_on_drop();
            Err(Failure::unanswered(ANSWER_TIMEOUT))
        })
    }
}

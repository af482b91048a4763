//! Steps that share a statement.
//!
//! A statement costs the server and the worker the same whatever it writes, and a commit waits for the disk. So steps of
//! different jobs that come while others are being written wait for each other and are written together, by `steps.sql`:
//! one round trip, one commit, one flush. Where jobs leave with theirs it is a transaction of a few round trips; one that
//! enqueues another job as it leaves is written alone. The busier the worker, the more share one; a step that comes alone
//! is written at once, by itself, and waits for nobody.
//!
//! Together they are as safe as alone. Each has a fence of its own, and one that does not hold leaves the others as they
//! are. What the statement did not write, for whatever reason, its job writes alone, and gets the answer that it would
//! have got without the others: one that must wait for a lock keeps nobody waiting, and one that the server refuses fails
//! nobody else.

mod rows;

use super::{Commit, Committed, batch::Batch, is_refusal, workspace::Versions};
use crate::Store;
use rows::{Placed, Step};
use std::{
    collections::VecDeque,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};
use tokio::{runtime::Handle, sync::oneshot};

/// Steps in one statement. More gain nothing, and all of them wait until the last is written.
const MOST_STEPS: usize = 64;
/// Bytes in one statement, beyond which no other step joins.
const MOST_BYTES: usize = 1 << 20;
/// Whoever has waited so long waits no longer: the step under way may itself be waiting, for a lock that a user holds.
const PATIENCE: Duration = Duration::from_millis(50);

/// So many steps wait no longer for the statement under way: theirs is executed while that one waits for the disk. With 16
/// jobs at once a third more steps are written than by one statement at a time, and with 500 each is written in two thirds
/// of the time, for a tenth more of the server's (two processors, a disk that flushes in 0.3 ms).
const ENOUGH: usize = 8;
/// Statements under way at once.
const MOST_TURNS: usize = 2;

/// Whose turn it is, and what waits for the next. One statement is under way at a time unless many wait, so that most
/// steps share.
#[derive(Debug, Default)]
pub(crate) struct Group {
    turns: Mutex<Turns>,
}

#[derive(Debug, Default)]
struct Turns {
    /// Turns and places in the queue that there have been.
    given: u64,
    under_way: Vec<u64>,
    waiting: VecDeque<Together>,
}

/// How a step is to be written.
pub(super) enum Entered {
    /// By itself, now; the turn ends when this is dropped.
    Alone(Turn),
    /// With others, by somebody else.
    Together(oneshot::Receiver<Answer>),
}

/// What became of a step among others.
#[derive(Debug)]
pub(super) enum Answer {
    Written(Committed),
    /// It is not in the database: it may be written alone.
    NotWritten,
}

/// A statement under way. When it ends, those that wait have theirs.
pub(super) struct Turn {
    store: Store,
    number: u64,
}

impl Drop for Turn {
    fn drop(&mut self) {
        let next = self.store.group.turns().after(self.number);
        if let Some(together) = next {
            self.store.write_together(together);
        }
    }
}

impl Group {
    fn turns(&self) -> MutexGuard<'_, Turns> {
        self.turns.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Store {
    /// A turn for the step, or a place among those that wait for one.
    pub(super) fn enter(&self, commit: &Commit<'_>, batch: &Batch<'_>, files: &Versions<'_>) -> Entered {
        let alone = |number| Entered::Alone(Turn { store: self.clone(), number });
        if let Some(number) = self.group.turns().begin() {
            return alone(number);
        }
        let step = Step::of(commit, batch, files);
        let mut turns = self.group.turns();
        // The turn may have ended meanwhile, and then nobody would come for those who wait.
        if let Some(number) = turns.begin() {
            drop(turns);
            return alone(number);
        }
        let (answer, opened) = turns.wait(step);
        let enough = turns.begin_beside();
        drop(turns);
        if let Some(number) = opened {
            self.wait_no_longer_than_is_right(number);
        }
        if let Some(together) = enough {
            self.write_together(together);
        }
        Entered::Together(answer)
    }

    /// Sees to it that steps which wait for a turn are written, whatever becomes of the one under way.
    fn wait_no_longer_than_is_right(&self, number: u64) {
        let store = self.clone();
        tokio::spawn(async move {
            tokio::time::sleep(PATIENCE).await;
            let overdue = store.group.turns().take_over(number);
            if let Some(together) = overdue {
                store.write_together(together);
            }
        });
    }

    /// Writes steps by a task of their own, because none of them may be given up with the call of another.
    fn write_together(&self, together: Together) {
        let turn = Turn { store: self.clone(), number: together.number };
        // Without a runtime the process is ending, and whoever waits with it.
        if let Ok(runtime) = Handle::try_current() {
            runtime.spawn(async move { together.write(&turn.store).await });
        }
    }
}

impl Turns {
    fn number(&mut self) -> u64 {
        self.given += 1;
        self.given
    }

    /// A turn, if it is nobody's.
    fn begin(&mut self) -> Option<u64> {
        if !self.under_way.is_empty() {
            return None;
        }
        let number = self.number();
        self.under_way.push(number);
        Some(number)
    }

    /// A turn beside the one under way for those who have waited longest, if they are enough.
    fn begin_beside(&mut self) -> Option<Together> {
        let enough = self.waiting.front().is_some_and(|first| first.steps.len() >= ENOUGH);
        if !enough || self.under_way.len() >= MOST_TURNS { None } else { self.next() }
    }

    fn next(&mut self) -> Option<Together> {
        let next = self.waiting.pop_front()?;
        self.under_way.push(next.number);
        Some(next)
    }

    /// A place among those that wait; with the number of the turn that will be theirs, if the step is their first.
    fn wait(&mut self, step: Step) -> (oneshot::Receiver<Answer>, Option<u64>) {
        let (answer, receiver) = oneshot::channel();
        if let Some(last) = self.waiting.back_mut().filter(|last| !last.is_full()) {
            last.add(step, answer);
            return (receiver, None);
        }
        let number = self.number();
        let mut opened = Together { number, ..Together::default() };
        opened.add(step, answer);
        self.waiting.push_back(opened);
        (receiver, Some(number))
    }

    /// The turn after this one is for those who have waited longest. One that lost its place is followed by none.
    fn after(&mut self, number: u64) -> Option<Together> {
        let place = self.under_way.iter().position(|turn| *turn == number)?;
        self.under_way.swap_remove(place);
        if self.under_way.is_empty() { self.next() } else { self.begin_beside() }
    }

    /// Gives those with this number the turn, if they still wait, whoever has it.
    fn take_over(&mut self, number: u64) -> Option<Together> {
        let place = self.waiting.iter().position(|together| together.number == number)?;
        self.under_way = vec![number];
        self.waiting.remove(place)
    }
}

/// Steps that will share a statement, and who wants to know.
#[derive(Debug, Default)]
struct Together {
    /// Of the turn that will be theirs.
    number: u64,
    steps: Vec<Step>,
    answers: Vec<oneshot::Sender<Answer>>,
    /// About how much they are.
    bytes: usize,
}

impl Together {
    fn is_full(&self) -> bool {
        self.steps.len() >= MOST_STEPS || self.bytes >= MOST_BYTES
    }

    fn add(&mut self, step: Step, answer: oneshot::Sender<Answer>) {
        self.bytes += step.bytes();
        self.steps.push(step);
        self.answers.push(answer);
    }

    /// Writes them all, and tells each what became of it. Who is told nothing must find out: the answer was lost.
    async fn write(self, store: &Store) {
        let Self { steps, answers, .. } = self;
        let mut answers: Vec<_> = answers.into_iter().map(Some).collect();
        let Ok(mut connection) = store.step_connection().await else { return tell_unwritten(answers) };
        match rows::write(&mut connection, &steps).await {
            Ok(written) => {
                connection.keep();
                for Placed { place, step, feedback_pending } in written {
                    if let Some(answer) = usize::try_from(place).ok().and_then(|place| answers.get_mut(place)?.take()) {
                        // Whoever has stopped waiting asks the row.
                        let _ = answer.send(Answer::Written(Committed { step, feedback_pending }));
                    }
                }
                tell_unwritten(answers);
            }
            Err(error) if is_refusal(&error) => tell_unwritten(answers),
            Err(_) => {}
        }
    }
}

fn tell_unwritten(answers: Vec<Option<oneshot::Sender<Answer>>>) {
    for answer in answers.into_iter().flatten() {
        let _ = answer.send(Answer::NotWritten);
    }
}

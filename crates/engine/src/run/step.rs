//! The step being decided.

use crate::Change;

/// The step after the last committed one, and the changes of the outcome that is being applied.
#[derive(Debug)]
pub(crate) struct Step {
    number: i64,
    changes: Vec<Change>,
}

impl Step {
    /// A step without changes.
    pub(crate) fn new(number: i64) -> Self {
        Self { number, changes: Vec::new() }
    }

    /// Its number.
    pub(crate) fn number(&self) -> i64 {
        self.number
    }

    /// How many changes it has so far.
    pub(crate) fn len(&self) -> usize {
        self.changes.len()
    }

    pub(crate) fn push(&mut self, change: Change) {
        self.changes.push(change);
    }

    /// The changes, which the caller writes.
    pub(crate) fn take(&mut self) -> Vec<Change> {
        std::mem::take(&mut self.changes)
    }

    /// The last step is committed: later changes belong to the next.
    pub(crate) fn committed(&mut self, last: i64) {
        self.number = last + 1;
    }
}

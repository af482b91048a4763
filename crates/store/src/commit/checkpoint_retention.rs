//! Which checkpoints keep their state.
//!
//! Resuming a job needs only its last checkpoint; the others serve forks. A job keeps at least the states of its latest
//! [`WINDOW`] steps, of every [`SPARSE`]th step before, and of the first step of each phase (handled by the statement).
//! Every [`SPARSE`]th step of a long job deletes the states that have left the window since the last time, so no job
//! needs a clean-up and steps cost the same at any age. The rows are kept: steps have no gaps.

use std::ops::Range;

/// The number of latest steps that can all be forked; an ordinary job has fewer.
const WINDOW: i64 = 1000;

/// The interval of the steps that can always be forked.
const SPARSE: i64 = 50;

/// The range of steps whose states are deleted when `step` is committed, except kept ones; none in most steps.
pub(super) fn pruned_at(step: i64) -> Option<Range<i64>> {
    let last = step - WINDOW;
    (last > 0 && last % SPARSE == 0).then_some(last - SPARSE..last)
}

#[cfg(test)]
mod tests {
    use super::{SPARSE, WINDOW, pruned_at};

    #[test]
    fn a_window_of_states_and_every_fiftieth_before_it_stay() {
        assert_eq!(pruned_at(WINDOW), None);
        assert_eq!(pruned_at(WINDOW + SPARSE), Some(0..SPARSE));
        assert_eq!(pruned_at(WINDOW + SPARSE + 1), None);
        let gone = |step: i64| (1..=5000).filter_map(pruned_at).any(|old| step > old.start && step < old.end);
        assert_eq!((1..=5000).filter(|step| !gone(*step)).count(), 1000 + 4000 / 50);
    }
}

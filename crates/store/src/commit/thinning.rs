//! Which checkpoints keep their state.
//!
//! Going on needs the last one only; the others serve forks. A job keeps the states of its latest [`WINDOW`] steps, of
//! every [`SPARSE`]th step before, and of the steps with which a phase began (the statement sees to those). Each step
//! gives up the one state that leaves the window, so no job needs a clean-up and a step costs the same at any age. The
//! rows stay: steps are gap-free.

/// Latest steps that all can be forked at; an ordinary job has fewer.
const WINDOW: i64 = 1000;

/// Distance of the steps that can be forked at for ever.
const SPARSE: i64 = 50;

/// The step whose state is given up when `step` is committed; none in most of a job's life.
pub(super) fn given_up_at(step: i64) -> Option<i64> {
    let leaving = step - WINDOW;
    (leaving > 0 && leaving % SPARSE != 0).then_some(leaving)
}

#[cfg(test)]
mod tests {
    use super::{SPARSE, WINDOW, given_up_at};

    #[test]
    fn one_state_leaves_with_each_step_and_every_fiftieth_stays() {
        assert_eq!(given_up_at(WINDOW), None);
        assert_eq!(given_up_at(WINDOW + 1), Some(1));
        assert_eq!(given_up_at(WINDOW + SPARSE), None);
        let kept = (1..=5000).filter(|step| !(1..=5000).filter_map(given_up_at).any(|gone| gone == *step)).count();
        assert_eq!(kept, 1000 + 4000 / 50);
    }
}

//! Whole jobs with the rehearsal model, and its HTTP side.
//!
//! [`fake_engine`] is a small test double of the engine with files and phases in memory, so these tests check the
//! model's effect on a job, not its decisions.

#![expect(clippy::unwrap_used, reason = "a test fails where an invariant of its own does not hold")]

mod fake_engine;
mod http;
mod summary;
mod whole_job;

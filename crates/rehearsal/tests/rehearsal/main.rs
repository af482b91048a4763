//! Whole jobs with the rehearsal model, and its HTTP side.
//!
//! The engine's part is played by [`fake_engine`]: a small double that keeps files and phases in memory and follows the
//! rules of INTERFACE.md, so that what is tested here is what the model does to a job, not how it decides.

#![expect(clippy::unwrap_used, reason = "a test fails where an invariant of its own does not hold")]

mod fake_engine;
mod http;
mod summary;
mod whole_job;

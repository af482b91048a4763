//! Code shared by the benchmark program and the micro-benchmarks: generated prose, and a job in progress.
//!
//! The program itself (`make bench`) is in `main.rs` and measures the released `plumbline` from outside, as a separate
//! process; the micro-benchmarks (`cargo bench -p plumbline-bench`) call the crates.

pub mod dialogue;
pub mod prose;
pub mod turn;

/// The lease of workers that claim and send no heartbeat, in seconds.
pub const ENDLESS_LEASE_SECS: u32 = u32::MAX;

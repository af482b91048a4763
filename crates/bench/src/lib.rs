//! Code shared by the benchmark program and the micro-benchmarks: generated prose, and a job in progress.
//!
//! The program itself (`make bench`) is in `main.rs` and measures the released `plumbline` from outside, as a separate
//! process; the micro-benchmarks (`cargo bench -p plumbline-bench`) call the crates.

pub mod dialogue;
pub mod prose;
pub mod turn;

//! What the benchmark program and the micro-benchmarks share: prose to write, and a job in the middle of its work.
//!
//! The program itself (`make bench`) is in `main.rs` and measures the released `plumbline` from outside, as a separate
//! process; the micro-benchmarks (`cargo bench -p plumbline-bench`) call the crates.

pub mod dialogue;
pub mod prose;
pub mod turn;

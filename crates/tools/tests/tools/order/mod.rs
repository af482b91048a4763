//! The calls of one answer produce the same files, rows and results as the same calls made one per answer, wherever the
//! job is interrupted between them. The real engine and the real tools, on rows in memory; the system tests cover the
//! binary and a real Postgres.
//!
//! - [`calls`]: the random calls.
//! - [`job`]: a job driven like a worker does, and its interruptions.
//! - [`rows`]: the tools' view of it.
//! - [`property`]: the comparison.
//!
//! Excluded are the gates, whose rules apply to an answer (the engine's tests compare them with a model),
//! `search_tools`, whose tools are bound from the next turn on, and tools that use rows or services of others: the web,
//! the graph, the validation queue.

mod calls;
mod job;
mod property;
mod rows;

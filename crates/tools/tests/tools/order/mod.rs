//! The calls of one answer leave the same files, rows and results as the same calls made one an answer, wherever the job is
//! interrupted between them. The real engine and the real tools, on rows in memory; the binary and a real Postgres are those of
//! the system tests.
//!
//! - [`calls`]: the calls that are drawn.
//! - [`job`]: a job that is driven as the worker drives it, and its interruptions.
//! - [`rows`]: what tools see of it.
//! - [`property`]: the comparison.
//!
//! Left out are the gates, whose rules are those of an answer (the engine's tests hold them against a model), `search_tools`,
//! whose tools are bound from the next turn on, and tools whose rows or services are another's: the web, the graph, the queue of
//! validation.

mod calls;
mod job;
mod property;
mod rows;

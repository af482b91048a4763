//! The outside world except Postgres: the model's wire format, the tools, documents.
//!
//! The engine decides and this crate acts. An effect comes in as borrowed data ([`plumbline_engine::ModelRequest`],
//! [`plumbline_engine::ToolCall`]), an outcome goes out as plain data ([`plumbline_engine::Reply`],
//! [`plumbline_engine::Failure`], [`plumbline_engine::ToolReturn`]). Three rules hold everywhere:
//!
//! - **Nothing here retries.** Failures are classified and handed back; the engine owns the one retry layer.
//! - **Nothing here writes.** A tool reads through [`tools::Workspace`] and returns what it produced; the step's
//!   commit writes it.
//! - **Everything here ends.** Each call out has its time limits, each answer its size limit, and a panic in a tool is
//!   that tool's error.

pub mod candidates;
pub mod chunking;
pub mod deliverables;
pub mod documents;
pub mod evaluation;
pub mod graph;
pub mod marked;
pub mod model;
pub mod passages;
pub mod quotes;
pub mod search;
pub mod similarity;
pub mod tls;
pub mod tokens;
pub mod tools;
pub mod versions;
pub mod web;
pub mod yaml;

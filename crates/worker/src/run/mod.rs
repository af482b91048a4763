//! One claimed job, from its claim to its exit.
//!
//! ```text
//! job ──intake──▶ step: next → perform (effects) → apply → commit ──▶ exit (on_complete)
//!                   ▲
//!                   └── cancellation · input_watcher
//! ```
//!
//! `store_workspace`, `store_validation` and `text_index` give the tools of a step access to the rows.

mod abandoned;
pub(crate) mod cancellation;
pub(crate) mod document_budget;
mod effects;
mod error;
mod input_watcher;
pub(crate) mod intake;
pub(crate) mod job;
mod judged_job;
mod limit_hint;
pub(crate) mod on_complete;
mod previous_job;
mod step;
mod step_limits;
mod store_validation;
mod store_workspace;
pub(crate) mod text_index;

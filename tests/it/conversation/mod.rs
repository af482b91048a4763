//! Requests to the model, its protocols, and the handling of answers and failures.

mod closed_todos;
mod design;
pub(crate) mod promises;
mod protocols;
mod provider;
mod replay;
mod shared_limits;

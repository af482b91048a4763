//! What the model is asked, in which protocol, and what becomes of its answers and failures.

mod closed_todos;
pub(crate) mod promises;
mod protocols;
mod provider;
mod replay;
mod shared_limits;

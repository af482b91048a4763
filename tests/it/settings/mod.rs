//! Who may set what, and what a job type of an operator's own does with it.

mod broken_types;
mod levels;
mod owed_files;
pub(crate) mod own_types;
mod raised_limits;
mod row_models;

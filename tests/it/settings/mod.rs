//! Levels of keys, and an operator's own job types.

mod broken_types;
mod levels;
mod owed_files;
pub(crate) mod own_types;
mod raised_limits;
mod row_models;

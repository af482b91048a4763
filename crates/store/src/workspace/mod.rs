//! A job's files: rows that name blobs.

pub(crate) mod files;
pub(crate) mod shared_files;

pub use files::{ChangedFile, FileRow, facts};

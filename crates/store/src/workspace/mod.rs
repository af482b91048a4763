//! A job's files: rows that name blobs.

pub(crate) mod files;
pub(crate) mod shared_files;
mod staged_blobs;

pub use files::{ChangedFile, FileRow, facts};

//! One job's files: pages of names, and parts of contents.

use crate::{Error, Store, error::During};
use chrono::{DateTime, Utc};
use serde::Serialize;
use uuid::Uuid;

/// A file in the list.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FileSummary {
    /// Workspace path.
    pub path: String,
    /// Bytes.
    pub size: i64,
    /// The step that wrote it.
    pub step: i64,
    /// When.
    pub updated_at: DateTime<Utc>,
}

/// A part of a file's content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilePart {
    /// Bytes of the whole file.
    pub size: i64,
    /// The step that wrote it.
    pub step: i64,
    /// When.
    pub updated_at: DateTime<Utc>,
    /// The part.
    pub part: Vec<u8>,
}

/// The location of a document's text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceText {
    /// The file that contains the text.
    pub text_path: String,
    /// The number of pages, if the document has pages.
    pub pages: Option<i32>,
}

impl Store {
    /// A page of files by path, after `after` (empty: from the beginning).
    ///
    /// # Errors
    /// [`Error::Database`].
    pub async fn file_page(&self, job_id: Uuid, after: &str, limit: i64) -> Result<Vec<FileSummary>, Error> {
        sqlx::query_file_as!(FileSummary, "queries/views/dashboard/files.sql", job_id, after, limit)
            .fetch_all(&self.pool)
            .await
            .during("list the workspace's files")
    }

    /// At most `length` bytes of a file, starting at byte `from`; none if there is no such file.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub async fn file_part(&self, job_id: Uuid, path: &str, from: i32, length: i32) -> Result<Option<FilePart>, Error> {
        sqlx::query_file_as!(
            FilePart,
            "queries/views/dashboard/file_part.sql",
            job_id,
            path,
            from.max(0),
            length.max(0)
        )
        .fetch_optional(&self.pool)
        .await
        .during("read a workspace file")
    }

    /// The location of the text of a job's document; none if the path is not a document of the job.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub async fn source_text(&self, job_id: Uuid, path: &str) -> Result<Option<SourceText>, Error> {
        sqlx::query_file_as!(SourceText, "queries/views/dashboard/source.sql", job_id, path)
            .fetch_optional(&self.pool)
            .await
            .during("look up a document")
    }
}

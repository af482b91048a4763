//! Reading the workspace.

use crate::{Error, Store, error::During};
use plumbline_engine::{FileFacts, FileIndex};
use sqlx::PgConnection;
use std::collections::BTreeMap;
use uuid::Uuid;

/// A path of the workspace in its latest version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileRow {
    /// Workspace path.
    pub path: String,
    /// Bytes; 0 for a deleted file.
    pub size: i64,
    /// SHA-256 in lower-case hexadecimal digits; none for a deleted file.
    pub sha256: Option<String>,
    /// Whether the content stands for missing content.
    pub placeholder: bool,
    /// The step that wrote it.
    pub step: i64,
}

impl Store {
    /// The bytes of a file, as of the last commit.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub async fn read_file(&self, job_id: Uuid, path: &str) -> Result<Option<Vec<u8>>, Error> {
        sqlx::query_file_scalar!("queries/read_file.sql", job_id, path)
            .fetch_optional(&self.pool)
            .await
            .during("read a workspace file")
    }

    /// Every file of the job, by path; deleted ones left out. For the mirror and for `export`.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub async fn file_index(&self, job_id: Uuid) -> Result<Vec<FileRow>, Error> {
        sqlx::query_file_as!(FileRow, "queries/file_index.sql", job_id)
            .fetch_all(&self.pool)
            .await
            .during("list the workspace's files")
    }

    /// What steps after `step` touched, by path, deletions included (their hash is none).
    ///
    /// # Errors
    /// [`Error::Database`].
    pub async fn files_since(&self, job_id: Uuid, step: i64) -> Result<Vec<FileRow>, Error> {
        sqlx::query_file_as!(FileRow, "queries/files_since.sql", job_id, step)
            .fetch_all(&self.pool)
            .await
            .during("list changed files")
    }

    /// Several files at once; those that do not exist are left out.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub async fn read_files(&self, job_id: Uuid, paths: &[String]) -> Result<BTreeMap<String, Vec<u8>>, Error> {
        let mut connection = self.pool.acquire().await.during("read workspace files")?;
        read_files(&mut connection, job_id, paths).await
    }
}

pub(crate) async fn read_files(
    connection: &mut PgConnection,
    job_id: Uuid,
    paths: &[String],
) -> Result<BTreeMap<String, Vec<u8>>, Error> {
    let rows = sqlx::query_file!("queries/read_files.sql", job_id, paths)
        .fetch_all(connection)
        .await
        .during("read workspace files")?;
    Ok(rows.into_iter().map(|row| (row.path, row.content)).collect())
}

/// The engine's view of the index.
pub(crate) fn facts(rows: Vec<FileRow>) -> FileIndex {
    rows.into_iter()
        .map(|row| {
            let size = u64::try_from(row.size).unwrap_or_default();
            (row.path, FileFacts { size, placeholder: row.placeholder })
        })
        .collect()
}

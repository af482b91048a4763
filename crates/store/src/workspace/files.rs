//! Reading the workspace.

use crate::{Error, Store, error::During};
use plumbline_engine::{FileIndex, FileMeta};
use sqlx::PgConnection;
use std::collections::BTreeMap;
use uuid::Uuid;

/// The latest version of a workspace path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileRow {
    /// Workspace path.
    pub path: String,
    /// Bytes; 0 for a deleted file.
    pub size: i64,
    /// SHA-256 in lower-case hexadecimal digits; none for a deleted file.
    pub sha256: Option<String>,
    /// Whether the content is a placeholder for missing content.
    pub placeholder: bool,
    /// The step that wrote it.
    pub step: i64,
}

/// The latest version of a path that a step touched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedFile {
    /// The job.
    pub job_id: Uuid,
    /// Workspace path.
    pub path: String,
    /// Bytes; 0 for a deleted file.
    pub size: i64,
    /// Whether the file is gone.
    pub deleted: bool,
    /// Its bytes; none for a deleted file and for one that is read separately.
    pub content: Option<Vec<u8>>,
}

/// Maximum size of contents included in the list of changed files, since most files are small; larger ones are read
/// separately, which bounds the size of the list.
const SMALL: i64 = 64 << 10;

impl Store {
    /// The bytes of a file, as of the last commit.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub async fn read_file(&self, job_id: Uuid, path: &str) -> Result<Option<Vec<u8>>, Error> {
        sqlx::query_file_scalar!("queries/workspace/read_file.sql", job_id, path)
            .fetch_optional(&self.pool)
            .await
            .during("read a workspace file")
    }

    /// Every file of the job, by path, without deleted ones. For the mirror and for `export`.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub async fn file_index(&self, job_id: Uuid) -> Result<Vec<FileRow>, Error> {
        sqlx::query_file_as!(FileRow, "queries/workspace/file_index.sql", job_id)
            .fetch_all(&self.pool)
            .await
            .during("list the workspace's files")
    }

    /// Paths touched by the jobs' steps after these, by job and path, including deletions.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub async fn changed_files(&self, since: &[(Uuid, i64)]) -> Result<Vec<ChangedFile>, Error> {
        let (jobs, steps): (Vec<Uuid>, Vec<i64>) = since.iter().copied().unzip();
        sqlx::query_file_as!(ChangedFile, "queries/workspace/changed_files.sql", &jobs, &steps, SMALL)
            .fetch_all(&self.pool)
            .await
            .during("read changed files")
    }

    /// Several files at once; those that do not exist are omitted.
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
    let rows = sqlx::query_file!("queries/workspace/read_files.sql", job_id, paths)
        .fetch_all(connection)
        .await
        .during("read workspace files")?;
    Ok(rows.into_iter().map(|row| (row.path, row.content)).collect())
}

/// The engine's view of the index.
pub fn facts(rows: Vec<FileRow>) -> FileIndex {
    rows.into_iter()
        .map(|row| {
            let size = u64::try_from(row.size).unwrap_or_default();
            (row.path, FileMeta { size, placeholder: row.placeholder })
        })
        .collect()
}

//! A job's data before its first step: the resolved configuration and the inline document.

use crate::{Error, Store, bind::json, error::During};
use serde_json::Value;
use std::sync::Arc;
use uuid::Uuid;

/// Size of one read of a document, in bytes.
const PIECE_BYTES: usize = 16 << 20;

/// A document stored outside the job's row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InlineDocument {
    /// Its position among them.
    pub position: i32,
    /// The name given by the user.
    pub name: String,
    /// Its size.
    pub bytes: i64,
}

/// A resolved configuration in stored form: rendered once, and shared by all jobs that start with it.
#[derive(Clone, Debug)]
pub struct StoredSettings(pub(crate) Arc<str>);

impl From<&Value> for StoredSettings {
    fn from(resolved: &Value) -> Self {
        Self(json(resolved).into())
    }
}

/// The resolved configuration stored with a job.
#[derive(Clone, Debug, PartialEq)]
pub struct JobSettings {
    /// The configuration.
    pub resolved: Value,
    /// Whether the job was retried, and its next step stores the present tools.
    pub takes_present_tools: bool,
}

impl Store {
    /// The resolved configuration stored with the job; none before its first claim.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub async fn settings(&self, job_id: Uuid) -> Result<Option<JobSettings>, Error> {
        sqlx::query_file_as!(JobSettings, "queries/run/settings.sql", job_id)
            .fetch_optional(&self.pool)
            .await
            .during("read the job's settings")
    }

    /// The inline document of the job's row, read in pieces: the connection keeps several copies of a result with a
    /// large value.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub async fn job_content(&self, job_id: Uuid) -> Result<Option<Vec<u8>>, Error> {
        self.whole(job_id, None, 0).await
    }

    /// The documents outside the job's row, in order; read them with [`Store::job_document`].
    ///
    /// # Errors
    /// [`Error::Database`].
    pub async fn job_documents(&self, job_id: Uuid) -> Result<Vec<InlineDocument>, Error> {
        sqlx::query_file_as!(InlineDocument, "queries/run/job_documents.sql", job_id)
            .fetch_all(&self.pool)
            .await
            .during("list the job's documents")
    }

    /// One of them, read in pieces; none if it is gone.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub async fn job_document(&self, job_id: Uuid, document: &InlineDocument) -> Result<Option<Vec<u8>>, Error> {
        self.whole(job_id, Some(document.position), usize::try_from(document.bytes).unwrap_or_default()).await
    }

    /// Assembles a document from its pieces: the row's own, or the one at a position outside it. Allocates `expected`
    /// bytes up front.
    async fn whole(&self, job_id: Uuid, position: Option<i32>, expected: usize) -> Result<Option<Vec<u8>>, Error> {
        let mut content = None;
        for from in (1..).step_by(PIECE_BYTES) {
            let Some(mut piece) = self.piece(job_id, position, from).await? else { break };
            let is_last = piece.len() < PIECE_BYTES;
            content.get_or_insert_with(|| Vec::with_capacity(expected)).append(&mut piece);
            if is_last {
                break;
            }
        }
        Ok(content)
    }

    /// The piece that starts at a byte, counted from 1.
    async fn piece(&self, job_id: Uuid, position: Option<i32>, from: i32) -> Result<Option<Vec<u8>>, Error> {
        let (pool, length) = (&self.pool, PIECE_BYTES as i32);
        let piece = match position {
            None => {
                sqlx::query_file_scalar!("queries/run/job_content.sql", job_id, from, length).fetch_optional(pool).await
            }
            Some(position) => {
                sqlx::query_file_scalar!("queries/run/job_document.sql", job_id, position, from, length)
                    .fetch_optional(pool)
                    .await
            }
        };
        Ok(piece.during("read the job's document")?.flatten())
    }
}

//! What belongs to a job before its first step: the resolved configuration and the inline document.

use crate::{Error, Store, error::During, rows::json};
use plumbline_engine::SharedFiles;
use serde_json::Value;
use sqlx::PgConnection;
use std::sync::Arc;
use uuid::Uuid;

/// Bytes of a document that are read at once.
const PIECE_BYTES: usize = 16 << 20;

/// A resolved configuration as it is stored: made once, and shared by all jobs that start with it.
#[derive(Clone, Debug)]
pub struct StoredSettings(pub(crate) Arc<str>);

impl From<&Value> for StoredSettings {
    fn from(resolved: &Value) -> Self {
        Self(json(resolved).into())
    }
}

impl Store {
    /// The resolved configuration stored with the job; none before its first start.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub async fn settings(&self, job_id: Uuid) -> Result<Option<Value>, Error> {
        sqlx::query_file_scalar!("queries/settings.sql", job_id)
            .fetch_optional(&self.pool)
            .await
            .during("read the job's settings")
    }

    /// Stores the resolved configuration, once for the job's life, and returns the stored one: that of an earlier
    /// start wins. [`crate::Commit::settings`] does the same within the first step.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub async fn put_settings(&self, job_id: Uuid, settings: &Value) -> Result<Value, Error> {
        let mut connection = self.pool.acquire().await.during("store the job's settings")?;
        put(&mut connection, job_id, 0, Some(&settings.into()), None).await?;
        drop(connection);
        Ok(self.settings(job_id).await?.unwrap_or_else(|| settings.clone()))
    }

    /// The inline document of the job's row, read in pieces: of an answer with a large value the connection keeps several
    /// copies.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub async fn job_content(&self, job_id: Uuid) -> Result<Option<Vec<u8>>, Error> {
        let mut content = None;
        for from in (1..).step_by(PIECE_BYTES) {
            let piece = sqlx::query_file_scalar!("queries/job_content.sql", job_id, from, PIECE_BYTES as i32)
                .fetch_optional(&self.pool)
                .await
                .during("read the job's document")?;
            let Some(mut piece) = piece.flatten() else { break };
            let is_last = piece.len() < PIECE_BYTES;
            content.get_or_insert_with(Vec::new).append(&mut piece);
            if is_last {
                break;
            }
        }
        Ok(content)
    }
}

/// Writes what a job gets with its first step, as far as there is any: its configuration, and the files it shares.
pub(crate) async fn put(
    connection: &mut PgConnection,
    job_id: Uuid,
    step: i64,
    settings: Option<&StoredSettings>,
    shared: Option<&SharedFiles>,
) -> Result<(), Error> {
    let set_id = shared.map(|shared| &shared.id[..]);
    sqlx::query_file!("queries/first_step.sql", job_id, settings.map(|settings| &*settings.0), set_id, step)
        .execute(connection)
        .await
        .during("store the job's settings")?;
    Ok(())
}

//! The user's input in a job's row, read by the worker that runs it: a claim of many jobs does not return it.

use crate::{Error, Store, UserJson, error::During};
use serde_json::Value;
use uuid::Uuid;

/// Maximum bytes of `prompt`, `document_path`, `context` and `config`, each; for a JSON column, of its text.
const MOST_TEXT_BYTES: i64 = 1 << 20;
/// Maximum bytes of `document_content`.
pub const MOST_DOCUMENT_BYTES: i64 = 256 << 20;

/// The user's input of a job.
#[derive(Clone, Debug, PartialEq)]
pub struct JobInput {
    /// What to do.
    pub prompt: String,
    /// A file or folder under the import root.
    pub document_path: Option<String>,
    /// The size of the document in the row, in bytes; read it with [`Store::job_content`].
    pub document_bytes: Option<i64>,
    /// The number of documents outside the row; list them with [`Store::job_documents`].
    pub documents_count: i32,
    /// Their total size.
    pub documents_bytes: i64,
    /// Free-form data, verbatim.
    pub context: UserJson,
    /// Overrides of the configuration, verbatim.
    pub config: UserJson,
    /// The limits set by `resume_job`, if any.
    pub raised_limits: Option<Value>,
    /// Seconds that the job has waited for people since it began.
    pub waited_s: i64,
    /// The step from which the job contains text from untrusted sources.
    pub untrusted_step: Option<i64>,
}

/// A column that exceeds what a worker reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Oversized {
    /// Its name, or `documents` for all inline documents.
    pub column: &'static str,
    /// Its size in bytes.
    pub bytes: i64,
    /// The maximum in bytes.
    pub most: i64,
}

impl Store {
    /// The row of a job; none if it is gone. Rows from before the limits existed may be too large; an oversized value
    /// is not read at all.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub async fn job_input(&self, job_id: Uuid) -> Result<Option<Result<JobInput, Oversized>>, Error> {
        let row = sqlx::query_file!("queries/run/job_input.sql", job_id, MOST_TEXT_BYTES)
            .fetch_optional(&self.pool)
            .await
            .during("read the job's row")?;
        Ok(row.map(|row| {
            let sizes = [
                ("prompt", row.prompt_bytes, MOST_TEXT_BYTES),
                ("document_path", row.path_bytes.unwrap_or(0), MOST_TEXT_BYTES),
                ("context", row.context_bytes, MOST_TEXT_BYTES),
                ("config", row.config_bytes, MOST_TEXT_BYTES),
                ("document_content", row.document_bytes.unwrap_or(0), MOST_DOCUMENT_BYTES),
                ("documents", row.document_bytes.unwrap_or(0).saturating_add(row.documents_bytes), MOST_DOCUMENT_BYTES),
            ];
            let too_large = sizes.into_iter().find(|(_, bytes, most)| bytes > most);
            match too_large {
                Some((column, bytes, most)) => Err(Oversized { column, bytes, most }),
                None => Ok(JobInput {
                    prompt: row.prompt.unwrap_or_default(),
                    document_path: row.document_path,
                    document_bytes: row.document_bytes,
                    documents_count: row.documents_count,
                    documents_bytes: row.documents_bytes,
                    context: row.context.unwrap_or_else(|| Value::Null.into()),
                    config: row.config.unwrap_or_else(|| Value::Null.into()),
                    raised_limits: row.raised_limits,
                    waited_s: row.waited_s,
                    untrusted_step: row.untrusted_step,
                }),
            }
        }))
    }
}

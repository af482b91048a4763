//! A new job.

use crate::{
    Error, Store,
    bind::{json, text},
    error::During,
};
use chrono::{DateTime, Utc};
use serde_json::{Value, json as object};
use sqlx::PgConnection;
use uuid::Uuid;

/// A user's input; the defaults are those of the table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NewJob {
    /// What to do.
    pub prompt: String,
    /// Selects a configuration.
    pub job_type: String,
    /// A file or folder under the import root.
    pub document_path: Option<String>,
    /// Name of the inline document; stored as `context.document_name`.
    pub document_name: Option<String>,
    /// A document given inline.
    pub document_content: Option<Vec<u8>>,
    /// Further inline documents, 256 MiB in total.
    pub documents: Vec<NewDocument>,
    /// Free-form data for the agent, a JSON object.
    pub context: Value,
    /// Overrides on top of the job type's configuration, a JSON object.
    pub config: Value,
    /// Larger numbers are claimed first.
    pub priority: i32,
    /// Not runnable before; none means now, by the database's clock.
    pub run_at: Option<DateTime<Utc>>,
    /// Idempotency key (per login and job type).
    pub idempotency_key: Option<String>,
    /// The job that enqueues this one.
    pub parent_job_id: Option<Uuid>,
}

/// A document given inline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewDocument {
    /// Its path below `input/`.
    pub name: String,
    /// Its bytes.
    pub content: Vec<u8>,
}

impl NewJob {
    /// A job of type `creator` with only a prompt.
    pub fn new(prompt: impl Into<String>) -> Self {
        let (prompt, job_type) = (prompt.into(), "creator".to_owned());
        Self { prompt, job_type, context: object!({}), config: object!({}), ..Self::default() }
    }

    fn full_context(&self) -> Value {
        let mut context = self.context.clone();
        if let (Some(name), Value::Object(map)) = (&self.document_name, &mut context) {
            map.insert("document_name".to_owned(), name.as_str().into());
        }
        context
    }
}

impl Store {
    /// Inserts a job and returns its id; if the login has used the idempotency key, the id of the existing job.
    ///
    /// # Errors
    /// [`Error::Database`], also if the existing job has another prompt or other documents.
    pub async fn enqueue(&self, job: &NewJob) -> Result<Uuid, Error> {
        let doing = "enqueue the job";
        if job.documents.is_empty() {
            let mut connection = self.pool.acquire().await.during(doing)?;
            return enqueue(&mut connection, job).await;
        }
        // No worker may see the job before its documents are inserted.
        let mut tx = self.pool.begin().await.during(doing)?;
        let id = enqueue(&mut tx, job).await?;
        tx.commit().await.during(doing)?;
        Ok(id)
    }
}

/// Enqueues within a transaction.
pub(crate) async fn enqueue(connection: &mut PgConnection, job: &NewJob) -> Result<Uuid, Error> {
    let doing = "enqueue the job";
    loop {
        if let Some(id) = insert(connection, job).await.during(doing)? {
            for (position, document) in (1..).zip(&job.documents) {
                sqlx::query_file!("queries/queue/put_document.sql", id, position, document.name, document.content)
                    .execute(&mut *connection)
                    .await
                    .during(doing)?;
            }
            return Ok(id);
        }
        let known = job_of_key(connection, job).await.during(doing)?;
        // Not found: the job was deleted between the two statements; insert again.
        if let Some(id) = known {
            return Ok(id);
        }
    }
}

/// The job with the key; an error if it was inserted with other input.
async fn job_of_key(connection: &mut PgConnection, job: &NewJob) -> Result<Option<Uuid>, sqlx::Error> {
    let (prompt, context) = (text(&job.prompt), job.full_context());
    let names: Vec<String> = job.documents.iter().map(|document| document.name.clone()).collect();
    let contents: Vec<Vec<u8>> = job.documents.iter().map(|document| document.content.clone()).collect();
    sqlx::query_file_scalar!(
        "queries/queue/job_by_key.sql",
        job.job_type,
        job.idempotency_key,
        prompt.as_ref(),
        job.document_path,
        context.get("document_name").and_then(Value::as_str),
        job.document_content,
        &names,
        &contents,
        job.parent_job_id,
    )
    .fetch_one(connection)
    .await
}

async fn insert(connection: &mut PgConnection, job: &NewJob) -> Result<Option<Uuid>, sqlx::Error> {
    let prompt = text(&job.prompt);
    sqlx::query_file_scalar!(
        "queries/queue/enqueue.sql",
        job.job_type,
        prompt.as_ref(),
        job.document_path,
        job.document_content,
        json(&job.full_context()),
        json(&job.config),
        job.priority,
        job.run_at,
        job.idempotency_key,
        job.parent_job_id,
    )
    .fetch_optional(connection)
    .await
}

//! Views of jobs for people and the command line.

use crate::{Error, RequirementRow, Store, UserJson, error::During};
use chrono::{DateTime, Utc};
use serde::Serialize;
use serde_json::Value;
use uuid::Uuid;

/// A job with all its public columns, without the document's bytes.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[expect(missing_docs, reason = "the public columns, described in the interface")]
pub struct JobDetail {
    pub id: Uuid,
    pub job_type: String,
    pub prompt: String,
    pub document_path: Option<String>,
    /// Size of `document_content`.
    pub document_bytes: Option<i64>,
    pub context: Value,
    pub config: Value,
    pub priority: i32,
    pub run_at: DateTime<Utc>,
    pub max_attempts: i32,
    pub idempotency_key: Option<String>,
    pub parent_job_id: Option<Uuid>,
    pub status: String,
    pub status_reason: Option<String>,
    pub attempt: i32,
    /// Crashes since the last committed step.
    pub crash_count: i32,
    pub worker_id: Option<Uuid>,
    pub lease_epoch: i64,
    pub step: i64,
    pub phase_number: i32,
    pub phase: Option<String>,
    pub phase_name: Option<String>,
    pub todos_done: i32,
    pub todos_total: i32,
    pub current_todo: Option<String>,
    /// Feedback that no step has taken in yet.
    pub feedback_untaken: i32,
    pub result: Option<Value>,
    pub error_message: Option<String>,
    pub error_details: Option<Value>,
    pub total_requests: i64,
    pub total_tokens_used: i64,
    pub cached_tokens: i64,
    pub cost_usd: f64,
    /// The cost at which it is paused; none without such a budget, or before it has begun.
    pub cost_budget_usd: Option<f64>,
    pub created_at: DateTime<Utc>,
    pub updated_at: DateTime<Utc>,
    pub started_at: Option<DateTime<Utc>>,
    pub completed_at: Option<DateTime<Utc>>,
    /// The number of its documents' passages; none if it has none.
    pub passages: Option<i64>,
    /// The number of answered passages.
    pub passages_answered: Option<i64>,
    /// Their share, 0 to 1.
    pub coverage: Option<f64>,
}

/// A todo with its phase.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[expect(missing_docs, reason = "the public columns, described in the interface")]
pub struct TodoRow {
    pub phase_number: i32,
    pub position: i32,
    pub content: String,
    pub status: String,
    pub notes: Option<String>,
    pub created_at: DateTime<Utc>,
    pub completed_at: Option<DateTime<Utc>>,
}

/// A job's live progress.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[expect(missing_docs, reason = "the public columns, described in the interface")]
pub struct WatchRow {
    pub status: String,
    pub status_reason: Option<String>,
    pub phase_number: i32,
    pub phase: Option<String>,
    pub phase_name: Option<String>,
    pub todos_done: i32,
    pub todos_total: i32,
    pub current_todo: Option<String>,
    pub step: i64,
    pub total_requests: i64,
    pub total_tokens_used: i64,
    pub cached_tokens: i64,
    pub cost_usd: f64,
    pub error_message: Option<String>,
    pub headline: Option<String>,
    pub decided: Option<String>,
    pub waiting_calls: i64,
    #[serde(skip)]
    pub created_at: DateTime<Utc>,
}

/// "0.29 of 1 USD": a job's cost and its budget, in USD. A cost below a cent has four decimal places.
pub fn cost_of_budget(cost: f64, budget: f64) -> String {
    let places = if cost > 0.0 && cost < 0.01 { 4 } else { 2 };
    format!("{cost:.places$} of {budget} USD")
}

impl Store {
    /// One job; none if there is no such job.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub async fn job_detail(&self, job_id: Uuid) -> Result<Option<JobDetail>, Error> {
        sqlx::query_file_as!(JobDetail, "queries/views/job_detail.sql", job_id)
            .fetch_optional(&self.pool)
            .await
            .during("read the job")
    }

    /// The cost in USD at which the job is paused; none without such a budget, before the job has begun, or if there is
    /// no such job.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub async fn cost_budget(&self, job_id: Uuid) -> Result<Option<f64>, Error> {
        sqlx::query_file_scalar!("queries/views/cost_budget.sql", job_id)
            .fetch_optional(&self.pool)
            .await
            .map(Option::flatten)
            .during("read the job's cost budget")
    }

    /// The todos of all its phases, in order; the last phase may consist of staged todos only.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub async fn todos_of(&self, job_id: Uuid) -> Result<Vec<TodoRow>, Error> {
        sqlx::query_file_as!(TodoRow, "queries/views/todos_of.sql", job_id)
            .fetch_all(&self.pool)
            .await
            .during("read the job's todos")
    }

    /// Its requirements, in the order they were recorded.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub async fn requirements_of(&self, job_id: Uuid) -> Result<Vec<RequirementRow>, Error> {
        sqlx::query_file_as!(RequirementRow, "queries/views/requirements_of.sql", job_id)
            .fetch_all(&self.pool)
            .await
            .during("read the job's requirements")
    }

    /// Its progress; none if there is no such job.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub async fn watch(&self, job_id: Uuid) -> Result<Option<WatchRow>, Error> {
        sqlx::query_file_as!(WatchRow, "queries/views/watch.sql", job_id)
            .fetch_optional(&self.pool)
            .await
            .during("watch the job")
    }
}

//! One job's phases, steps, attempts and costs.

use crate::{Error, Store, TodoRow, error::During};
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// A phase with its usage.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[expect(missing_docs, reason = "the public columns, described in the interface")]
pub struct PhaseLine {
    pub phase_number: i32,
    pub kind: String,
    pub name: String,
    pub outcome: Option<String>,
    pub opened_step: i64,
    pub closed_step: Option<i64>,
    pub started_at: DateTime<Utc>,
    pub ended_at: Option<DateTime<Utc>>,
    pub todos_done: i64,
    pub todos_total: i64,
    pub requests: i64,
    /// Prompt and completion.
    pub tokens: i64,
    pub cost_usd: f64,
}

/// The totals of adjacent requests of a job.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CostBar {
    /// The first request, numbered from 1 within the job.
    pub first_turn: i64,
    /// The last one.
    pub last_turn: i64,
    /// The step of the first one.
    pub first_step: i64,
    /// The step of the last one.
    pub last_step: i64,
    /// Prompt tokens that were not cached.
    pub fresh_tokens: i64,
    /// Prompt tokens from the provider's cache.
    pub cached_tokens: i64,
    /// Completion tokens.
    pub output_tokens: i64,
    /// Milliseconds from sending to the complete answer.
    pub duration_ms: i64,
    /// The number of failed requests.
    pub failed: i64,
    /// US dollars by the job's prices.
    pub cost_usd: f64,
}

/// A committed step and its results.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StepLine {
    /// Its number.
    pub step: i64,
    /// The phase it belongs to.
    pub phase_number: i32,
    /// `strategic` or `tactical`.
    pub phase: Option<String>,
    /// The claim that wrote it.
    pub lease_epoch: i64,
    /// When it was committed.
    pub created_at: DateTime<Utc>,
    /// Requests to the model.
    pub requests: Vec<StepRequest>,
    /// Messages, truncated for display.
    pub messages: Vec<StepMessage>,
    /// Files written and deleted.
    pub files: Vec<StepFile>,
}

/// A request of a step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the public columns, described in the interface")]
pub struct StepRequest {
    pub model: String,
    pub purpose: String,
    pub prompt_tokens: i64,
    pub cached_tokens: i64,
    pub completion_tokens: i64,
    pub duration_ms: i64,
    pub attempt: i32,
    pub error: Option<String>,
}

/// A message of a step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StepMessage {
    /// Its sequence number in the job.
    pub seq: i64,
    /// Its role.
    pub role: String,
    /// Its kind.
    pub kind: String,
    /// The beginning of its text.
    pub text: String,
    /// Whether it was truncated.
    pub cut: bool,
    /// The call that a result answers.
    pub call_id: Option<String>,
    /// Its tool calls.
    pub calls: Vec<StepCall>,
}

/// A tool call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StepCall {
    /// Unique in the job.
    pub id: Option<String>,
    /// The tool.
    pub name: Option<String>,
    /// The beginning of its arguments.
    pub arguments: Option<String>,
}

/// A file that a step touched.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StepFile {
    /// Workspace path.
    pub path: String,
    /// Whether the step deleted it.
    pub deleted: bool,
}

/// A claim of the job and how it ended.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[expect(missing_docs, reason = "the public columns, described in the interface")]
pub struct AttemptLine {
    pub attempt: i32,
    pub worker_id: Uuid,
    /// Known while the worker's row exists.
    pub hostname: Option<String>,
    pub lease_epoch: i64,
    pub started_at: DateTime<Utc>,
    pub ended_at: Option<DateTime<Utc>>,
    pub outcome: Option<String>,
    pub error: Option<String>,
}

impl Store {
    /// The latest phases, newest first, at most `limit`.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub async fn phase_lines(&self, job_id: Uuid, limit: i64) -> Result<Vec<PhaseLine>, Error> {
        sqlx::query_file_as!(PhaseLine, "queries/views/dashboard/phases.sql", job_id, limit)
            .fetch_all(&self.pool)
            .await
            .during("read the job's phases")
    }

    /// The todos of the phases from `phase` on, in order; including those staged for the next phase.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub async fn todos_from(&self, job_id: Uuid, phase: i32) -> Result<Vec<TodoRow>, Error> {
        sqlx::query_file_as!(TodoRow, "queries/views/dashboard/todos.sql", job_id, phase)
            .fetch_all(&self.pool)
            .await
            .during("read the job's latest todos")
    }

    /// The totals of the job's requests, in at most `bars` groups of adjacent requests, in order.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub async fn cost_bars(&self, job_id: Uuid, bars: i64) -> Result<Vec<CostBar>, Error> {
        sqlx::query_file_as!(CostBar, "queries/views/dashboard/cost.sql", job_id, bars.max(1))
            .fetch_all(&self.pool)
            .await
            .during("sum up the job's requests")
    }

    /// A page of steps, newest first, before `before`; texts are truncated to `text_chars` characters.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub async fn step_page(
        &self,
        job_id: Uuid,
        before: Option<i64>,
        limit: i64,
        text_chars: i32,
    ) -> Result<Vec<StepLine>, Error> {
        sqlx::query_file!("queries/views/dashboard/steps.sql", job_id, before, limit, text_chars)
            .try_map(|row| {
                Ok(StepLine {
                    step: row.step,
                    phase_number: row.phase_number,
                    phase: row.phase,
                    lease_epoch: row.lease_epoch,
                    created_at: row.created_at,
                    requests: read(row.requests)?,
                    messages: read(row.messages)?,
                    files: read(row.files)?,
                })
            })
            .fetch_all(&self.pool)
            .await
            .during("read the job's steps")
    }

    /// The latest attempts, newest first, at most `limit`.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub async fn attempt_lines(&self, job_id: Uuid, limit: i64) -> Result<Vec<AttemptLine>, Error> {
        sqlx::query_file_as!(AttemptLine, "queries/views/dashboard/attempts.sql", job_id, limit)
            .fetch_all(&self.pool)
            .await
            .during("read the job's attempts")
    }
}

fn read<T: serde::de::DeserializeOwned>(value: serde_json::Value) -> Result<T, sqlx::Error> {
    serde_json::from_value(value).map_err(|error| sqlx::Error::Decode(error.into()))
}

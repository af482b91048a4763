//! The list of jobs.

use crate::{Error, Store, error::During};
use chrono::{DateTime, Utc};
use serde::Serialize;
use uuid::Uuid;

/// The maximum count: years of ended jobs show as "a million".
const COUNTED: i64 = 1_000_000;

/// Selects the jobs of a page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JobFilter {
    /// Only of this status.
    pub status: Option<String>,
    /// Only of this type.
    pub job_type: Option<String>,
    /// Only jobs inserted at or after this time.
    pub since: Option<DateTime<Utc>>,
    /// Only jobs after this one in the list: its `created_at` and id.
    pub after: Option<(DateTime<Utc>, Uuid)>,
}

/// A job as a line of the list.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[expect(missing_docs, reason = "the public columns, described in the interface")]
pub struct JobLine {
    pub id: Uuid,
    pub job_type: String,
    /// The first 200 characters.
    pub prompt: String,
    pub status: String,
    pub status_reason: Option<String>,
    pub phase_number: i32,
    pub phase: Option<String>,
    pub phase_name: Option<String>,
    pub todos_done: i32,
    pub todos_total: i32,
    pub current_todo: Option<String>,
    pub step: i64,
    pub attempt: i32,
    pub requirements: i64,
    pub total_requests: i64,
    pub total_tokens_used: i64,
    pub cost_usd: f64,
    pub error_message: Option<String>,
    pub created_at: DateTime<Utc>,
    pub updated_at: DateTime<Utc>,
    pub started_at: Option<DateTime<Utc>>,
    pub completed_at: Option<DateTime<Utc>>,
}

/// The count of jobs with one status.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StatusCount {
    /// The status.
    pub status: String,
    /// The count, up to a million.
    pub jobs: i64,
    /// The age of the oldest of them in seconds.
    pub oldest_secs: f64,
}

/// Numbers that change whenever the list of jobs changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct JobsPulse {
    /// Running jobs.
    pub running: i64,
    /// Their committed steps.
    pub steps: i64,
    /// When the newest job was inserted.
    pub newest: Option<DateTime<Utc>>,
    /// When the most recent end of a job was.
    pub last_ended: Option<DateTime<Utc>>,
}

impl Store {
    /// A page of jobs, newest first, at most `limit`.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub async fn job_page(&self, filter: &JobFilter, limit: i64) -> Result<Vec<JobLine>, Error> {
        let (time, id) = filter.after.unzip();
        let (status, job_type) = (filter.status.as_deref(), filter.job_type.as_deref());
        sqlx::query_file_as!(
            JobLine,
            "queries/views/dashboard/jobs.sql",
            limit,
            time,
            id,
            status,
            job_type,
            filter.since
        )
        .fetch_all(&self.pool)
        .await
        .during("list the jobs")
    }

    /// The number of jobs by status; a status without jobs is omitted.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub async fn status_counts(&self) -> Result<Vec<StatusCount>, Error> {
        sqlx::query_file_as!(StatusCount, "queries/views/dashboard/counts.sql", COUNTED)
            .fetch_all(&self.pool)
            .await
            .during("count the jobs")
    }

    /// The job types of existing jobs, at most `limit`.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub async fn job_types_seen(&self, limit: i64) -> Result<Vec<String>, Error> {
        sqlx::query_file_scalar!("queries/views/dashboard/types.sql", limit)
            .fetch_all(&self.pool)
            .await
            .during("list the job types")
    }

    /// Detects changes of the list of jobs; cheap enough to query every second.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub async fn jobs_pulse(&self) -> Result<JobsPulse, Error> {
        sqlx::query_file_as!(JobsPulse, "queries/views/dashboard/pulse.sql")
            .fetch_one(&self.pool)
            .await
            .during("watch the jobs")
    }
}

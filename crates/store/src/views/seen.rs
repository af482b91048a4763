//! Jobs as logins see them that may not read every job or every column: applications their own, approvers those in review,
//! steerers how all of them go.

use crate::{Error, JobDetail, JobFilter, JobLine, Store, error::During};
use chrono::{DateTime, Utc};
use serde::Serialize;
use serde_json::Value;
use uuid::Uuid;

/// What all of them may read of a job.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[expect(missing_docs, reason = "the public columns, described in the interface")]
pub struct JobSeen {
    pub id: Uuid,
    pub job_type: String,
    /// Its beginning, at most 200 characters, where the login may not read more.
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
    /// 0 where the login may not count them.
    pub requirements: i64,
    pub total_requests: i64,
    pub total_tokens_used: i64,
    pub cached_tokens: i64,
    pub cost_usd: f64,
    pub result: Option<Value>,
    pub error_message: Option<String>,
    pub error_details: Option<Value>,
    pub created_at: DateTime<Utc>,
    pub updated_at: DateTime<Utc>,
    pub started_at: Option<DateTime<Utc>>,
    pub completed_at: Option<DateTime<Utc>>,
}

impl Store {
    /// One job as the login may see it; none when there is none for it.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub async fn job_seen(&self, job_id: Uuid) -> Result<Option<JobSeen>, Error> {
        match self.job_detail(job_id).await {
            Err(error) if error.is_forbidden() => {
                Ok(self.narrowly_seen(Some(job_id), &JobFilter::default(), 1).await?.pop())
            }
            read => Ok(read?.map(JobSeen::from)),
        }
    }

    /// The newest jobs that the login may see, at most `limit`.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub async fn jobs_seen(&self, filter: &JobFilter, limit: i64) -> Result<Vec<JobLine>, Error> {
        match self.job_page(filter, limit).await {
            Err(error) if error.is_forbidden() => {
                let seen = self.narrowly_seen(None, filter, limit).await?;
                Ok(seen.into_iter().map(JobLine::from).collect())
            }
            read => read,
        }
    }

    async fn narrowly_seen(&self, job: Option<Uuid>, filter: &JobFilter, limit: i64) -> Result<Vec<JobSeen>, Error> {
        let (status, job_type) = (filter.status.as_deref(), filter.job_type.as_deref());
        let (doing, pool) = ("read jobs", &self.pool);
        let seen =
            sqlx::query_file_as!(JobSeen, "queries/views/seen_jobs.sql", job, status, job_type, filter.since, limit);
        match seen.fetch_all(pool).await.during(doing) {
            Err(error) if error.is_forbidden() => {}
            read => return read,
        }
        sqlx::query_file_as!(JobSeen, "queries/views/summed_jobs.sql", job, status, job_type, filter.since, limit)
            .fetch_all(pool)
            .await
            .during(doing)
    }

    /// The paths of a job's files, as far as the login may read them.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub async fn files_seen(&self, job_id: Uuid) -> Result<Vec<String>, Error> {
        sqlx::query_file_scalar!("queries/views/seen_files.sql", job_id)
            .fetch_all(&self.pool)
            .await
            .during("read the job's list of files")
    }

    /// A file's content; none where there is none for the login.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub async fn file_seen(&self, job_id: Uuid, path: &str) -> Result<Option<Vec<u8>>, Error> {
        sqlx::query_file_scalar!("queries/views/seen_file.sql", job_id, path)
            .fetch_one(&self.pool)
            .await
            .during("read the job's file")
    }
}

impl From<JobDetail> for JobSeen {
    fn from(job: JobDetail) -> Self {
        Self {
            id: job.id,
            job_type: job.job_type,
            prompt: job.prompt,
            status: job.status,
            status_reason: job.status_reason,
            phase_number: job.phase_number,
            phase: job.phase,
            phase_name: job.phase_name,
            todos_done: job.todos_done,
            todos_total: job.todos_total,
            current_todo: job.current_todo,
            step: job.step,
            attempt: job.attempt,
            requirements: 0,
            total_requests: job.total_requests,
            total_tokens_used: job.total_tokens_used,
            cached_tokens: job.cached_tokens,
            cost_usd: job.cost_usd,
            result: job.result,
            error_message: job.error_message,
            error_details: job.error_details,
            created_at: job.created_at,
            updated_at: job.updated_at,
            started_at: job.started_at,
            completed_at: job.completed_at,
        }
    }
}

impl From<JobSeen> for JobLine {
    fn from(job: JobSeen) -> Self {
        Self {
            id: job.id,
            job_type: job.job_type,
            prompt: job.prompt,
            status: job.status,
            status_reason: job.status_reason,
            phase_number: job.phase_number,
            phase: job.phase,
            phase_name: job.phase_name,
            todos_done: job.todos_done,
            todos_total: job.todos_total,
            current_todo: job.current_todo,
            step: job.step,
            attempt: job.attempt,
            requirements: job.requirements,
            total_requests: job.total_requests,
            total_tokens_used: job.total_tokens_used,
            cost_usd: job.cost_usd,
            error_message: job.error_message,
            created_at: job.created_at,
            updated_at: job.updated_at,
            started_at: job.started_at,
            completed_at: job.completed_at,
        }
    }
}

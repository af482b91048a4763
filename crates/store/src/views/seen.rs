//! Jobs for logins with restricted rights: applications see their own, approvers those in review, steerers the progress
//! of all.

use crate::{Error, JobFilter, JobLine, Store, error::During};
use serde::Serialize;
use serde_json::Value;
use std::ops::Deref;
use uuid::Uuid;

/// What all of these logins may read of a job: its line, with its whole prompt if the login may read that, and its
/// results.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[expect(missing_docs, reason = "the public columns, described in the interface")]
pub struct JobSeen {
    /// `requirements` is 0 if the login may not count them.
    #[serde(flatten)]
    pub line: JobLine,
    pub cached_tokens: i64,
    pub result: Option<Value>,
    pub error_details: Option<Value>,
}

/// A file of a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeenFile {
    /// Its path in the workspace.
    pub path: String,
    /// Its size in bytes.
    pub size: i64,
}

impl Deref for JobSeen {
    type Target = JobLine;

    fn deref(&self) -> &JobLine {
        &self.line
    }
}

/// A row of either statement: the types differ, the columns are the same.
macro_rules! seen {
    ($row:expr) => {{
        let row = $row;
        JobSeen {
            line: JobLine {
                id: row.id,
                job_type: row.job_type,
                prompt: row.prompt,
                status: row.status,
                status_reason: row.status_reason,
                phase_number: row.phase_number,
                phase: row.phase,
                phase_name: row.phase_name,
                todos_done: row.todos_done,
                todos_total: row.todos_total,
                current_todo: row.current_todo,
                step: row.step,
                attempt: row.attempt,
                requirements: row.requirements,
                total_requests: row.total_requests,
                total_tokens_used: row.total_tokens_used,
                cost_usd: row.cost_usd,
                error_message: row.error_message,
                created_at: row.created_at,
                updated_at: row.updated_at,
                started_at: row.started_at,
                completed_at: row.completed_at,
            },
            cached_tokens: row.cached_tokens,
            result: row.result,
            error_details: row.error_details,
        }
    }};
}

impl Store {
    /// One job as visible to the login; none if the login sees no such job.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub async fn job_seen(&self, job_id: Uuid) -> Result<Option<JobSeen>, Error> {
        Ok(self.narrowly_seen(Some(job_id), &JobFilter::default(), 1).await?.pop())
    }

    /// The newest jobs visible to the login, at most `limit`.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub async fn jobs_seen(&self, filter: &JobFilter, limit: i64) -> Result<Vec<JobLine>, Error> {
        match self.job_page(filter, limit).await {
            Err(error) if error.is_forbidden() => {
                let seen = self.narrowly_seen(None, filter, limit).await?;
                Ok(seen.into_iter().map(|job| job.line).collect())
            }
            read => read,
        }
    }

    async fn narrowly_seen(&self, job: Option<Uuid>, filter: &JobFilter, limit: i64) -> Result<Vec<JobSeen>, Error> {
        let (status, job_type) = (filter.status.as_deref(), filter.job_type.as_deref());
        let (doing, pool) = ("read jobs", &self.pool);
        let seen = sqlx::query_file!("queries/views/seen_jobs.sql", job, status, job_type, filter.since, limit);
        match seen.map(|row| seen!(row)).fetch_all(pool).await.during(doing) {
            Err(error) if error.is_forbidden() => {}
            read => return read,
        }
        sqlx::query_file!("queries/views/summed_jobs.sql", job, status, job_type, filter.since, limit)
            .map(|row| seen!(row))
            .fetch_all(pool)
            .await
            .during(doing)
    }

    /// The files of a job whose paths begin with `prefix`, restricted to those that the login may read.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub async fn files_seen(&self, job_id: Uuid, prefix: &str) -> Result<Vec<SeenFile>, Error> {
        sqlx::query_file_as!(SeenFile, "queries/views/seen_files.sql", job_id, prefix)
            .fetch_all(&self.pool)
            .await
            .during("read the job's list of files")
    }

    /// A file's content; none if the login sees no such file.
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

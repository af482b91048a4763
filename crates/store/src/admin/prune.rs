//! Retention: deletes ended jobs after a time, with all their rows.

use crate::{Error, Store, error::During};
use chrono::{DateTime, Utc};
use serde::Serialize;
use std::time::Duration;
use uuid::Uuid;

/// Jobs deleted in one transaction: few locks and little WAL, and an interrupted prune keeps its progress.
const BATCH: i64 = 20;

/// The statuses of ended jobs; no other job is ever deleted.
const ENDED: [&str; 3] = ["completed", "failed", "cancelled"];

/// Which jobs to delete.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Retention {
    /// Time since the job's end, by the database's clock.
    pub older_than: Duration,
    /// Only jobs with these final statuses (`completed`, `failed`, `cancelled`); empty: all of them.
    pub statuses: Vec<String>,
    /// Also jobs with requirements that no validator has judged.
    pub also_pending: bool,
}

/// A job that a prune has deleted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PrunedJob {
    /// Its id.
    pub id: Uuid,
    /// Whether it ever committed a step, so that it may have a folder.
    pub ran: bool,
}

/// A deleted job that may have left folders behind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeletedJob {
    /// Its id.
    pub job_id: Uuid,
    /// When it was deleted.
    pub deleted_at: DateTime<Utc>,
}

/// What a prune would delete, for one status.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Prunable {
    /// The final status.
    pub status: String,
    /// The number of jobs.
    pub jobs: i64,
    /// When the first of them ended.
    pub oldest: DateTime<Utc>,
    /// The sum of their steps.
    pub steps: i64,
}

/// Old jobs that a prune keeps for one reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct KeptJobs {
    /// `followed`: a child job, a fork or a next version has not ended. `pending`: a validator has not yet judged some
    /// of their requirements. `validating`: a validator holds some.
    pub reason: String,
    /// The number of jobs.
    pub jobs: i64,
}

impl Retention {
    fn seconds(&self) -> f64 {
        self.older_than.as_secs_f64()
    }

    /// Statuses of requirements that keep their job.
    fn kept_by(&self) -> Vec<String> {
        let states: &[&str] = if self.also_pending { &["validating"] } else { &["validating", "pending"] };
        states.iter().map(|state| (*state).to_owned()).collect()
    }

    /// The requested statuses, restricted to those of ended jobs.
    fn ended(&self) -> Vec<String> {
        let asked = |status: &str| self.statuses.is_empty() || self.statuses.iter().any(|one| one == status);
        ENDED.into_iter().filter(|status| asked(status)).map(str::to_owned).collect()
    }
}

impl Store {
    /// What [`Store::prune`] would delete now, by status.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub async fn prunable(&self, retention: &Retention) -> Result<Vec<Prunable>, Error> {
        sqlx::query_file_as!(
            Prunable,
            "queries/admin/prunable.sql",
            retention.seconds(),
            &retention.ended(),
            &retention.kept_by()
        )
        .fetch_all(&self.pool)
        .await
        .during("count the jobs to prune")
    }

    /// Which old jobs [`Store::prune`] would keep now, and why.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub async fn kept(&self, retention: &Retention) -> Result<Vec<KeptJobs>, Error> {
        let (seconds, ended, kept_by) = (retention.seconds(), retention.ended(), retention.kept_by());
        sqlx::query_file_as!(KeptJobs, "queries/admin/kept.sql", seconds, &ended, &kept_by)
            .fetch_all(&self.pool)
            .await
            .during("count the jobs that prune keeps")
    }

    /// Jobs deleted after this moment and id, in order, at most `limit`, regardless of who deleted them; of the last 90
    /// days. A long transaction may later add jobs deleted before the last of these: read again from slightly earlier.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub async fn deleted_jobs(&self, after: (DateTime<Utc>, Uuid), limit: i64) -> Result<Vec<DeletedJob>, Error> {
        sqlx::query_file_as!(DeletedJob, "queries/admin/deleted_jobs.sql", after.0, after.1, limit)
            .fetch_all(&self.pool)
            .await
            .during("look for deleted jobs")
    }

    /// Deletes one batch of ended jobs, oldest first, and returns them; empty if none is left. Call it until then: each
    /// call is a separate transaction.
    ///
    /// A job is kept while one of its child jobs or forks has not ended, while a validator holds one of its
    /// requirements, and, unless the retention says otherwise, while one is not yet judged.
    ///
    /// # Errors
    /// [`Error::Database`]; earlier batches stay deleted.
    pub async fn prune(&self, retention: &Retention) -> Result<Vec<PrunedJob>, Error> {
        sqlx::query_file_as!(
            PrunedJob,
            "queries/admin/prune.sql",
            retention.seconds(),
            &retention.ended(),
            BATCH,
            &retention.kept_by()
        )
        .fetch_all(&self.pool)
        .await
        .during("prune ended jobs")
    }
}

//! Retention: deletes ended jobs after a time, with everything that belongs to them.

use crate::{Error, Store, error::During};
use chrono::{DateTime, Utc};
use serde::Serialize;
use std::time::Duration;
use uuid::Uuid;

/// Jobs deleted in one transaction: its locks and its journal stay small, and an interrupted prune keeps what it did.
const BATCH: i64 = 20;

/// The ways in which a job ends; no other job is ever deleted.
const ENDED: [&str; 3] = ["completed", "failed", "cancelled"];

/// Which jobs may go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Retention {
    /// Time since the job's end, by the database's clock.
    pub older_than: Duration,
    /// Only jobs that ended like this (`completed`, `failed`, `cancelled`); all of them when none is named.
    pub statuses: Vec<String>,
    /// Jobs too whose requirements no validator has judged.
    pub also_pending: bool,
}

/// A job that a prune has just deleted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PrunedJob {
    /// Its id.
    pub id: Uuid,
    /// Where its documents were read from.
    pub document_path: Option<String>,
    /// Whether it ever committed a step, so that there may be a folder somewhere.
    pub ran: bool,
}

/// A job that is gone and may have left folders behind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeletedJob {
    /// Its id.
    pub job_id: Uuid,
    /// A folder under the import root that was made for it alone.
    pub import_path: Option<String>,
    /// When it was deleted.
    pub deleted_at: DateTime<Utc>,
}

/// What a prune would delete, of one status.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Prunable {
    /// How the jobs ended.
    pub status: String,
    /// How many there are.
    pub jobs: i64,
    /// When the first of them ended.
    pub oldest: DateTime<Utc>,
    /// Their steps together.
    pub steps: i64,
}

/// Old jobs that a prune leaves for one reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct KeptJobs {
    /// `followed`: a job that they enqueued, a fork, or a next version of them has not ended. `pending`: a validator has still
    /// to judge requirements of theirs. `validating`: one holds some.
    pub reason: String,
    /// How many there are.
    pub jobs: i64,
}

impl Retention {
    fn seconds(&self) -> f64 {
        self.older_than.as_secs_f64()
    }

    /// States of requirements that keep their job.
    fn kept_by(&self) -> Vec<String> {
        let states: &[&str] = if self.also_pending { &["validating"] } else { &["validating", "pending"] };
        states.iter().map(|state| (*state).to_owned()).collect()
    }

    /// The statuses asked for, ended ones only whatever was asked.
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

    /// Which old jobs [`Store::prune`] leaves now, and why.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub async fn kept(&self, retention: &Retention) -> Result<Vec<KeptJobs>, Error> {
        let (seconds, ended, kept_by) = (retention.seconds(), retention.ended(), retention.kept_by());
        sqlx::query_file_as!(KeptJobs, "queries/admin/kept.sql", seconds, &ended, &kept_by)
            .fetch_all(&self.pool)
            .await
            .during("count the jobs that a prune leaves")
    }

    /// Jobs deleted after this moment and id, in order, at most `limit`, whoever deleted them; of the last 90 days. A
    /// transaction that takes long may still add some that were deleted before the last of them: look again from a little
    /// before.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub async fn deleted_jobs(&self, after: (DateTime<Utc>, Uuid), limit: i64) -> Result<Vec<DeletedJob>, Error> {
        sqlx::query_file_as!(DeletedJob, "queries/admin/deleted_jobs.sql", after.0, after.1, limit)
            .fetch_all(&self.pool)
            .await
            .during("look for deleted jobs")
    }

    /// Deletes one batch of ended jobs, oldest first, and returns them; empty when none is left. Call it until
    /// then: each call is a transaction of its own.
    ///
    /// A job stays while a job that it enqueued, or a fork of it, has not ended, while a validator holds one of its
    /// requirements, and, unless that is not wanted, while one has still to be judged.
    ///
    /// # Errors
    /// [`Error::Database`]; batches before stay deleted.
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

//! Jobs of a type that no live worker knows: they wait with a reason, and fail after a timeout.

use crate::{Error, Lease, Store, error::During};
use std::time::Duration;
use uuid::Uuid;

/// Jobs updated, or claimed in order to fail them, in one statement.
const BATCH: i64 = 1000;

/// A job whose wait for a worker that knows its type has timed out, held like a claimed one: fail it with
/// [`Store::reject`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownType {
    /// The lease that holds it.
    pub lease: Lease,
    /// The unknown job type.
    pub job_type: String,
}

/// Counts of live workers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Knowing {
    /// All live workers.
    pub live: i64,
    /// Those that know the given job type.
    pub knowing: i64,
    /// The error in its files, if a worker has them and cannot use them.
    pub broken: Option<String>,
}

impl Store {
    /// Records which types of waiting jobs no worker with a heartbeat younger than `lease_secs` claims, and sets the
    /// `status_reason` of their jobs, at most one batch; clears both for types that are known again. Returns whether a
    /// type has been unknown for `patience`; without `patience`, always false.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub async fn note_unknown_types(&self, lease_secs: u32, patience: Option<Duration>) -> Result<bool, Error> {
        let patience = patience.map(|patience| patience.as_secs_f64());
        sqlx::query_file_scalar!("queries/queue/note_unknown_types.sql", f64::from(lease_secs), BATCH, patience)
            .fetch_one(&self.pool)
            .await
            .during("look for unknown job types")
    }

    /// Claims jobs that have waited that long for a worker that knows their type; none for a worker that is not
    /// registered. Call it until none is left.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub async fn take_unknown(
        &self,
        worker_id: Uuid,
        patience: Duration,
        lease_secs: u32,
    ) -> Result<Vec<UnknownType>, Error> {
        let rows = sqlx::query_file!(
            "queries/queue/take_unknown.sql",
            worker_id,
            patience.as_secs_f64(),
            f64::from(lease_secs),
            BATCH
        )
        .fetch_all(&self.pool)
        .await
        .during("take jobs of unknown types")?;
        let unknown = |id, epoch, job_type| UnknownType { lease: Lease { job_id: id, epoch }, job_type };
        Ok(rows.into_iter().map(|row| unknown(row.id, row.lease_epoch, row.job_type)).collect())
    }

    /// The number of workers with a heartbeat younger than `lease_secs`, and how many of them know a job type.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub async fn workers_knowing(&self, job_type: &str, lease_secs: u32) -> Result<Knowing, Error> {
        sqlx::query_file_as!(Knowing, "queries/queue/type_known.sql", job_type, f64::from(lease_secs))
            .fetch_one(&self.pool)
            .await
            .during("look for workers that know the job type")
    }
}

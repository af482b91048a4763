//! Jobs of a type that no live worker knows: they wait with a reason, and fail after a time.

use crate::{Error, Lease, Store, error::During};
use std::time::Duration;
use uuid::Uuid;

/// Jobs that are told, or taken to be failed, in one statement.
const BATCH: i64 = 1000;

/// A job that has waited for its type to be known as long as it may, held like a claimed one: fail it with
/// [`Store::reject`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownType {
    /// Under which it is held.
    pub lease: Lease,
    /// What nobody knows.
    pub job_type: String,
}

/// How many workers live.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Knowing {
    /// All of them.
    pub live: i64,
    /// Those that know the job type in question.
    pub knowing: i64,
    /// What is wrong with its files, where a worker has them and cannot use them.
    pub broken: Option<String>,
}

impl Store {
    /// Takes down which types of waiting jobs no worker with a heartbeat younger than `lease_secs` claims, and tells their jobs
    /// why in `status_reason`, as many as one statement should; what is known again is taken back. Whether a type
    /// has been unknown for `patience`; never where there is none.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub async fn note_unknown_types(&self, lease_secs: u32, patience: Option<Duration>) -> Result<bool, Error> {
        let patience = patience.map(|patience| patience.as_secs_f64());
        sqlx::query_file_scalar!("queries/queue/note_unknown_types.sql", f64::from(lease_secs), BATCH, patience)
            .fetch_one(&self.pool)
            .await
            .during("look for job types that nobody knows")
    }

    /// Takes jobs that have waited so long for a worker that knows their type; none for a worker that is not registered.
    /// Call it until none is left.
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
        .during("take jobs whose type nobody knows")?;
        let unknown = |id, epoch, job_type| UnknownType { lease: Lease { job_id: id, epoch }, job_type };
        Ok(rows.into_iter().map(|row| unknown(row.id, row.lease_epoch, row.job_type)).collect())
    }

    /// How many workers with a heartbeat younger than `lease_secs` there are, and how many of them know a job type.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub async fn who_knows(&self, job_type: &str, lease_secs: u32) -> Result<Knowing, Error> {
        sqlx::query_file_as!(Knowing, "queries/queue/type_known.sql", job_type, f64::from(lease_secs))
            .fetch_one(&self.pool)
            .await
            .during("look for workers that know the job type")
    }
}

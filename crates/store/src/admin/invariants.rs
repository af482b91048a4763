//! Checks the invariants over the whole database in one statement: `queries/admin/invariants.sql`.

use crate::{Error, Store, error::During};
use serde::Serialize;
use std::time::Duration;
use uuid::Uuid;

/// A violated invariant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Violation {
    /// The invariant, with its number in the statement's comments.
    pub rule: String,
    /// The job with the violating rows.
    pub job_id: Uuid,
    /// What was found.
    pub found: String,
}

impl Store {
    /// All violations of the invariants that rows can show; empty if there are none. `grace` is how long a running job
    /// may be without a live worker: the lease and a sweep's interval.
    ///
    /// Reads every row of the database: for occasional checks, not for a probe.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub async fn invariants(&self, grace: Duration) -> Result<Vec<Violation>, Error> {
        let doing = "check the invariants";
        let mut tx = self.pool.begin().await.during(doing)?;
        // The only statement that runs better without indexes.
        sqlx::query("SET LOCAL enable_seqscan = on").execute(&mut *tx).await.during(doing)?;
        let found = sqlx::query_file_as!(Violation, "queries/admin/invariants.sql", grace.as_secs_f64())
            .fetch_all(&mut *tx)
            .await
            .during(doing)?;
        tx.commit().await.during(doing)?;
        Ok(found)
    }
}

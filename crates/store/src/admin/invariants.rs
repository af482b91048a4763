//! The invariants of all rows, checked over the whole database by one statement: `queries/admin/invariants.sql`.

use crate::{Error, Store, error::During};
use serde::Serialize;
use std::time::Duration;
use uuid::Uuid;

/// A broken rule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Violation {
    /// The rule, with the number under which the statement explains it.
    pub rule: String,
    /// Whose rows break it.
    pub job_id: Uuid,
    /// What was found.
    pub found: String,
}

impl Store {
    /// Every violation of the rules that rows can show; empty when all is well. `grace` is how long a running job may
    /// be without a live worker: the lease and a sweep's interval.
    ///
    /// Reads every row of the database: for a check now and then, not for a probe.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub async fn invariants(&self, grace: Duration) -> Result<Vec<Violation>, Error> {
        let doing = "check the invariants";
        let mut tx = self.pool.begin().await.during(doing)?;
        // The one statement that is better off without indexes.
        sqlx::query("SET LOCAL enable_seqscan = on").execute(&mut *tx).await.during(doing)?;
        let found = sqlx::query_file_as!(Violation, "queries/admin/invariants.sql", grace.as_secs_f64())
            .fetch_all(&mut *tx)
            .await
            .during(doing)?;
        tx.commit().await.during(doing)?;
        Ok(found)
    }
}

//! Forks: a new job from an earlier step of a job.

use crate::{Error, Store, admin::control::refused, error::During};
use uuid::Uuid;

impl Store {
    /// Makes a new pending job that continues from a checkpoint of any job, even a running one, and returns its id. The
    /// rows are copied as of that step; requests, cost and time are counted from zero.
    ///
    /// # Errors
    /// [`Error::Refused`] if there is no such job, or no state of that step: the message names the steps that have one.
    /// [`Error::Database`].
    pub async fn fork(&self, job_id: Uuid, step: i64) -> Result<Uuid, Error> {
        let answer = sqlx::query_file_scalar!("queries/admin/fork.sql", job_id, step).fetch_one(&self.pool).await;
        refused(answer, "fork the job")
    }

    /// As [`Self::fork`], without the job's settings: the worker that claims it resolves them as for a new job.
    ///
    /// # Errors
    /// As [`Self::fork`].
    pub async fn fork_with_new_settings(&self, job_id: Uuid, step: i64) -> Result<Uuid, Error> {
        let doing = "fork the job";
        let mut transaction = self.pool.begin().await.during(doing)?;
        let answer =
            sqlx::query_file_scalar!("queries/admin/fork.sql", job_id, step).fetch_one(&mut *transaction).await;
        let fork = refused(answer, doing)?;
        sqlx::query_file!("queries/admin/forget_settings.sql", fork).execute(&mut *transaction).await.during(doing)?;
        transaction.commit().await.during(doing)?;
        Ok(fork)
    }
}

//! The validator's side: a validator job claims requirements, looks up similar ones, and judges them.
//!
//! A claim is not part of a step: it locks rows at once against other validators, and repeating it returns the same
//! rows. The rows belong to the job, not to its worker; a trigger releases them when the job ends. A judgement is part
//! of a step.

use super::row::KnownRow;
use crate::{Error, Lease, Store, UserJson, bind::text, error::During};
use plumbline_engine::{Asked, HeldRequirement, KnownRequirement, Tally};
use uuid::Uuid;

impl Store {
    /// Up to `count` requirements for a validator job: the ones it holds first, then the oldest pending ones of the job
    /// it validates, or of all jobs if it is bound to none. `recheck`: rows that were accepted without a graph count as
    /// pending. `judged` are rows whose judgement is not committed yet. Empty if no row waits, or if the lease is lost,
    /// which the next step will notice.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub async fn claim_requirements(
        &self,
        lease: &Lease,
        count: i64,
        recheck: bool,
        judged: &[Uuid],
    ) -> Result<Vec<HeldRequirement>, Error> {
        let n = sqlx::query_file_scalar!(
            "queries/requirements/claim_requirements.sql",
            lease.job_id,
            lease.epoch,
            count,
            recheck,
            judged
        )
        .fetch_one(&self.pool)
        .await
        .during("claim requirements to validate")?;
        if n == 0 { Ok(Vec::new()) } else { self.held_requirements(lease.job_id, judged, n).await }
    }

    /// The requirements that a validator job holds, the oldest first, at most `limit`, without `judged`.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub async fn held_requirements(
        &self,
        job_id: Uuid,
        judged: &[Uuid],
        limit: i64,
    ) -> Result<Vec<HeldRequirement>, Error> {
        sqlx::query_file_as!(HeldRequirement, "queries/requirements/held_requirements.sql", job_id, judged, limit)
            .fetch_all(&self.pool)
            .await
            .during("read the requirements to validate")
    }

    /// The job whose requirements a job searches, and their number: its own, or for a validator those of the job that
    /// it validates, if it is bound to one.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub async fn recorded_requirements(&self, job_id: Uuid, is_validator: bool) -> Result<(Uuid, i64), Error> {
        let row = sqlx::query_file!("queries/requirements/recorded_requirements.sql", job_id, is_validator)
            .fetch_optional(&self.pool)
            .await
            .during("count the recorded requirements")?;
        Ok(row.map_or((job_id, 0), |row| (row.job_id, row.n)))
    }

    /// For each text, in its position: requirements that may be the same or similar, at most `limit`. The caller
    /// measures the similarity.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub async fn similar_requirements(
        &self,
        asked: &[Asked<'_>],
        limit: i64,
    ) -> Result<Vec<Vec<KnownRequirement>>, Error> {
        let jobs: Vec<Uuid> = asked.iter().map(|asked| asked.job_id).collect();
        let texts: Vec<String> = asked.iter().map(|asked| text(asked.text).into_owned()).collect();
        let before: Vec<Option<Uuid>> = asked.iter().map(|asked| asked.before).collect();
        let widely: Vec<bool> = asked.iter().map(|asked| asked.widely).collect();
        let rows = sqlx::query_file_as!(
            KnownRow,
            "queries/requirements/similar_requirements.sql",
            &jobs,
            &texts,
            &before as &[Option<Uuid>],
            limit,
            &widely
        )
        .fetch_all(&self.pool)
        .await
        .during("look for similar requirements")?;
        let mut similar: Vec<Vec<KnownRequirement>> = vec![Vec::new(); asked.len()];
        for row in rows {
            if let Some(found) = similar.get_mut(row.place()) {
                found.push(row.into());
            }
        }
        Ok(similar)
    }

    /// Releases the requirements that a validator job holds, except these: they are pending again.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub async fn release_requirements(&self, lease: &Lease, but: &[Uuid]) -> Result<(), Error> {
        sqlx::query_file!("queries/requirements/release_requirements.sql", lease.job_id, lease.epoch, but)
            .execute(&self.pool)
            .await
            .during("release requirements")?;
        Ok(())
    }

    /// A validator job's judgements, and the number of rows that it could still claim.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub async fn validation_tally(&self, job_id: Uuid, recheck: bool) -> Result<Tally, Error> {
        let rows = sqlx::query_file!("queries/requirements/validation_tally.sql", job_id, recheck)
            .fetch_all(&self.pool)
            .await
            .during("count the judged requirements")?;
        let mut tally = Tally::default();
        let count = |n: i64| u64::try_from(n).unwrap_or_default();
        for row in rows {
            let n = count(row.n);
            tally.by_rule += count(row.by_rule);
            match row.status.as_str() {
                "integrated" => tally.integrated += n,
                "rejected" => tally.rejected += n,
                "failed" => tally.failed += n,
                "waiting" => tally.waiting += n,
                _ => tally.accepted += n,
            }
            tally.reasons.extend(row.reason.map(|reason| (reason, n)));
        }
        Ok(tally)
    }

    /// The job that was enqueued when this one completed, if any.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub async fn child_job(&self, job_id: Uuid) -> Result<Option<Uuid>, Error> {
        sqlx::query_file_scalar!("queries/requirements/child_job.sql", job_id)
            .fetch_optional(&self.pool)
            .await
            .during("look for the follow-up job")
    }
}

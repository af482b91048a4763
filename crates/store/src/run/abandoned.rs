//! Requests abandoned before their answer: the provider may have worked on them and may charge for it.

use crate::{Error, Lease, Store, bind::text, error::During};
use plumbline_engine::RequestRecord;
use uuid::Uuid;

impl Store {
    /// Records one that was sent after `step`, regardless of who holds the job; the job's next claim adds it to its
    /// totals. No effect if the job is gone, or if a later step of this lease is committed, which records the request.
    ///
    /// # Errors
    /// [`Error::Database`].
    pub async fn note_abandoned(&self, lease: &Lease, step: i64, record: &RequestRecord) -> Result<(), Error> {
        let (model, error) = (text(&record.model), text(record.error.as_deref().unwrap_or_default()));
        sqlx::query_file!(
            "queries/run/note_abandoned.sql",
            lease.job_id,
            Uuid::now_v7(),
            model.as_ref(),
            record.purpose.as_str(),
            i64::from(record.prompt_tokens),
            record.duration_ms,
            record.attempt,
            error.as_ref(),
            record.failure_class.map(|class| class.as_str()),
            record.api.as_deref(),
            record.endpoint.as_deref(),
            record.fallback,
            record.cost_microusd,
            lease.epoch,
            step
        )
        .execute(&self.pool)
        .await
        .during("record an abandoned request")?;
        Ok(())
    }
}

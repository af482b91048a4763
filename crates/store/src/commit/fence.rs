//! The first statement of a step.

use super::{Commit, Committed, batch::Batch};
use crate::{Error, error::During, rows::text};
use plumbline_engine::PhaseKind;
use sqlx::PgConnection;

/// Advances the job's row if it is still ours, with the progress columns and totals.
pub(super) async fn fence(tx: &mut PgConnection, commit: &Commit<'_>, batch: &Batch<'_>) -> Result<Committed, Error> {
    let (progress, totals) = (commit.progress, &commit.state.totals);
    let phase_name = progress.phase_name.as_deref().map(text);
    let current_todo = progress.current_todo.as_deref().map(text);
    let taken = i32::try_from(batch.feedback_taken.len()).unwrap_or(i32::MAX);
    let row = sqlx::query_file!(
        "queries/fence.sql",
        commit.lease.job_id,
        commit.lease.epoch,
        commit.expected_step,
        progress.phase_number,
        progress.phase.map(PhaseKind::as_str),
        phase_name.as_deref(),
        progress.todos_done,
        progress.todos_total,
        current_todo.as_deref(),
        totals.requests,
        totals.tokens,
        totals.cached_tokens,
        totals.cost_microusd,
        taken,
    )
    .fetch_optional(tx)
    .await
    .during("begin a step")?
    .ok_or(Error::LeaseLost(commit.lease.job_id))?;
    Ok(Committed { step: row.step, feedback_pending: row.feedback_pending })
}

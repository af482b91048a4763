//! Approvals in a step: requested, dispatched once, and answered.

use crate::{
    Error,
    bind::{json, text},
    error::During,
};
use plumbline_engine::{ApprovalChange, AskedCall, CallOutcome};
use sqlx::PgConnection;
use uuid::Uuid;

/// Writes a step's approval changes in order.
///
/// # Errors
/// [`Error::DispatchRefused`] if a call about to be sent is no longer approved: nothing of the step may be written.
pub(super) async fn write(
    tx: &mut PgConnection,
    job_id: Uuid,
    step: i64,
    changes: &[ApprovalChange],
) -> Result<(), Error> {
    for change in changes {
        match change {
            ApprovalChange::Asked { calls, expires_s } => ask(tx, job_id, step, calls, *expires_s).await?,
            ApprovalChange::Executed { call_id, tool_sha256, arguments_sha256, edited_sha256 } => {
                let (tool, arguments) = (&tool_sha256[..], &arguments_sha256[..]);
                let edited = edited_sha256.as_ref().map(|digest| &digest[..]);
                sqlx::query_file!("queries/commit/execute_call.sql", job_id, call_id, step, tool, arguments, edited)
                    .fetch_optional(&mut *tx)
                    .await
                    .during("dispatch a call")?
                    .ok_or(Error::DispatchRefused(job_id))?;
            }
            ApprovalChange::Closed { call_id, reason } => {
                let reason = text(reason);
                sqlx::query_file!("queries/commit/close_call.sql", job_id, call_id, reason.as_ref())
                    .execute(&mut *tx)
                    .await
                    .during("close an approval")?;
            }
            ApprovalChange::Answered { call_id, outcome } => {
                sqlx::query_file!("queries/commit/answer_call.sql", job_id, call_id, word(*outcome))
                    .execute(&mut *tx)
                    .await
                    .during("record a call's outcome")?;
            }
        }
    }
    Ok(())
}

/// Requests approvals; calls with a grant are approved at once.
async fn ask(tx: &mut PgConnection, job_id: Uuid, step: i64, calls: &[AskedCall], expires_s: u64) -> Result<(), Error> {
    let ids: Vec<String> = calls.iter().map(|call| call.call_id.clone()).collect();
    let reason = "it is asked for again";
    sqlx::query_file!("queries/commit/void_calls.sql", job_id, &ids, reason)
        .execute(&mut *tx)
        .await
        .during("void an approval")?;
    sqlx::query_file!("queries/commit/ask_calls.sql", job_id, step, expires_s as f64, json(calls))
        .execute(&mut *tx)
        .await
        .during("ask for calls")?;
    sqlx::query_file!("queries/commit/use_grants.sql", job_id).execute(tx).await.during("use grants").map(drop)
}

fn word(outcome: CallOutcome) -> &'static str {
    match outcome {
        CallOutcome::Ok => "ok",
        CallOutcome::Error => "error",
        CallOutcome::InDoubt => "in doubt",
    }
}

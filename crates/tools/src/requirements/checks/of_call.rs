//! The context of a call of the validator's tools: the validation queue, and one of the job's claimed rows.

use super::claimed_rows::Checked;
use super::word;
use crate::error::ToolError;
use crate::requirements::validation_queue::ValidationQueue;
use crate::tool::ToolEnv;
use std::sync::Arc;
use uuid::Uuid;

/// The job's validation queue.
pub(crate) fn validation_queue<'a>(env: &ToolEnv<'a>) -> Result<&'a dyn ValidationQueue, ToolError> {
    env.ctx
        .validation_queue
        .ok_or_else(|| ToolError::refused("this job has no requirements to hand over or to validate"))
}

/// A requirement that this job holds, that a request has shown, and that is not judged in this turn: an unread one is not
/// judged.
pub(crate) async fn held(env: &ToolEnv<'_>, id: &str) -> Result<Arc<Checked>, ToolError> {
    let not_held = || {
        ToolError::refused(format!(
            "requirement {id} is not held by this job; next_requirement gives the ones that are, with their ids"
        ))
    };
    let id = id.trim();
    let judged = |row: &Uuid| {
        let verdict = word(*env.overlay.judged().get(row)?);
        Some(ToolError::refused(format!("requirement {id} was judged earlier in this turn: {verdict}")))
    };
    if let Some(refusal) = id.parse().ok().as_ref().and_then(judged) {
        return Err(refusal);
    }
    let mut rows = env.rows.of(validation_queue(env)?, id).await?;
    if rows.len() > 1 {
        return Err(ToolError::refused(format!(
            "requirement {id} is that of {} rows, from several jobs; give the `id` that next_requirement shows",
            rows.len()
        )));
    }
    let row = rows.pop().ok_or_else(not_held)?;
    match (judged(&row.row.id), env.ctx.given.shown(row.row.id)) {
        (Some(refusal), _) => Err(refusal),
        (None, Some(_)) => Ok(row),
        (None, None) => Err(ToolError::refused(format!(
            "requirement {id} has not been shown by a request yet; read what next_requirement gives, and judge it in a later answer"
        ))),
    }
}

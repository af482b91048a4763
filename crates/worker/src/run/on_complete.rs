//! `on_complete`: the follow-up job is enqueued in the transaction that completes this one, so that neither exists
//! without the other.

use plumbline_config::Resolved;
use plumbline_engine::{Change, JobExit};
use plumbline_store::NewJob;
use serde_json::{Value, json};
use uuid::Uuid;

/// The job to enqueue with these changes, if they complete the job and its configuration has a follow-up; `config` is
/// the row's. A job whose type records requirements but that has none (`hands_over`) has no validator as its follow-up.
pub(crate) fn next_job(
    job_id: Uuid,
    config: &Value,
    resolved: &Resolved,
    hands_over: bool,
    changes: &[Change],
) -> Option<NewJob> {
    let completes =
        hands_over && changes.iter().any(|change| matches!(change, Change::Exited(JobExit::Completed { .. })));
    let job_type = resolved.config.on_complete.enqueue.clone().filter(|_| completes)?;
    let mut next = NewJob::new(format!("Check and integrate the requirements of job {}.", job_id));
    next.idempotency_key = Some(format!("on_complete:{}", job_id));
    next.job_type = job_type;
    next.context = json!({ "parent_job_id": job_id });
    next.parent_job_id = Some(job_id);
    // The services set for this job also apply to its follow-up: it must use the same graph.
    if let Some(connections) = config.get("connections") {
        next.config = json!({ "connections": connections });
    }
    Some(next)
}

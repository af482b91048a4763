//! `plumbline approvals|approve-call|reject-call|edit-call|grant-calls`: what people decide on single calls; the SQL functions of
//! the same meaning.

use crate::{arguments::ApprovalsArguments, environment, error::Failure, job_ref::JobRef, output};
use plumbline_store::{ApprovalRow, ApprovalTool, CallDecision};
use plumbline_tools::approval::check_arguments;
use serde_json::Value;
use uuid::Uuid;

/// What waits, each with the statements that decide on it; of one job what was decided, too.
pub(crate) async fn list(ApprovalsArguments { job, json }: ApprovalsArguments) -> Result<u8, Failure> {
    let store = environment::store().await?;
    let job = match job {
        Some(job) => Some(job.find(&store).await?),
        None => None,
    };
    let rows = store.approvals(job).await?;
    if let (true, Some(job)) = (rows.is_empty(), job) {
        JobRef::must_exist(&store, job).await?;
    }
    if json {
        output::json(&rows)?;
        return Ok(0);
    }
    if rows.is_empty() {
        let of = job.map(|job| format!(" of job {job}")).unwrap_or_default();
        output::print(&format!("no call{of} waits for a decision"))?;
    }
    for row in &rows {
        output::print(&told(row))?;
    }
    Ok(0)
}

fn told(row: &ApprovalRow) -> String {
    let mut lines = vec![format!("{}  {} of job {}, {}", row.id, row.tool, row.job_id, row.state)];
    let time = |at: chrono::DateTime<chrono::Utc>| at.format("%Y-%m-%d %H:%M:%S UTC").to_string();
    lines.extend(row.shown.iter().map(|shown| format!("    arguments: {shown}")));
    lines.extend(row.edited_arguments.iter().map(|edited| format!("    changed to: {edited}")));
    let by = row.decided_by.as_ref().zip(row.decided_at);
    lines.extend(by.map(|(by, at)| format!("    decided by {by} at {}", time(at))));
    lines.extend(row.reason.iter().map(|reason| format!("    reason: {reason}")));
    lines.extend(row.outcome.iter().map(|outcome| format!("    outcome: {outcome}")));
    if row.state == "pending" {
        lines.push(format!("    asked for at {}, expires at {}", time(row.requested_at), time(row.expires_at)));
        lines
            .push(format!("    plumbline approve-call {id}, or plumbline reject-call {id} --reason TEXT", id = row.id));
    }
    lines.join("\n")
}

pub(crate) async fn approve(id: Uuid) -> Result<u8, Failure> {
    decide(id, CallDecision::Approve).await
}

pub(crate) async fn reject(id: Uuid, reason: String) -> Result<u8, Failure> {
    decide(id, CallDecision::Reject(reason)).await
}

/// The arguments are validated before the database is asked: a worker would only ask again for arguments that do not fit.
pub(crate) async fn edit(id: Uuid, arguments: &str) -> Result<u8, Failure> {
    let given: Value = serde_json::from_str(arguments).map_err(|error| {
        Failure::usage(format!("--arguments is not JSON ({error}); give one object, e.g. '{{\"url\": \"…\"}}'"))
    })?;
    let store = environment::store().await?;
    if let Some(ApprovalTool { name, schema }) = store.tool_of_approval(id).await? {
        check_arguments(&name, schema.as_ref(), arguments)
            .map_err(|why| Failure::usage(format!("call {id} of {name} cannot be made with these arguments: {why}")))?;
    }
    tell(id, &store.decide_call(id, &CallDecision::Edit(given)).await?)
}

pub(crate) async fn grant(job: &JobRef, tool: &str, count: i32) -> Result<u8, Failure> {
    let (store, job) = job.open().await?;
    let status = store.grant_calls(job, tool, count).await?;
    output::print(&format!("the next {count} calls of {tool} are approved; job {job} is {status}"))?;
    Ok(0)
}

async fn decide(id: Uuid, decision: CallDecision) -> Result<u8, Failure> {
    let store = environment::store().await?;
    tell(id, &store.decide_call(id, &decision).await?)
}

/// A call that has expired meanwhile is no longer to be decided on.
fn tell(id: Uuid, state: &str) -> Result<u8, Failure> {
    output::print(&format!("call {id} is {state}"))?;
    Ok(u8::from(state == "expired"))
}

//! How a job leaves its worker: the status it gets, and how its attempt ends.

use crate::{
    Error, Lease, details,
    error::During,
    rows::{json, text},
};
use chrono::{DateTime, Utc};
use plumbline_engine::{JobError, Leave};
use serde_json::Value;
use sqlx::PgConnection;

/// The columns a leave sets; what is none stays or becomes null.
struct Parting<'a> {
    status: &'static str,
    reason: Option<&'a str>,
    run_at: Option<DateTime<Utc>>,
    result: Option<&'a Value>,
    error: Option<&'a JobError>,
    attempt_outcome: &'static str,
}

impl<'a> Parting<'a> {
    fn of(leave: &'a Leave) -> Self {
        let ended =
            Self { status: "", reason: None, run_at: None, result: None, error: None, attempt_outcome: "ended" };
        match leave {
            Leave::Completed { result } => Self { status: "completed", result: Some(result), ..ended },
            Leave::Review { result, reason } => {
                Self { status: "review", result: Some(result), reason: Some(reason), ..ended }
            }
            Leave::Failed(error) => Self { status: "failed", error: Some(error), ..ended },
            Leave::Paused { reason } => Self { status: "paused", reason: Some(reason), ..ended },
            Leave::Parked { until, reason } => Self {
                status: "pending",
                run_at: Some(*until),
                reason: Some(reason),
                attempt_outcome: "released",
                ..ended
            },
        }
    }
}

/// Sets the status and closes the attempt. Says whether the job is where it wanted to go: feedback that arrived first
/// keeps it from ending or waiting for review.
pub(super) async fn leave(tx: &mut PgConnection, lease: Lease, leave: &Leave) -> Result<bool, Error> {
    let parting = Parting::of(leave);
    let reason = parting.reason.map(text);
    let message = parting.error.map(|error| text(&error.message));
    let row = sqlx::query_file!(
        "queries/leave.sql",
        lease.job_id,
        lease.epoch,
        parting.status,
        reason.as_deref(),
        parting.run_at,
        parting.result.map(json),
        message.as_deref(),
        parting.error.map(details::of),
        parting.attempt_outcome,
    )
    .fetch_optional(tx)
    .await
    .during("set the job's new status")?;
    Ok(row.is_some_and(|row| row.status == parting.status))
}

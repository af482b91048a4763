//! How a job leaves its worker: the status it gets, and how its attempt ends.

use super::Commit;
use crate::{
    Error,
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

/// Sets the status and closes the attempt.
pub(super) async fn leave(tx: &mut PgConnection, commit: &Commit<'_>, step: i64, leave: &Leave) -> Result<(), Error> {
    let parting = Parting::of(leave);
    let reason = parting.reason.map(text);
    let message = parting.error.map(|error| text(&error.message));
    sqlx::query_file!(
        "queries/leave.sql",
        commit.lease.job_id,
        commit.lease.epoch,
        parting.status,
        reason.as_deref(),
        parting.run_at,
        parting.result.map(json),
        message.as_deref(),
        parting.error.map(|error| json(&error.details)),
        parting.attempt_outcome,
    )
    .execute(&mut *tx)
    .await
    .during("set the job's new status")?;
    if let Leave::Completed { .. } = leave {
        let phase_number = commit.progress.phase_number;
        sqlx::query_file!("queries/abandon_staged.sql", commit.lease.job_id, phase_number, step)
            .execute(tx)
            .await
            .during("give up todos written ahead")?;
    }
    Ok(())
}

//! Exits of jobs from their worker: the new status of each, and the end of its attempt.

use crate::{Lease, bind::json, error_details};
use chrono::{DateTime, Utc};
use plumbline_engine::JobExit;
use serde::Serialize;
use serde_json::Value;
use sqlx::PgConnection;
use uuid::Uuid;

/// The columns that an exit sets, for `exit_jobs.sql`; a `None` leaves the column unchanged or null.
#[derive(Debug, Default, Serialize)]
pub(super) struct ExitRow {
    job_id: Uuid,
    lease_epoch: i64,
    status: &'static str,
    reason: Option<String>,
    run_at: Option<DateTime<Utc>>,
    result: Option<Value>,
    error: Option<String>,
    /// JSON text.
    details: Option<String>,
    attempt_outcome: &'static str,
    /// Whether its status depends on the approvals that it has requested.
    awaits_decision: bool,
}

impl ExitRow {
    pub(super) fn of(lease: Lease, leave: &JobExit) -> Self {
        let ended = |status| Self {
            job_id: lease.job_id,
            lease_epoch: lease.epoch,
            status,
            attempt_outcome: "ended",
            ..Self::default()
        };
        match leave {
            JobExit::Completed { result } => Self { result: Some(result.clone()), ..ended("completed") },
            JobExit::Review { result, reason } => {
                Self { result: Some(result.clone()), reason: Some(reason.clone()), ..ended("review") }
            }
            // The statement derives the reason from the rows.
            JobExit::AwaitsDecision { .. } => {
                Self { attempt_outcome: "released", awaits_decision: true, ..ended("review") }
            }
            JobExit::Failed(error) => {
                Self { error: Some(error.message.clone()), details: Some(error_details::of(error)), ..ended("failed") }
            }
            JobExit::Paused { reason } => Self { reason: Some(reason.clone()), ..ended("paused") },
            JobExit::Parked { until, reason } => Self {
                run_at: Some(*until),
                reason: Some(reason.clone()),
                attempt_outcome: "released",
                ..ended("pending")
            },
        }
    }
}

/// Sets the statuses and closes the attempts. Returns the jobs that reached their status: feedback that arrived first
/// prevents the end or the review.
pub(super) async fn exit(tx: &mut PgConnection, exits: &[&ExitRow]) -> Result<Vec<Uuid>, sqlx::Error> {
    let rows = sqlx::query_file!("queries/commit/exit_jobs.sql", json(exits)).fetch_all(tx).await?;
    let wanted = |id| exits.iter().find(|exit| exit.job_id == id).map(|exit| exit.status);
    Ok(rows.into_iter().filter(|row| wanted(row.id) == Some(&row.status)).map(|row| row.id).collect())
}

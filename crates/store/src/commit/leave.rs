//! How jobs leave their worker: the status that each gets, and how its attempt ends.

use crate::{
    Lease, details,
    rows::{json, text},
};
use chrono::{DateTime, Utc};
use plumbline_engine::Leave;
use sqlx::PgConnection;
use uuid::Uuid;

/// The columns a leave sets; what is none stays or becomes null.
#[derive(Debug)]
pub(super) struct Parting {
    lease: Lease,
    status: &'static str,
    reason: Option<String>,
    run_at: Option<DateTime<Utc>>,
    result: Option<String>,
    error: Option<String>,
    details: Option<String>,
    attempt_outcome: &'static str,
}

impl Parting {
    pub(super) fn of(lease: Lease, leave: &Leave) -> Self {
        let ended = |status| Self {
            lease,
            status,
            reason: None,
            run_at: None,
            result: None,
            error: None,
            details: None,
            attempt_outcome: "ended",
        };
        let said = |words: &str| Some(text(words).into_owned());
        match leave {
            Leave::Completed { result } => Self { result: Some(json(result)), ..ended("completed") },
            Leave::Review { result, reason } => {
                Self { result: Some(json(result)), reason: said(reason), ..ended("review") }
            }
            Leave::Failed(error) => {
                Self { error: said(&error.message), details: Some(details::of(error)), ..ended("failed") }
            }
            Leave::Paused { reason } => Self { reason: said(reason), ..ended("paused") },
            Leave::Parked { until, reason } => {
                Self { run_at: Some(*until), reason: said(reason), attempt_outcome: "released", ..ended("pending") }
            }
        }
    }

    pub(super) fn bytes(&self) -> usize {
        [&self.result, &self.error, &self.details].into_iter().flatten().map(String::len).sum()
    }
}

/// Sets the statuses and closes the attempts. Gives the jobs that are where they wanted to go: feedback that arrived
/// first keeps one from ending or waiting for review.
pub(super) async fn leave(tx: &mut PgConnection, leaving: &[&Parting]) -> Result<Vec<Uuid>, sqlx::Error> {
    let rows = sqlx::query_file!(
        "queries/leave.sql",
        &column(leaving, |parting| parting.lease.job_id),
        &column(leaving, |parting| parting.lease.epoch),
        &column(leaving, |parting| parting.status) as &[&str],
        &column(leaving, |parting| parting.reason.as_deref()) as &[Option<&str>],
        &column(leaving, |parting| parting.run_at) as &[Option<DateTime<Utc>>],
        &column(leaving, |parting| parting.result.as_deref()) as &[Option<&str>],
        &column(leaving, |parting| parting.error.as_deref()) as &[Option<&str>],
        &column(leaving, |parting| parting.details.as_deref()) as &[Option<&str>],
        &column(leaving, |parting| parting.attempt_outcome) as &[&str],
    )
    .fetch_all(tx)
    .await?;
    let wanted = |id| leaving.iter().find(|parting| parting.lease.job_id == id).map(|parting| parting.status);
    Ok(rows.into_iter().filter(|row| wanted(row.id) == Some(&row.status)).map(|row| row.id).collect())
}

fn column<'a, T>(leaving: &[&'a Parting], value: impl Fn(&'a Parting) -> T) -> Vec<T> {
    leaving.iter().map(|parting| value(parting)).collect()
}

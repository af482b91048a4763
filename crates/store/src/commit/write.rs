//! The statements that write what is new, each only where it has something to write.

use super::{Commit, batch::Batch, thinning};
use crate::{Error, error::During, rows::json};
use plumbline_engine::{PhaseKind, Todo};
use serde::Serialize;
use sqlx::PgConnection;
use uuid::Uuid;

/// How long a list that is put is; rows beyond belong to the list before.
#[derive(Serialize)]
struct ListLength {
    phase_number: i32,
    length: i32,
}

/// A row of `todos`.
#[derive(Serialize)]
struct TodoRow<'a> {
    phase_number: i32,
    #[serde(flatten)]
    todo: &'a Todo,
}

/// Conversation, requests, feedback taken in, checkpoint: what every step has.
pub(super) async fn record(
    tx: &mut PgConnection,
    commit: &Commit<'_>,
    step: i64,
    batch: &Batch<'_>,
) -> Result<(), Error> {
    sqlx::query_file!(
        "queries/record.sql",
        commit.lease.job_id,
        step,
        json(&batch.messages),
        &batch.cleared,
        json(&batch.requests),
        &batch.feedback_taken,
        commit.progress.phase_number,
        commit.progress.phase.map(PhaseKind::as_str),
        json(commit.state),
        commit.lease.epoch,
        thinning::given_up_at(step),
    )
    .execute(tx)
    .await
    .during("write the conversation and the checkpoint")?;
    Ok(())
}

/// Phases and todos.
pub(super) async fn plan(tx: &mut PgConnection, job_id: Uuid, step: i64, batch: &Batch<'_>) -> Result<(), Error> {
    if batch.opened.is_empty() && batch.closed.is_empty() && batch.lists.is_empty() && batch.moved.is_empty() {
        return Ok(());
    }
    let todos: Vec<TodoRow<'_>> = batch
        .lists
        .iter()
        .flat_map(|(&phase_number, list)| list.iter().map(move |todo| TodoRow { phase_number, todo }))
        .collect();
    let lengths: Vec<ListLength> = batch
        .lists
        .iter()
        .map(|(&phase_number, list)| ListLength {
            phase_number,
            length: list.iter().map(|todo| todo.position).max().unwrap_or(0),
        })
        .collect();
    sqlx::query_file!(
        "queries/plan.sql",
        job_id,
        step,
        json(&batch.opened),
        json(&batch.closed),
        json(&lengths),
        json(&todos),
        json(&batch.moved),
    )
    .execute(tx)
    .await
    .during("write phases and todos")?;
    Ok(())
}

/// Sources, citations, requirements.
pub(super) async fn findings(tx: &mut PgConnection, job_id: Uuid, step: i64, batch: &Batch<'_>) -> Result<(), Error> {
    if batch.sources.is_empty() && batch.citations.is_empty() && batch.requirements.is_empty() {
        return Ok(());
    }
    let sources: Vec<_> = batch.sources.values().collect();
    sqlx::query_file!(
        "queries/findings.sql",
        job_id,
        step,
        json(&sources),
        json(&batch.citations),
        json(&batch.requirements),
    )
    .execute(tx)
    .await
    .during("write sources, citations and requirements")?;
    Ok(())
}

//! The statement that is a step: the fence, and what nearly every step has to write.

use super::{Commit, Committed, batch::Batch, workspace::Versions};
use crate::rows::{json, text};
use plumbline_engine::PhaseKind;
use sqlx::PgConnection;
use std::borrow::Cow;

/// Executes `step.sql`. `None`: the fence touched no row, so nothing was written.
pub(super) async fn write(
    connection: &mut PgConnection,
    commit: &Commit<'_>,
    batch: &Batch<'_>,
    files: &Versions<'_>,
) -> Result<Option<Committed>, sqlx::Error> {
    let (progress, totals) = (commit.progress, &commit.state.totals);
    let phase_name = progress.phase_name.as_deref().map(text);
    let current_todo = progress.current_todo.as_deref().map(text);
    let todos = MovedColumns::of(batch);
    let row = sqlx::query_file!(
        "queries/step.sql",
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
        i32::try_from(batch.feedback_taken.len()).unwrap_or(i32::MAX),
        json(&batch.messages),
        json(&batch.requests),
        &files.paths,
        &files.contents as &[Option<Vec<u8>>],
        &files.placeholders,
        &todos.phase_numbers,
        &todos.positions,
        &todos.statuses as &[&str],
        &todos.notes as &[Option<Cow<'_, str>>],
        json(commit.state),
    )
    .fetch_optional(connection)
    .await?;
    Ok(row.map(|row| Committed { step: row.step, feedback_pending: row.feedback_pending }))
}

/// Todos with another status, a column each: arrays cost the server less than JSON.
#[derive(Default)]
struct MovedColumns<'a> {
    phase_numbers: Vec<i32>,
    positions: Vec<i32>,
    statuses: Vec<&'static str>,
    notes: Vec<Option<Cow<'a, str>>>,
}

impl<'a> MovedColumns<'a> {
    fn of(batch: &Batch<'a>) -> Self {
        let mut columns = Self::default();
        for todo in &batch.moved {
            columns.phase_numbers.push(todo.phase_number);
            columns.positions.push(todo.position);
            columns.statuses.push(todo.status.as_str());
            columns.notes.push(todo.notes.map(text));
        }
        columns
    }
}

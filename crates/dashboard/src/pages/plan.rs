//! The plan and every todo of every phase.

use super::Head;
use crate::{
    pages::{error::PageError, markdown},
    server::Shared,
};
use axum::{
    extract::{Path, State},
    response::Html,
};
use plumbline_store::{PhaseLine, TodoRow};
use serde::Serialize;
use serde_json::json;

/// The plan's file.
const PLAN: &str = "main_plan.md";
/// Maximum bytes shown.
const SHOWN: i32 = 65_536;
/// Phases shown.
const PHASES: i64 = 60;

#[derive(Serialize)]
struct PhaseTodos {
    phase: Option<PhaseLine>,
    number: i32,
    todos: Vec<TodoRow>,
}

/// `/jobs/{id}/plan`.
pub(crate) async fn show(State(state): Shared, Path(id): Path<String>) -> Result<Html<String>, PageError> {
    let head = Head::of(&state, &id, "plan").await?;
    let plan = state.store.file_part(head.job.id, PLAN, 0, SHOWN).await?;
    let plan = plan.map(|part| markdown::html(&String::from_utf8_lossy(&part.part), head.job.id, PLAN));
    let phases = state.store.phase_lines(head.job.id, PHASES).await?;
    let oldest = phases.iter().map(|phase| phase.phase_number).min().unwrap_or(0);
    let lists = lists(&phases, &state.store.todos_from(head.job.id, oldest).await?);
    state.renderer.page("plan.html", json!({ "head": head, "plan": plan, "lists": lists }))
}

/// Newest phase first; todos written in advance come before it.
fn lists(phases: &[PhaseLine], todos: &[TodoRow]) -> Vec<PhaseTodos> {
    let lists = todos.chunk_by(|one, next| one.phase_number == next.phase_number).rev();
    lists
        .map(|todos| {
            let number = todos[0].phase_number;
            let phase = phases.iter().find(|phase| phase.phase_number == number).cloned();
            PhaseTodos { phase, number, todos: todos.to_vec() }
        })
        .collect()
}

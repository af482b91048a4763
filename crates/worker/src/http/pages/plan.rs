//! The plan and every todo of every phase.

use super::Head;
use crate::http::{failure::Failure, server::Shared};
use axum::{
    extract::{Path, State},
    response::Html,
};
use plumbline_store::{PhaseLine, TodoRow};
use serde::Serialize;
use serde_json::json;

/// The plan's file.
const PLAN: &str = "main_plan.md";
/// Bytes of it that are shown.
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
pub(in crate::http) async fn show(State(site): Shared, Path(id): Path<String>) -> Result<Html<String>, Failure> {
    let head = Head::of(&site, &id, "plan").await?;
    let plan = site.store.file_part(head.job.id, PLAN, 0, SHOWN).await?;
    let plan = plan.map(|part| String::from_utf8_lossy(&part.part).into_owned());
    let phases = site.store.phase_lines(head.job.id, PHASES).await?;
    let lists = lists(phases, site.store.todos_of(head.job.id).await?);
    site.renderer.page("plan.html", json!({ "head": head, "plan": plan, "lists": lists }))
}

/// Newest phase first; todos written ahead stand before it.
fn lists(phases: Vec<PhaseLine>, todos: Vec<TodoRow>) -> Vec<PhaseTodos> {
    let mut numbers: Vec<i32> = todos.iter().map(|todo| todo.phase_number).collect();
    numbers.dedup();
    let oldest = phases.iter().map(|phase| phase.phase_number).min().unwrap_or(0);
    let shown = numbers.into_iter().rev().filter(|number| *number >= oldest);
    shown
        .map(|number| PhaseTodos {
            phase: phases.iter().find(|phase| phase.phase_number == number).cloned(),
            number,
            todos: todos.iter().filter(|todo| todo.phase_number == number).cloned().collect(),
        })
        .collect()
}

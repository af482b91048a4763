//! Closing todos. Closing the last one ends the phase, if what must exist by then exists; if not, the refusal is the
//! result of this very call and the todo stays open (lesson 21).

use super::{Answer, arguments};
use crate::{
    Change, FileWrite, Handler, PhaseKind, Phases, Product, Replay, Run, TodoStatus, ToolSpec, apply::Consequence,
    boundary::Next,
};
use serde_json::{Map, Value, json};

/// How `progress.md` begins: with real text, so that whether it is a placeholder never depends on later, short lines.
const PROGRESS_HEAD: &str = "# Progress\n\nEvery closed todo, in the order of closing.\n";

pub(super) fn specs() -> Vec<ToolSpec> {
    let notes =
        json!({"type": "string", "description": "What was done and where the result is, in one or two sentences."});
    vec![
        ToolSpec {
            name: "todo_complete",
            phases: Phases::Both,
            description: "Close the current todo (the one marked CURRENT) once its work is done.".into(),
            parameters: json!({"type": "object", "properties": {"notes": notes}, "additionalProperties": false}).into(),
            documentation: "Closes the first open todo of the active list. Closing the last one ends the phase: a \
                            tactical phase is archived and a strategic one follows; a strategic phase ends only when \
                            the todos of the next phase have been written.\n\nExamples: `{}` · `{\"notes\": \
                            \"Recorded 14 requirements from pages 3-5; see candidates/phase_2.md\"}`"
                .into(),
            handler: Handler::Engine,
            replay: Replay::Safe,
            reads_only: false,
        },
        ToolSpec {
            name: "complete_task",
            phases: Phases::Both,
            description: "Older name of todo_complete.".into(),
            parameters: json!({"type": "object", "properties": {
                "task_number": {"type": "integer", "description": "Number of the current todo."}, "notes": notes}, "additionalProperties": false}).into(),
            documentation: "The same as `todo_complete`. With `task_number` it is refused unless that todo is the \
                            current one: todos are worked in order.\n\nExample: `{\"task_number\": 3}`"
                .into(),
            handler: Handler::Engine,
            replay: Replay::Safe,
            reads_only: false,
        },
        ToolSpec {
            name: "get_progress",
            phases: Phases::Both,
            description: "How many todos of the phase are done, and which is current.".into(),
            parameters: json!({"type": "object", "properties": {}, "additionalProperties": false}).into(),
            documentation: "Shows x of y todos, the current one, the phase and the number of requests so far. The \
                            active todo list in every request says the same.\n\nExample: `{}`"
                .into(),
            handler: Handler::Engine,
            replay: Replay::Safe,
            reads_only: true,
        },
    ]
}

pub(super) fn complete(run: &mut Run, arguments: &Map<String, Value>, consequence: &mut Consequence) -> Answer {
    let notes = arguments::optional_text(arguments, "notes")?;
    let wanted = arguments::optional_number(arguments, "task_number")?;
    let Some(current) = run.current_todo().cloned() else {
        return Err("every todo of this phase is closed already.".into());
    };
    if let Some(wanted) = wanted.filter(|wanted| *wanted != i64::from(current.position)) {
        return Err(format!(
            "todo {wanted} is not the current one: todos are worked in order, and todo {} ('{}') is current.",
            current.position, current.content
        ));
    }
    let remaining = run.todos.iter().filter(|todo| todo.status.is_open()).count() - 1;
    if remaining == 0 {
        *consequence = Consequence::NextPhase(what_follows(run, current.position)?);
    }
    close(run, current.position, notes.clone());
    note_progress(run, &current.content, notes.as_deref());
    let mut text = format!("Task {} '{}' marked complete. {}", current.position, current.content, left(remaining));
    if remaining == 0 {
        text.push_str(" The phase is complete; the next one begins.");
    }
    Ok(text)
}

fn left(remaining: usize) -> String {
    if remaining == 1 { "1 task remaining.".into() } else { format!("{remaining} tasks remaining.") }
}

fn what_follows(run: &Run, position: i32) -> Result<Next, String> {
    match run.state.phase.kind {
        PhaseKind::Tactical => Ok(Next::after_tactical(run)),
        PhaseKind::Strategic => Next::tactical(run).ok_or_else(|| {
            format!(
                "todo {position} stays open: this phase ends when the todos of the next one are written with \
                 todo_write ({} to {} of them), or with job_complete when nothing is left to do.",
                run.settings.phases.min_todos, run.settings.phases.max_todos
            )
        }),
    }
}

fn close(run: &mut Run, position: i32, notes: Option<String>) {
    move_todo(run, position, TodoStatus::Completed, notes);
    if let Some(next) = run.current_todo().map(|todo| todo.position) {
        move_todo(run, next, TodoStatus::InProgress, None);
    }
    let guards = &mut run.state.guards;
    guards.compactions_of_todo = 0;
    // Not by the todos of the re-planning itself, nor by one that was closed without any work.
    if run.state.phase.kind == PhaseKind::Tactical && guards.phase_has_results {
        guards.forced_replans = 0;
    }
    guards.repeats.clear();
}

pub(crate) fn move_todo(run: &mut Run, position: i32, status: TodoStatus, notes: Option<String>) {
    if let Some(todo) = run.todos.iter_mut().find(|todo| todo.position == position) {
        todo.status = status;
        todo.notes = notes.clone();
    }
    let phase_number = run.state.phase.number;
    run.pending.push(Change::TodoMoved { phase_number, position, status, notes });
}

fn note_progress(run: &mut Run, content: &str, notes: Option<&str>) {
    let phase = &run.state.phase;
    let heading = if run.todos.iter().filter(|todo| !todo.status.is_open()).count() == 1 {
        format!("\n## Phase {} ({}): {}\n", phase.number, phase.kind.as_str(), phase.name)
    } else {
        String::new()
    };
    let begin = if run.files.contains_key("progress.md") { "" } else { PROGRESS_HEAD };
    let notes = notes.map(|notes| format!(" — {}", notes.replace('\n', " "))).unwrap_or_default();
    let text = format!("{begin}{heading}- {}{notes}\n", content.replace('\n', " "));
    run.produce(added_to_progress(run, text));
}

/// The file with one entry more. Whole where its text is at hand, because what is added to a file is read from the rows
/// first, by the step and once more by the mirror; not where the text is no faithful copy of the file's bytes.
fn added_to_progress(run: &Run, text: String) -> Product {
    let known = &run.memory.progress;
    let faithful = !known.contains(char::REPLACEMENT_CHARACTER);
    match run.files.get("progress.md") {
        Some(facts) if !faithful || facts.size != known.len() as u64 => {
            Product::AppendFile { path: "progress.md".into(), text }
        }
        Some(_) | None => Product::WriteFile(FileWrite::text("progress.md", format!("{known}{text}"))),
    }
}

pub(super) fn progress(run: &Run) -> String {
    let progress = run.progress();
    let current = run
        .current_todo()
        .map_or_else(|| "no todo is open".to_string(), |todo| format!("current: {}. {}", todo.position, todo.content));
    format!(
        "Phase {} ({}): {}\n{} of {} todos complete, {current}\n{} model requests so far, {} requirements recorded",
        progress.phase_number,
        run.state.phase.kind.as_str(),
        run.state.phase.name,
        progress.todos_done,
        progress.todos_total,
        run.state.totals.requests,
        run.requirements
    )
}

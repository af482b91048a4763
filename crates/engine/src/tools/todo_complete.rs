//! The tools that close todos, and show how many are closed.

use super::{Decision, Deed, OwnTool, arguments::whole};
use crate::{Check, PassageState, PhaseKind, Phases, Run};
use schemars::JsonSchema;
use serde::Deserialize;

/// Closes the first open todo of the active list. Closing the last one ends the phase: a tactical phase is archived and a
/// strategic one follows; a strategic phase ends only when the todos of the next phase have been written. Todos need
/// evidence: while fewer things came of the phase (requirements recorded or judged, passages read or answered, new files,
/// texts shown for the first time) than todos are closed in it, the first closing is refused, and later ones are on
/// record. The answer counts what was recorded and written since the todo became current. `complete_task` is the same
/// tool under its older name.
///
/// {arguments}
///
/// Examples: `{}` · `{"notes": "Pages 3-5 read; 14 findings, the table on page 4 is unclear"}`
#[derive(Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(super) struct TodoComplete {
    /// # What was done and where the result is, in one or two sentences.
    notes: Option<String>,
    /// Of a call by the older name, where only this one is bound.
    #[schemars(skip)]
    #[serde(default, deserialize_with = "whole")]
    task_number: Option<i64>,
}

impl OwnTool for TodoComplete {
    const NAME: &str = "todo_complete";
    const PHASES: Phases = Phases::Both;
    const DESCRIPTION: &str = "Close the current todo (the one marked CURRENT) once its work is done.";

    fn decide(self, _: &Run) -> Decision {
        Ok(Deed::CompleteTodo { wanted: self.task_number, notes: self.notes })
    }
}

/// The same as `todo_complete`. With `task_number` it is refused unless that todo is the current one: todos are worked in
/// order.
///
/// {arguments}
///
/// Example: `{"task_number": 3}`
#[derive(Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(super) struct CompleteTask {
    /// # What was done and where the result is, in one or two sentences.
    notes: Option<String>,
    /// # Number of the current todo.
    #[serde(default, deserialize_with = "whole")]
    task_number: Option<i64>,
}

impl OwnTool for CompleteTask {
    const NAME: &str = "complete_task";
    const PHASES: Phases = Phases::Both;
    const DESCRIPTION: &str = "Older name of todo_complete.";

    fn decide(self, _: &Run) -> Decision {
        Ok(Deed::CompleteTodo { wanted: self.task_number, notes: self.notes })
    }
}

/// Shows x of y todos, the current one, the phase, the time and the number of requests so far. The active todo list in
/// every request says the same.
///
/// Example: `{}`
#[derive(Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(super) struct GetProgress {}

impl OwnTool for GetProgress {
    const NAME: &str = "get_progress";
    const PHASES: Phases = Phases::Both;
    const DESCRIPTION: &str = "How many todos of the phase are done, and which is current.";
    const READS_ONLY: bool = true;

    fn decide(self, run: &Run) -> Decision {
        Ok(Deed::Answer(progress(run)))
    }
}

/// What is read before the closing of a todo that will be refused for unread passages: the first of them, whose text
/// the refusal contains.
pub(super) fn check(run: &Run) -> Option<Check> {
    let current = run.todos().current().filter(|_| holds_todos_to_passages(run))?;
    let is_refused = run.state().work.asked_passages.is_none_or(|asked| asked >= run.state().answer_at_hand());
    let unread = run.ledger().open_of(current).find(|passage| passage.state == PassageState::Unread);
    let unread = unread.filter(|_| is_refused)?;
    Some(Check::Passage { number: unread.number, path: unread.chunk_path.clone()? })
}

/// Whether the first attempt to close a todo is refused while passages that it names are open.
pub(crate) fn holds_todos_to_passages(run: &Run) -> bool {
    run.settings().coverage.is_some() && run.state().phase.kind == PhaseKind::Tactical
}

fn progress(run: &Run) -> String {
    let progress = run.progress();
    let current = run
        .todos()
        .current()
        .map_or_else(|| "no todo is open".to_string(), |todo| format!("current: {}. {}", todo.position, todo.content));
    let phase = &run.state().phase;
    let elapsed = match run.state().elapsed_s {
        seconds @ 0..60 => format!("{seconds} s"),
        _ => run.state().elapsed(),
    };
    let recorded = match run.ledger().standing().count() {
        0 => String::new(),
        count => format!(", {count} requirements recorded"),
    };
    format!(
        "{}: {}\n{} of {} todos complete, {current}\n{elapsed} elapsed, {} model requests so far{recorded}",
        run.state().phase.which(run.workspace().planned()),
        phase.name,
        progress.todos_done,
        progress.todos_total,
        run.state().totals.requests,
    )
}

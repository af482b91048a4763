//! Phase transitions: a phase is closed and archived, the next one opens with new todos, a new system prompt and an
//! opening for orientation. New todos exist before the old conversation is dropped.

use super::{close_todo::close_answered, error_file, leave};
use crate::{
    Autonomy, Change, FileWrite, HistoryAtBoundary, JobError, JobExit, MessageKind, NextPhase, Opening, PhaseEffects,
    PhaseKind, PhaseOutcome, PlannedTodo, Product, Run, Stage, TodoPlan, Work, Worked,
    phase::{
        SystemTodos,
        archive::{self, Archive},
        opening, workspace_summary,
    },
    run::{Workspace, request::system_text},
};
use chrono::{DateTime, Utc};
use serde_json::json;

/// The view of the list written for a phase.
const TODOS: &str = "todos.yaml";

/// Closes the current phase and returns the note for the opening of the next one.
pub(super) fn close_phase(run: &mut Run, outcome: PhaseOutcome, issue: Option<&str>) -> String {
    let number = run.state().phase.number;
    let (todos, step) = run.todos_mut();
    todos.abandon_open(step);
    let text = Archive::of(&run.state().phase, run.todos(), outcome.as_str(), issue).render();
    if run.settings().phases.archive_on_transition {
        run.record_product(archived(number, text.clone()));
    }
    run.push(Change::PhaseClosed { number, outcome });
    if run.state().phase.kind == PhaseKind::Tactical {
        run.state_mut().worked = Some(Worked::of(&run.state().phase, run.todos(), outcome, issue));
        let summary = workspace_summary::render(run);
        run.record_product(Product::WriteFile(FileWrite::text("workspace_summary.md", summary)));
    }
    if let Some(drop) = obsolete_list(run.workspace()).filter(|_| outcome != PhaseOutcome::Completed) {
        run.record_product(drop);
    }
    text
}

fn archived(number: i32, text: String) -> Product {
    Product::WriteFile(FileWrite::text(format!("archive/phase_{number}.yaml"), text))
}

/// Deletes `todos.yaml`, whose list is obsolete: abandoned, or never begun. The archive keeps it.
pub(super) fn obsolete_list(workspace: &Workspace) -> Option<Product> {
    workspace.files().contains_key(TODOS).then(|| Product::DeleteFile { path: TODOS.into() })
}

/// Written when the job fails in the middle of a phase: the phase's record, which stays open for a retry, and the
/// reason, for readers of the folder.
pub(super) fn files_of_failure(run: &Run, error: &JobError) -> Vec<Product> {
    let phase = &run.state().phase;
    let is_archived = phase.number > 0 && run.settings().phases.archive_on_transition;
    let archive = || Archive::of(phase, run.todos(), "failed", Some(&error.message)).render();
    let archived = is_archived.then(|| archived(phase.number, archive()));
    let reason = Product::WriteFile(FileWrite::text(error_file::PATH, error_file::render(run, error)));
    archived.into_iter().chain(obsolete_list(run.workspace())).chain([reason]).collect()
}

/// The job fails at the end of a phase, in which no work is left: a retry finds a new phase, with open todos and
/// the reason. The model did not abandon that phase; its rewind count restarts, because a person has looked at
/// the job.
pub(super) fn fail_at_the_end(run: &mut Run, error: JobError, now: DateTime<Utc>) {
    files_of_failure(run, &error).into_iter().for_each(|product| run.record_product(product));
    let outcome = PhaseOutcome::Forced;
    let note = Archive::of(&run.state().phase, run.todos(), outcome.as_str(), Some(&error.message)).render();
    run.push(Change::PhaseClosed { number: run.state().phase.number, outcome });
    run.state_mut().guards.forget_rewinds();
    let next = NextPhase { failed: Some(error.message.clone()), ..NextPhase::strategic(Opening::Rewound) };
    open_phase(run, next, Some(note), now);
    run.leave(JobExit::Failed(error));
}

/// The job continues after a failure: what was written about the failure is obsolete.
pub(super) fn files_after_failure(run: &Run) -> Vec<Product> {
    let has = |path| run.workspace().files().contains_key(path);
    if !has(error_file::PATH) {
        return Vec::new();
    }
    let mut files = vec![Product::DeleteFile { path: error_file::PATH.into() }];
    let phase = &run.state().phase;
    if phase.kind == PhaseKind::Tactical && !has(TODOS) {
        let todos = run.todos().iter().map(PlannedTodo::from).collect();
        let plan = TodoPlan { phase: phase.name.clone(), description: phase.description.clone(), todos };
        files.push(Product::WriteFile(FileWrite::text(TODOS, archive::todo_plan(&plan))));
    }
    files
}

/// The phase has ended: the next one opens, unless the job makes no progress.
pub(super) fn advance_phase(run: &mut Run, next: NextPhase, now: DateTime<Utc>) {
    let outcome = if next.issue.is_some() { PhaseOutcome::Rewound } else { PhaseOutcome::Completed };
    let has_effect = run.state().effects.so_far(run.ledger()) > 0;
    let list = (!has_effect).then(|| run.todos().fingerprint());
    let state = run.state_mut();
    if state.guards.note_ended_phase(outcome, state.phase.kind, list) {
        state.phase.completed += 1;
        if has_effect || state.guards.planned_by_effect == 0 {
            state.guards.planned_by_effect = state.phase.planned;
        }
    }
    let note = close_phase(run, outcome, next.issue.as_deref());
    let guards = &mut run.state_mut().guards;
    let without_progress = guards.ends_without_progress().map(|reason| ("no_progress", reason));
    let end = without_progress.or_else(|| guards.is_stuck().map(|reason| ("stuck", reason)));
    match (end, run.settings().autonomy) {
        (None, _) => open_phase(run, next, Some(note), now),
        (Some((_, reason)), Autonomy::Review) => {
            let result = json!({"summary": reason, "deliverables": [], "undelivered": [reason], "confidence": 0.0, "notes": null});
            run.state_mut().stage = Stage::Review { result: result.clone() };
            run.leave(JobExit::Review { result, reason });
        }
        // A retry continues with the next phase.
        (Some((kind, reason)), Autonomy::Full) => {
            open_phase(run, NextPhase { failed: Some(reason.clone()), ..next }, Some(note), now);
            leave(run, JobExit::Failed(JobError::new(kind, reason)));
        }
    }
}

/// Opens a phase. `note` is the archive note of the previous one.
pub(super) fn open_phase(run: &mut Run, next: NextPhase, note: Option<String>, now: DateTime<Utc>) {
    restore_primary_model(run);
    let state = run.state_mut();
    let staged = state.staged.take();
    state.phase.advance(&next, staged);
    let (number, kind, name) = (state.phase.number, state.phase.kind, state.phase.name.clone());
    run.push(Change::PhaseOpened { number, kind, name });
    // Todos written for a phase that will not come are replaced by the system's own.
    let own = (kind == PhaseKind::Strategic).then(|| SystemTodos::of(run).opened());
    let (todos, step) = run.todos_mut();
    todos.begin(step, number, own);
    let effects = PhaseEffects::begin(run.ledger(), next.opening);
    let state = run.state_mut();
    (state.work, state.effects) = (Work::default(), effects);
    let closed = close_answered(run);
    let system = system_text(run, now);
    let system_seq = run.say(MessageKind::System, system);
    let left_out = run.state_mut().take_left_out();
    let opening = opening::opening(run, &next, &closed, left_out, note.as_deref());
    run.state_mut().shows_untrusted |= opening::shows_documents(run);
    let opening_seq = run.say(MessageKind::Opening, opening);
    let is_kept = run.settings().phases.history_at_boundary == HistoryAtBoundary::Compact;
    run.conversation_mut().0.begin_phase(system_seq, opening_seq, is_kept);
    let begins_at = run.conversation().window().tail_from;
    let state = run.state_mut();
    state.given.begin_at(begins_at);
    state.guards.begin_phase();
}

/// Returns to the job's own model.
pub(super) fn restore_primary_model(run: &mut Run) {
    if run.state_mut().fallback.take().is_some() {
        run.conversation_mut().0.forget_anchor();
    }
}

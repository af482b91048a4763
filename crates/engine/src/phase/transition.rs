//! Phase transitions: a phase is closed and archived, the next one opens with new todos, a new system prompt and an
//! opening for orientation. New todos exist before the old conversation is dropped.

use crate::{
    Autonomy, Change, FileWrite, HistoryAtBoundary, JobError, JobExit, MessageKind, Opening, PhaseEffects, PhaseKind,
    PhaseOutcome, PlannedTodo, Product, Run, Stage, TodoPlan, Work, Worked,
    phase::{
        SystemTodos,
        archive::{self, Archive},
        close_answered,
        next_phase::NextPhase,
        opening, workspace_summary,
    },
    transition::error_file,
};
use chrono::{DateTime, Utc};
use serde_json::json;

/// The view of the list written for a phase.
const TODOS: &str = "todos.yaml";

/// Closes the current phase and returns the note for the opening of the next one.
pub(crate) fn close_phase(run: &mut Run, outcome: PhaseOutcome, issue: Option<&str>) -> String {
    let number = run.state.phase.number;
    run.todos.abandon_open(&mut run.step);
    let text = Archive::of(&run.state.phase, &run.todos, outcome.as_str(), issue).render();
    if run.settings.phases.archive_on_transition {
        let path = format!("archive/phase_{number}.yaml");
        run.record_product(Product::WriteFile(FileWrite::text(path, text.clone())));
    }
    run.step.push(Change::PhaseClosed { number, outcome });
    if run.state.phase.kind == PhaseKind::Tactical {
        run.state.worked = Some(Worked::of(&run.state.phase, &run.todos, outcome, issue));
        let summary = workspace_summary::render(run);
        run.record_product(Product::WriteFile(FileWrite::text("workspace_summary.md", summary)));
    }
    if outcome != PhaseOutcome::Completed {
        drop_todo_file(run);
    }
    text
}

/// Deletes `todos.yaml` if its list is obsolete: abandoned, or never begun. The archive keeps it.
pub(crate) fn drop_todo_file(run: &mut Run) {
    if run.workspace.files().contains_key(TODOS) {
        run.record_product(Product::DeleteFile { path: TODOS.into() });
    }
}

/// Written when the job fails in the middle of a phase: the phase's record, which stays open for a retry, and the
/// reason, for readers of the folder.
pub(crate) fn record_failure(run: &mut Run, error: &JobError) {
    if run.state.phase.number > 0 && run.settings.phases.archive_on_transition {
        let (phase, issue) = (&run.state.phase, Some(error.message.as_str()));
        let (number, text) = (phase.number, Archive::of(phase, &run.todos, "failed", issue).render());
        run.record_product(Product::WriteFile(FileWrite::text(format!("archive/phase_{number}.yaml"), text)));
    }
    drop_todo_file(run);
    let text = error_file::render(run, error);
    run.record_product(Product::WriteFile(FileWrite::text(error_file::PATH, text)));
}

/// The job fails at the end of a phase, in which no work is left: a retry finds a new phase, with open todos and
/// the reason. The model did not abandon that phase; its rewind count restarts, because a person has looked at
/// the job.
pub(crate) fn fail_at_the_end(run: &mut Run, error: JobError, now: DateTime<Utc>) {
    record_failure(run, &error);
    let outcome = PhaseOutcome::Forced;
    let note = Archive::of(&run.state.phase, &run.todos, outcome.as_str(), Some(&error.message)).render();
    run.step.push(Change::PhaseClosed { number: run.state.phase.number, outcome });
    (run.state.guards.rewinds, run.state.guards.recovering) = (0, false);
    let next = NextPhase { failed: Some(error.message.clone()), ..NextPhase::strategic(Opening::Rewound) };
    open_phase(run, next, Some(note), now);
    run.go(JobExit::Failed(error));
}

/// The job continues after a failure: what was written about the failure is obsolete.
pub(crate) fn forget_failure(run: &mut Run) {
    if !run.workspace.files().contains_key(error_file::PATH) {
        return;
    }
    run.record_product(Product::DeleteFile { path: error_file::PATH.into() });
    let phase = &run.state.phase;
    if phase.kind == PhaseKind::Tactical && !run.workspace.files().contains_key(TODOS) {
        let todos = run.todos.all().iter().map(PlannedTodo::from).collect();
        let plan = TodoPlan { phase: phase.name.clone(), description: phase.description.clone(), todos };
        run.record_product(Product::WriteFile(FileWrite::text(TODOS, archive::todo_plan(&plan))));
    }
}

/// The phase has ended: the next one opens, unless the job makes no progress.
pub(crate) fn advance_phase(run: &mut Run, next: NextPhase, now: DateTime<Utc>) {
    let outcome = if next.issue.is_some() { PhaseOutcome::Rewound } else { PhaseOutcome::Completed };
    let (guards, phase) = (&mut run.state.guards, &mut run.state.phase);
    if guards.note_ended_phase(outcome, phase.kind) {
        phase.completed += 1;
        if run.state.effects.so_far(&run.ledger) == 0 {
            guards.note_phase_without_effect(run.todos.contents());
        }
    }
    let note = close_phase(run, outcome, next.issue.as_deref());
    let (guards, planned) = (&mut run.state.guards, run.state.phase.planned);
    let without_progress = guards.ends_without_progress().map(|reason| ("no_progress", reason));
    let end = without_progress.or_else(|| guards.is_stuck(planned).map(|reason| ("stuck", reason)));
    match (end, run.settings.autonomy) {
        (None, _) => open_phase(run, next, Some(note), now),
        (Some((_, reason)), Autonomy::Review) => {
            let result = json!({"summary": reason, "deliverables": [], "undelivered": [reason], "confidence": 0.0, "notes": null});
            run.state.stage = Stage::Review { result: result.clone() };
            run.leave(JobExit::Review { result, reason });
        }
        // A retry continues with the next phase.
        (Some((kind, reason)), Autonomy::Full) => {
            open_phase(run, NextPhase { failed: Some(reason.clone()), ..next }, Some(note), now);
            run.leave(JobExit::Failed(JobError::new(kind, reason)));
        }
    }
}

/// Opens a phase. `note` is the archive note of the previous one.
pub(crate) fn open_phase(run: &mut Run, next: NextPhase, note: Option<String>, now: DateTime<Utc>) {
    run.restore_primary_model();
    let staged = run.state.staged.take();
    let phase = &mut run.state.phase;
    phase.advance(&next, staged);
    let (number, kind, name) = (phase.number, phase.kind, phase.name.clone());
    run.step.push(Change::PhaseOpened { number, kind, name });
    // Todos written for a phase that will not come are replaced by the system's own.
    let own = (kind == PhaseKind::Strategic).then(|| SystemTodos::of(run).opened());
    run.todos.begin(&mut run.step, number, own);
    run.state.work = Work::default();
    run.state.effects = PhaseEffects::begin(&run.ledger, run.state.phase.opening);
    let closed = close_answered(run);
    let system = system_text(run, now);
    let system_seq = run.conversation.say(&mut run.step, MessageKind::System, system);
    let left_out = run.state.take_left_out();
    let opening = opening::opening(run, &next, &closed, left_out, note.as_deref());
    run.state.shows_untrusted |= opening::shows_documents(run);
    let opening_seq = run.conversation.say(&mut run.step, MessageKind::Opening, opening);
    let is_kept = run.settings.phases.history_at_boundary == HistoryAtBoundary::Compact;
    run.conversation.begin_phase(system_seq, opening_seq, is_kept);
    run.state.given.begin_at(run.conversation.window().tail_from);
    // The count of consecutive fruitless turns continues: only a call resets it, otherwise a re-planning would hide
    // that the model makes no calls.
    let guards = &mut run.state.guards;
    (guards.idle_turns, guards.compactions_of_todo, guards.phase_has_results) = (0, 0, false);
    guards.repeats.clear();
}

/// Layer 1: the phase's prompt, the instructions, the job and the current `workspace.md`. The text common to all jobs of
/// a type comes first, so that a provider's prompt cache serves it to all of them.
pub(crate) fn system_text(run: &Run, now: DateTime<Utc>) -> String {
    let workspace = match run.workspace.memory().workspace.trim() {
        "" => "(empty)".to_string(),
        text => run.settings.shown(text, "workspace.md"),
    };
    format!(
        "{}Today is {}.\n\n## The job\n\n{}\n\n## workspace.md\n\n{workspace}\n",
        run.settings.beginning(run.state.phase.kind),
        // Day granularity, so that a prompt cache stays valid (lesson 30).
        now.format("%Y-%m-%d"),
        run.job.prompt.trim(),
    )
}

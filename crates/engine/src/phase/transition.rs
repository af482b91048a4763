//! Phase transitions: a phase is closed and archived, the next one opens with new todos, a new system prompt and an
//! opening for orientation. New todos exist before the old conversation is dropped.

use crate::{
    Change, FileWrite, HistoryAtBoundary, JobError, JobExit, MessageKind, Opening, PhaseEffects, PhaseKind,
    PhaseOutcome, PlannedTodo, Product, Run, TodoPlan, Work, Worked,
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

/// The view of the list written for a phase.
const TODOS: &str = "todos.yaml";

impl Run {
    /// Closes the current phase and returns the note for the opening of the next one.
    pub(crate) fn close_phase(&mut self, outcome: PhaseOutcome, issue: Option<&str>) -> String {
        let number = self.state.phase.number;
        self.todos.abandon_open(&mut self.step);
        let text = Archive::of(&self.state.phase, &self.todos, outcome.as_str(), issue).render();
        if self.settings.phases.archive_on_transition {
            let path = format!("archive/phase_{number}.yaml");
            self.record_product(Product::WriteFile(FileWrite::text(path, text.clone())));
        }
        self.step.push(Change::PhaseClosed { number, outcome });
        if self.state.phase.kind == PhaseKind::Tactical {
            self.state.worked = Some(Worked::of(&self.state.phase, &self.todos, outcome, issue));
            let summary = workspace_summary::render(self);
            self.record_product(Product::WriteFile(FileWrite::text("workspace_summary.md", summary)));
        }
        if outcome != PhaseOutcome::Completed {
            self.drop_todo_file();
        }
        text
    }

    /// Deletes `todos.yaml` if its list is obsolete: abandoned, or never begun. The archive keeps it.
    pub(crate) fn drop_todo_file(&mut self) {
        if self.workspace.files().contains_key(TODOS) {
            self.record_product(Product::DeleteFile { path: TODOS.into() });
        }
    }

    /// Written when the job fails in the middle of a phase: the phase's record, which stays open for a retry, and the
    /// reason, for readers of the folder.
    pub(crate) fn record_failure(&mut self, error: &JobError) {
        if self.state.phase.number > 0 && self.settings.phases.archive_on_transition {
            let (phase, issue) = (&self.state.phase, Some(error.message.as_str()));
            let (number, text) = (phase.number, Archive::of(phase, &self.todos, "failed", issue).render());
            self.record_product(Product::WriteFile(FileWrite::text(format!("archive/phase_{number}.yaml"), text)));
        }
        self.drop_todo_file();
        let text = error_file::render(self, error);
        self.record_product(Product::WriteFile(FileWrite::text(error_file::PATH, text)));
    }

    /// The job fails at the end of a phase, in which no work is left: a retry finds a new phase, with open todos and
    /// the reason. The model did not abandon that phase; its rewind count restarts, because a person has looked at
    /// the job.
    pub(crate) fn fail_at_the_end(&mut self, error: JobError, now: DateTime<Utc>) {
        self.record_failure(&error);
        let outcome = PhaseOutcome::Forced;
        let note = Archive::of(&self.state.phase, &self.todos, outcome.as_str(), Some(&error.message)).render();
        self.step.push(Change::PhaseClosed { number: self.state.phase.number, outcome });
        (self.state.guards.rewinds, self.state.guards.recovering) = (0, false);
        let next = NextPhase { failed: Some(error.message.clone()), ..NextPhase::strategic(Opening::Rewound) };
        self.open_phase(next, Some(note), now);
        self.go(JobExit::Failed(error));
    }

    /// The job continues after a failure: what was written about the failure is obsolete.
    pub(crate) fn forget_failure(&mut self) {
        if !self.workspace.files().contains_key(error_file::PATH) {
            return;
        }
        self.record_product(Product::DeleteFile { path: error_file::PATH.into() });
        let phase = &self.state.phase;
        if phase.kind == PhaseKind::Tactical && !self.workspace.files().contains_key(TODOS) {
            let todos = self.todos.all().iter().map(PlannedTodo::from).collect();
            let plan = TodoPlan { phase: phase.name.clone(), description: phase.description.clone(), todos };
            self.record_product(Product::WriteFile(FileWrite::text(TODOS, archive::todo_plan(&plan))));
        }
    }

    /// Opens a phase. `note` is the archive note of the previous one.
    pub(crate) fn open_phase(&mut self, next: NextPhase, note: Option<String>, now: DateTime<Utc>) {
        self.restore_primary_model();
        let staged = self.state.staged.take();
        let phase = &mut self.state.phase;
        phase.advance(&next, staged);
        let (number, kind, name) = (phase.number, phase.kind, phase.name.clone());
        self.step.push(Change::PhaseOpened { number, kind, name });
        // Todos written for a phase that will not come are replaced by the system's own.
        let own = (kind == PhaseKind::Strategic).then(|| SystemTodos::of(self).opened());
        self.todos.begin(&mut self.step, number, own);
        self.state.work = Work::default();
        self.state.effects = PhaseEffects::begin(&self.ledger, self.state.phase.opening);
        let closed = close_answered(self);
        let system = system_text(self, now);
        let system_seq = self.conversation.say(&mut self.step, MessageKind::System, system);
        let left_out = self.state.take_left_out();
        let opening = opening::opening(self, &next, &closed, left_out, note.as_deref());
        self.state.shows_untrusted |= opening::shows_documents(self);
        let opening_seq = self.conversation.say(&mut self.step, MessageKind::Opening, opening);
        let is_kept = self.settings.phases.history_at_boundary == HistoryAtBoundary::Compact;
        self.conversation.begin_phase(system_seq, opening_seq, is_kept);
        self.state.given.begin_at(self.conversation.window().tail_from);
        // The count of consecutive fruitless turns continues: only a call resets it, otherwise a re-planning would hide
        // that the model makes no calls.
        let guards = &mut self.state.guards;
        (guards.idle_turns, guards.compactions_of_todo, guards.phase_has_results) = (0, 0, false);
        guards.repeats.clear();
    }
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

//! Phase transitions: a phase is closed and archived, the next one opens with new todos, a new system prompt and an
//! opening for orientation. New todos exist before the old conversation is dropped.

use crate::{
    Change, ContextWindow, FileWrite, HistoryAtBoundary, JobError, JobExit, MessageKind, MessageRef, Opening,
    PhaseKind, PhaseOutcome, PlannedTodo, Product, Role, Run, Todo, TodoPlan, TodoStatus, Work, Worked,
    phase::{
        archive::{self, Archive},
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
        self.abandon_open_todos();
        let text = self.archive_note(outcome, issue);
        if self.settings.phases.archive_on_transition {
            let path = format!("archive/phase_{number}.yaml");
            self.record_product(Product::WriteFile(FileWrite::text(path, text.clone())));
        }
        self.pending.push(Change::PhaseClosed { number, outcome });
        if self.state.phase.kind == PhaseKind::Tactical {
            self.note_worked(outcome, issue);
            let summary = workspace_summary::render(self);
            self.record_product(Product::WriteFile(FileWrite::text("workspace_summary.md", summary)));
        }
        if outcome != PhaseOutcome::Completed {
            self.drop_todo_file();
        }
        text
    }

    fn note_worked(&mut self, outcome: PhaseOutcome, issue: Option<&str>) {
        let phase = &self.state.phase;
        let closed = self.todos.iter().filter(|todo| todo.status == TodoStatus::Completed).count();
        self.state.worked = Some(Worked {
            number: phase.number,
            name: phase.name.clone(),
            outcome,
            closed,
            todos: self.todos.len(),
            issue: issue.map(str::to_owned),
        });
    }

    /// Deletes `todos.yaml` if its list is obsolete: abandoned, or never begun. The archive keeps it.
    pub(crate) fn drop_todo_file(&mut self) {
        if self.files.contains_key(TODOS) {
            self.record_product(Product::DeleteFile { path: TODOS.into() });
        }
    }

    /// Written when the job fails in the middle of a phase: the phase's record, which stays open for a retry, and the
    /// reason, for readers of the folder.
    pub(crate) fn record_failure(&mut self, error: &JobError) {
        if self.state.phase.number > 0 && self.settings.phases.archive_on_transition {
            let phase = &self.state.phase;
            let (number, kind, name) = (phase.number, phase.kind, phase.name.as_str());
            let outcome = "failed";
            let text =
                Archive { number, kind, name, outcome, issue: Some(&error.message), todos: &self.todos }.render();
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
        let note = self.archive_note(outcome, Some(&error.message));
        self.pending.push(Change::PhaseClosed { number: self.state.phase.number, outcome });
        (self.state.guards.rewinds, self.state.guards.recovering) = (0, false);
        let next = NextPhase { failed: Some(error.message.clone()), ..NextPhase::strategic(Opening::Rewound) };
        self.open_phase(next, Some(note), now);
        self.go(JobExit::Failed(error));
    }

    /// The job continues after a failure: what was written about the failure is obsolete.
    pub(crate) fn forget_failure(&mut self) {
        if !self.files.contains_key(error_file::PATH) {
            return;
        }
        self.record_product(Product::DeleteFile { path: error_file::PATH.into() });
        let phase = &self.state.phase;
        if phase.kind == PhaseKind::Tactical && !self.files.contains_key(TODOS) {
            let todos = self.todos.iter().map(PlannedTodo::from).collect();
            let plan = TodoPlan { phase: phase.name.clone(), description: phase.description.clone(), todos };
            self.record_product(Product::WriteFile(FileWrite::text(TODOS, archive::todo_plan(&plan))));
        }
    }

    /// The note about the current phase after its end.
    pub(crate) fn archive_note(&self, outcome: PhaseOutcome, issue: Option<&str>) -> String {
        let phase = &self.state.phase;
        let (number, kind, name) = (phase.number, phase.kind, phase.name.as_str());
        Archive { number, kind, name, outcome: outcome.as_str(), issue, todos: &self.todos }.render()
    }

    fn abandon_open_todos(&mut self) {
        let phase_number = self.state.phase.number;
        for todo in self.todos.iter_mut().filter(|todo| todo.status.is_open()) {
            todo.status = TodoStatus::Abandoned;
            self.pending.push(Change::TodoMoved {
                phase_number,
                position: todo.position,
                status: TodoStatus::Abandoned,
                notes: None,
            });
        }
    }

    /// Opens a phase. `note` is the archive note of the previous one.
    pub(crate) fn open_phase(&mut self, next: NextPhase, note: Option<String>, now: DateTime<Utc>) {
        self.restore_primary_model();
        let staged = self.state.staged.take();
        let description = match (next.kind, &staged) {
            (PhaseKind::Tactical, Some(staged)) => staged.description.clone(),
            (PhaseKind::Tactical | PhaseKind::Strategic, _) => String::new(),
        };
        self.begin_phase(&next, staged.map(|staged| staged.phase));
        self.state.phase.description.clone_from(&description);
        self.put_todos(next.kind);
        self.state.work = Work::default();
        self.begin_effects();
        let closed = self.close_answered();
        let system = self.system_text(now);
        let system_seq = self.push_message(Role::System, MessageKind::System, system);
        let left_out = self.take_left_out();
        let opening = opening::opening(self, &next, &closed, left_out, note.as_deref());
        self.state.shows_untrusted |= opening::shows_documents(self);
        let opening_seq = self.push_message(Role::User, MessageKind::Opening, opening);
        self.move_context(system_seq, opening_seq);
        // The count of consecutive fruitless turns continues: only a call resets it, otherwise a re-planning would hide
        // that the model makes no calls.
        let guards = &mut self.state.guards;
        (guards.idle_turns, guards.compactions_of_todo, guards.phase_has_results) = (0, 0, false);
        guards.repeats.clear();
    }

    fn begin_phase(&mut self, next: &NextPhase, staged_name: Option<String>) {
        let phase = &mut self.state.phase;
        phase.number += 1;
        phase.kind = next.kind;
        phase.opening = next.opening;
        phase.tactical += i32::from(next.kind == PhaseKind::Tactical);
        phase.name = match (next.opening, staged_name) {
            (Opening::Work, Some(name)) => name,
            (Opening::Work, None) => format!("Phase {}", phase.tactical),
            (Opening::Initial, _) => "Planning".into(),
            (Opening::Transition, _) => "Review and next phase".into(),
            (Opening::Final, _) => "Completion".into(),
            (Opening::Rewound, _) => "Re-planning".into(),
            (Opening::Feedback, _) => "Feedback".into(),
        };
        let (number, kind, name) = (phase.number, phase.kind, phase.name.clone());
        self.pending.push(Change::PhaseOpened { number, kind, name });
    }

    fn put_todos(&mut self, kind: PhaseKind) {
        let staged = std::mem::take(&mut self.staged_todos);
        self.todos = match kind {
            PhaseKind::Tactical => staged,
            // Todos written for a phase that will not come are replaced by the system's own.
            PhaseKind::Strategic => self.strategic_todos(),
        };
        if let Some(first) = self.todos.first_mut() {
            first.status = TodoStatus::InProgress;
        }
        self.pending.push(Change::TodosPut { phase_number: self.state.phase.number, todos: self.todos.clone() });
    }

    fn strategic_todos(&self) -> Vec<Todo> {
        (1..).zip(self.strategic_texts()).map(|(position, text)| Todo::pending(position, text)).collect()
    }

    fn move_context(&mut self, system_seq: i64, opening_seq: i64) {
        let window = &mut self.state.context;
        let first_phase = window.system_seq == 0;
        match self.settings.phases.history_at_boundary {
            HistoryAtBoundary::Compact if !first_phase => {
                window.system_seq = system_seq;
                window.anchor = None;
            }
            HistoryAtBoundary::Compact | HistoryAtBoundary::Reset => {
                *window = ContextWindow {
                    system_seq,
                    summary_seq: None,
                    kept: Vec::new(),
                    tail_from: opening_seq,
                    anchor: None,
                };
            }
        }
        self.drop_unseen_messages();
    }

    /// Layer 1: the phase's prompt, the instructions, the job and the current `workspace.md`. The text common to all
    /// jobs of a type comes first, so that a provider's prompt cache serves it to all of them.
    pub(crate) fn system_text(&self, now: DateTime<Utc>) -> String {
        let workspace = if self.memory.workspace.trim().is_empty() {
            "(empty)".to_string()
        } else {
            self.shown(&self.memory.workspace, "workspace.md")
        };
        format!(
            "{}Today is {}.\n\n## The job\n\n{}\n\n## workspace.md\n\n{workspace}\n",
            self.settings.beginning(self.state.phase.kind),
            // Day granularity, so that a prompt cache stays valid (lesson 30).
            now.format("%Y-%m-%d"),
            self.job.prompt.trim(),
        )
    }

    /// Forgets messages that no request will show again; the rows keep them.
    pub(crate) fn drop_unseen_messages(&mut self) {
        let seen: Vec<i64> = self.context().map(MessageRef::seq).collect();
        // `context` is ordered by layer, not by seq.
        let seen: std::collections::BTreeSet<i64> = seen.into_iter().collect();
        self.history.retain(|message| seen.contains(&message.seq()));
        self.state.given.begin_at(self.state.context.tail_from);
    }
}

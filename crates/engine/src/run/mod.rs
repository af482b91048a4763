//! A run: the engine's view of one job between load and exit.

mod answer_calls;
mod deliverables;
mod figures;
mod given_rows;
mod job_rows;
mod next;
mod request;
mod snapshot;
pub(crate) mod state;
mod step;
mod workspace;

pub(crate) use answer_calls::{AnswerCall, AnswerCalls};
pub use answer_calls::{CallProgress, PhaseEnd};
pub(crate) use deliverables::Deliverables;
pub use deliverables::{CANDIDATE_LIST, REPORT, REQUIREMENT_LISTS, SystemStatements, is_recorder};
pub use figures::{Figures, Judged};
pub use given_rows::{Given, GivenRow};
pub use job_rows::{FileChanges, JobRows, PhaseRow};
pub use snapshot::{FileIndex, FileMeta, JobInfo, Progress, Snapshot, WorkspaceMemory};
pub use state::{
    Anchor, Beginning, ContextWindow, Guards, PhaseState, Retry, STATE_VERSION, Stage, StageKind, StagedPhase, State,
    Totals,
};
pub(crate) use step::Step;
pub(crate) use workspace::Workspace;

use crate::{
    Citation, Corrupt, Feedback, JobExit, Limits, PhaseKind, Product, Settings, Source, Todo, ToolSpec, Touched,
    conversation::Conversation,
    guardrail::{budget, retry::PATIENCE},
    ledger::Ledger,
    phase::{Todos, plan},
    transition::{load_calls, start_preparation},
    vocabulary::Approvals,
};
use chrono::{DateTime, TimeDelta, Utc};
use std::{sync::Arc, time::Duration};

/// One job in memory. Everything in it comes from a [`Snapshot`] or from the changes of later steps, so loading the
/// rows after any step gives an equal run.
#[derive(Debug)]
pub struct Run {
    pub(crate) job: JobInfo,
    pub(crate) settings: Arc<Settings>,
    pub(crate) state: State,
    /// Its part of `state` is written there when an outcome has been applied.
    pub(crate) conversation: Conversation,
    pub(crate) todos: Todos,
    pub(crate) workspace: Workspace,
    pub(crate) ledger: Ledger,
    pub(crate) feedback: Vec<Feedback>,
    /// People's decisions on its calls that have no outcome yet.
    pub(crate) approvals: Approvals,
    pub(crate) deadline: Option<DateTime<Utc>>,
    pub(crate) exit: Option<JobExit>,
    pub(crate) step: Step,
    /// The calls of the current answer.
    pub(crate) calls: AnswerCalls,
    /// Additional content of the opening, while the first phase is being opened.
    pub(crate) beginning: Beginning,
    /// How long an effect may fail before the job fails.
    pub(crate) patience: TimeDelta,
}

impl Run {
    /// Rebuilds a run from its rows. Jobs with the same configuration share its `settings`.
    ///
    /// # Errors
    /// [`Corrupt`] if the rows contradict each other or were written by a newer version.
    pub fn load(snapshot: Snapshot, settings: Arc<Settings>) -> Result<Self, Corrupt> {
        let Snapshot { job, state, messages, todos, staged_todos, .. } = snapshot;
        let state = match state {
            Some(state) => checked(state)?,
            None => State { totals: snapshot.first_totals, ..state::initial(job.started_at) },
        };
        let untrusted_step = state.untrusted_step.or(snapshot.untrusted_step);
        let state = State { untrusted_step, ..state };
        let records = settings.coverage.is_some_and(|coverage| coverage.records);
        let ledger = Ledger::load(snapshot.passages, snapshot.standing, snapshot.last_number, records, job.step + 1);
        let window = state.context.clone();
        let mut conversation = Conversation::new(Arc::clone(&settings), window, state.next_seq, messages.iter());
        conversation.count_tools(&state.loaded_tools);
        check_messages(&state.stage, &conversation)?;
        let deadline = budget::deadline(&settings.limits, state.started_at, snapshot.waited_s);
        let mut run = Self {
            step: Step::new(job.step + 1),
            job,
            settings,
            conversation,
            todos: Todos::new(state.phase.number, todos, staged_todos),
            state,
            workspace: Workspace::new(snapshot.files, snapshot.memory, snapshot.sources),
            ledger,
            feedback: snapshot.feedback,
            approvals: snapshot.approvals.into(),
            deadline,
            exit: None,
            calls: AnswerCalls::default(),
            beginning: Beginning::default(),
            patience: PATIENCE,
        };
        load_calls(&mut run, snapshot.new_claim);
        start_preparation(&mut run);
        run.exit = initial_exit(&run.state, &run.settings.limits, &run.feedback);
        Ok(run)
    }

    /// The same, with this limit in place of a day for a failing effect; zero: no limit.
    #[must_use]
    pub fn with_patience(mut self, patience: Duration) -> Self {
        let patience = TimeDelta::from_std(patience).unwrap_or(TimeDelta::MAX);
        self.patience = if patience.is_zero() { TimeDelta::MAX } else { patience };
        self
    }

    /// The limit that prevents another request: its name in `limits`, and the reason with which the job pauses.
    pub fn limit_reached(&self, now: DateTime<Utc>) -> Option<(&'static str, String)> {
        let limits = &self.settings.limits;
        let in_time = || budget::deadline_passed(limits, self.deadline, now).map(|reason| ("deadline_s", reason));
        budget::limit_used_up(limits, &self.state.totals).or_else(in_time)
    }

    /// The tools bound in a phase of this kind: the fixed ones in their order, then the loaded ones in theirs.
    pub fn bound(&self, kind: PhaseKind) -> impl Iterator<Item = &ToolSpec> {
        self.settings.bound_with(kind, &self.state.loaded_tools)
    }

    /// The checkpoint to store.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// The job.
    pub fn job(&self) -> &JobInfo {
        &self.job
    }

    /// This step was committed: later decisions belong to the next.
    pub fn committed(&mut self, step: i64) {
        self.step.committed(step);
        self.calls.committed = true;
    }

    /// The settings.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Todos of the current phase.
    pub fn todos(&self) -> &[Todo] {
        self.todos.all()
    }

    /// Index of the workspace.
    pub fn files(&self) -> &FileIndex {
        self.workspace.files()
    }

    /// The job's documents.
    pub fn sources(&self) -> &[Source] {
        self.workspace.sources()
    }

    /// Its passages and requirements.
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// Whether feedback is waiting: apply [`crate::Outcome::FeedbackReceived`].
    pub fn feedback_waiting(&self) -> bool {
        !self.feedback.is_empty() && self.exit.is_none()
    }

    /// How the job leaves this worker, once decided.
    pub fn exit(&self) -> Option<&JobExit> {
        self.exit.as_ref()
    }

    /// The progress columns of the job row.
    pub fn progress(&self) -> Progress {
        let phase = &self.state.phase;
        let begun = phase.number > 0;
        let preparing = match self.state.stage {
            Stage::Prepare { .. } => preparation(&self.workspace, &self.ledger),
            _ => None,
        };
        Progress {
            phase_number: phase.number,
            phase: begun.then_some(phase.kind),
            phase_name: begun.then(|| phase.name.clone()),
            todos_done: self.todos.completed() as i32,
            todos_total: self.todos.all().len() as i32,
            current_todo: preparing.or_else(|| self.todos.current().map(|todo| todo.content.clone())),
            plan: self.workspace.planned().map(|planned| (phase.completed.min(planned), planned)),
        }
    }

    /// Records a change and keeps the run equal to what loading it would give.
    pub(crate) fn record_product(&mut self, mut product: Product) {
        let step = self.step.number();
        // Its passages are written as rows of the ledger. Thousands of them are not kept twice.
        if let Product::CutDocument(cut) = product {
            return self.ledger.cut(*cut, step);
        }
        self.state.note(&product, &self.workspace);
        self.workspace.apply(&product);
        match &mut product {
            Product::AddCitation(Citation { place, continues, again, .. }) => {
                let touched: Vec<Touched> = place.iter().chain(&*continues).chain(&*again).copied().collect();
                self.ledger.cited(&touched, step);
            }
            Product::AddRequirement(requirement) => self.ledger.record(requirement, step),
            Product::ChangeRequirement(change) => self.ledger.change(change, step),
            Product::WriteFile(_)
            | Product::ShareFiles(_)
            | Product::AppendFile { .. }
            | Product::DeleteFile { .. }
            | Product::AddSource(_)
            | Product::CutDocument(_)
            | Product::DecidePassage(_)
            | Product::DeliverQuotes(_)
            | Product::JudgeRequirement(_) => {}
        }
        if product.path() == Some(plan::PATH) {
            self.state.phase.planned = self.state.phase.planned.max(self.workspace.planned().unwrap_or(0));
        }
        self.step.push_product(product);
    }
}

/// The document being prepared, worded like a todo.
fn preparation(workspace: &Workspace, ledger: &Ledger) -> Option<String> {
    let (left, document) = (workspace.unprepared(ledger).count(), workspace.unprepared(ledger).next()?);
    Some(format!("Prepare {document} ({left} left)"))
}

/// A job in review without feedback has nothing to do, and one whose budget is used up may not continue.
fn initial_exit(state: &State, limits: &Limits, feedback: &[Feedback]) -> Option<JobExit> {
    match &state.stage {
        Stage::Review { result } if feedback.is_empty() => {
            Some(JobExit::Review { result: result.clone(), reason: "waiting for approval or feedback".to_string() })
        }
        Stage::Model | Stage::Summary { .. } => {
            budget::used_up(limits, &state.totals).map(|reason| budget::pause(&state.retry, &reason))
        }
        Stage::Intake | Stage::Prepare { .. } | Stage::Tools { .. } | Stage::Review { .. } => None,
    }
}

/// Whether the messages that the checkpoint waits for, or shows, are there.
fn check_messages(stage: &Stage, conversation: &Conversation) -> Result<(), Corrupt> {
    if let Stage::Tools { message_seq, calls } = stage
        && calls.held.is_empty()
        && conversation.message(*message_seq).is_none_or(|message| message.tool_calls().len() == 0)
    {
        return Err(Corrupt(format!("message {message_seq} holds no tool calls, but the checkpoint waits for them")));
    }
    let system = conversation.window().system_seq;
    if system > 0 && conversation.message(system).is_none() {
        return Err(Corrupt(format!("the system message {system} of the context is missing")));
    }
    Ok(())
}

fn checked(state: State) -> Result<State, Corrupt> {
    if state.version > state::STATE_VERSION {
        return Err(Corrupt(format!(
            "its checkpoint has version {}, this worker reads up to {}: update the worker",
            state.version,
            state::STATE_VERSION
        )));
    }
    Ok(state)
}

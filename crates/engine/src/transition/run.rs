//! A run: the engine's view of one job between load and exit. Only this file sees its fields, and only the transitions
//! can change them: the functions that do are private to this module.

use super::{calls::load_calls, prepared::is_to_prepare};
use crate::{
    Beginning, Change, Citation, Corrupt, Feedback, JobExit, JobInfo, Limits, MessageKind, Product, STATE_VERSION,
    Settings, Snapshot, Stage, State, Touched,
    conversation::Conversation,
    guardrail::{budget, retry::Patience},
    ledger::Ledger,
    phase::{Todos, plan},
    run::{AnswerCalls, Step, Workspace},
};
use chrono::{DateTime, TimeDelta, Utc};
use std::{sync::Arc, time::Duration};

/// One job in memory. Everything in it comes from a [`Snapshot`] or from the changes of later steps, so loading the
/// rows after any step gives an equal run.
#[derive(Debug)]
pub struct Run {
    job: JobInfo,
    settings: Arc<Settings>,
    state: State,
    /// Its part of `state` is written there when an outcome has been applied.
    conversation: Conversation,
    todos: Todos,
    workspace: Workspace,
    ledger: Ledger,
    feedback: Vec<Feedback>,
    calls: AnswerCalls,
    patience: Patience,
    exit: Option<JobExit>,
    step: Step,
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
            None => State { totals: snapshot.first_totals, ..State::initial(job.started_at) },
        };
        let untrusted_step = state.untrusted_step.or(snapshot.untrusted_step);
        let state = State { untrusted_step, ..state };
        let records = settings.coverage.is_some_and(|coverage| coverage.records);
        let ledger = Ledger::load(snapshot.passages, snapshot.standing, snapshot.last_number, records, job.step + 1);
        let window = state.context.clone();
        let mut conversation = Conversation::new(Arc::clone(&settings), window, state.next_seq, messages.iter());
        conversation.count_tools(&state.loaded_tools);
        check_messages(&state.stage, &conversation)?;
        let mut run = Self {
            step: Step::new(job.step + 1),
            patience: Patience::new(budget::deadline(&settings.limits, state.started_at, snapshot.waited_s)),
            job,
            conversation,
            todos: Todos::new(state.phase.number, todos, staged_todos),
            workspace: Workspace::new(snapshot.files, snapshot.memory, snapshot.sources),
            ledger,
            exit: None,
            settings,
            state,
            feedback: snapshot.feedback,
            calls: AnswerCalls::new(snapshot.approvals),
        };
        load_calls(&mut run, snapshot.new_claim);
        // A fork at a step before its documents were cut again has no passages of them.
        if matches!(run.state.stage, Stage::Model) && is_to_prepare(&run) {
            run.state.stage = Stage::Prepare { beginning: Beginning::default() };
        }
        run.exit = initial_exit(&run.state, &run.settings.limits, &run.feedback);
        Ok(run)
    }

    /// The same, with this limit in place of a day for a failing effect; zero: no limit.
    #[must_use]
    pub fn with_patience(mut self, patience: Duration) -> Self {
        let most = TimeDelta::from_std(patience).unwrap_or(TimeDelta::MAX);
        self.patience.most = if most.is_zero() { TimeDelta::MAX } else { most };
        self
    }

    /// The job.
    pub fn job(&self) -> &JobInfo {
        &self.job
    }

    /// The settings.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The checkpoint to store.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// Todos of the current phase.
    pub fn todos(&self) -> &Todos {
        &self.todos
    }

    /// Files and documents.
    pub fn workspace(&self) -> &Workspace {
        &self.workspace
    }

    /// Its passages and requirements.
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// How the job leaves this worker, once decided.
    pub fn exit(&self) -> Option<&JobExit> {
        self.exit.as_ref()
    }

    /// Whether feedback is waiting: apply [`crate::Outcome::FeedbackReceived`].
    pub fn feedback_waiting(&self) -> bool {
        !self.feedback.is_empty() && self.exit.is_none()
    }

    /// The limit that prevents another request: its name in `limits`, and the reason with which the job pauses.
    pub fn limit_reached(&self, now: DateTime<Utc>) -> Option<(&'static str, String)> {
        let limits = &self.settings.limits;
        let in_time = || budget::deadline_passed(limits, self.patience, now).map(|reason| ("deadline_s", reason));
        budget::limit_used_up(limits, &self.state.totals).or_else(in_time)
    }

    pub(crate) fn conversation(&self) -> &Conversation {
        &self.conversation
    }

    /// The calls of the current answer.
    pub(crate) fn calls(&self) -> &AnswerCalls {
        &self.calls
    }

    /// This step was committed: later decisions belong to the next.
    pub fn committed(&mut self, step: i64) {
        self.step.committed(step);
        self.calls.committed = true;
    }
}

/// What only the transitions may do.
impl Run {
    pub(super) fn patience(&self) -> Patience {
        self.patience
    }

    pub(super) fn state_mut(&mut self) -> &mut State {
        &mut self.state
    }

    pub(super) fn calls_mut(&mut self) -> &mut AnswerCalls {
        &mut self.calls
    }

    /// With the number of the step that changes it.
    pub(super) fn ledger_mut(&mut self) -> (&mut Ledger, i64) {
        (&mut self.ledger, self.step.number())
    }

    /// With the step that its changes are added to.
    pub(super) fn conversation_mut(&mut self) -> (&mut Conversation, &mut Step) {
        (&mut self.conversation, &mut self.step)
    }

    /// With the step that their changes are added to.
    pub(super) fn todos_mut(&mut self) -> (&mut Todos, &mut Step) {
        (&mut self.todos, &mut self.step)
    }

    pub(super) fn feedback_mut(&mut self) -> &mut Vec<Feedback> {
        &mut self.feedback
    }

    /// Appends a message of the system or the user to the conversation.
    pub(super) fn say(&mut self, kind: MessageKind, content: String) -> i64 {
        self.conversation.say(&mut self.step, kind, content)
    }

    pub(super) fn push(&mut self, change: Change) {
        self.step.push(change);
    }

    /// The job leaves this worker.
    pub(super) fn leave(&mut self, exit: JobExit) {
        self.step.push(Change::Exited(exit.clone()));
        self.exit = Some(exit);
    }

    /// Records a change and keeps the run equal to what loading it would give.
    pub(super) fn record_product(&mut self, mut product: Product) {
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
        self.step.push(Change::Product(product));
    }

    /// The changes since the last call, with the ledger's rows and the conversation's part of the checkpoint.
    pub(super) fn take_changes(&mut self) -> Vec<Change> {
        let (put, dropped) = self.ledger.take_changes();
        if !dropped.is_empty() {
            self.step.push(Change::PassagesDropped(dropped));
        }
        if !put.is_empty() {
            self.step.push(Change::PassagesPut(put));
        }
        (self.state.context, self.state.next_seq) = self.conversation.checkpoint();
        self.step.take()
    }
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
    if state.version > STATE_VERSION {
        return Err(Corrupt(format!(
            "its checkpoint has version {}, this worker reads up to {STATE_VERSION}: update the worker",
            state.version,
        )));
    }
    Ok(state)
}

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

pub(crate) use answer_calls::{AnswerCall, AnswerCalls};
pub use answer_calls::{CallProgress, PhaseEnd};
pub use deliverables::{CANDIDATE_LIST, REPORT, REQUIREMENT_LISTS, SystemStatements, is_recorder};
pub use figures::{Figures, Judged};
pub use given_rows::{Given, GivenRow};
pub use job_rows::{FileChanges, JobRows, PhaseRow};
pub use snapshot::{FileIndex, FileMeta, JobInfo, Progress, Snapshot, WorkspaceMemory};
pub use state::{
    Anchor, Beginning, ContextWindow, Guards, PhaseState, Retry, STATE_VERSION, Stage, StageKind, StagedPhase, State,
    Totals,
};

use crate::{
    Change, Corrupt, Feedback, History, JobExit, MessageRef, Passage, PhaseKind, Product, Settings, Source, Todo,
    TodoStatus, ToolSpec, Touched,
    guardrail::{budget, loop_detection, retry::PATIENCE},
    ledger::Ledger,
    phase::{
        plan::{self, read_plan},
        todo_list,
    },
    vocabulary::Approvals,
};
use chrono::{DateTime, TimeDelta, Utc};
use std::{
    collections::{BTreeMap, HashMap},
    sync::{Arc, OnceLock},
    time::Duration,
};

/// One job in memory. Everything in it comes from a [`Snapshot`] or from the changes of later steps, so loading the
/// rows after any step gives an equal run.
#[derive(Debug)]
pub struct Run {
    pub(crate) job: JobInfo,
    pub(crate) settings: Arc<Settings>,
    pub(crate) state: State,
    /// The messages of the context window and any others that were loaded, ascending by `seq`.
    pub(crate) history: History,
    pub(crate) todos: Vec<Todo>,
    pub(crate) staged_todos: Vec<Todo>,
    pub(crate) files: FileIndex,
    pub(crate) memory: WorkspaceMemory,
    pub(crate) sources: Vec<Source>,
    pub(crate) ledger: Ledger,
    pub(crate) feedback: Vec<Feedback>,
    /// People's decisions on its calls that have no outcome yet.
    pub(crate) approvals: Approvals,
    /// Seconds that it has waited for people since its start.
    pub(crate) waited_s: i64,
    pub(crate) exit: Option<JobExit>,
    /// Tokens of the tool definitions, by phase kind.
    pub(crate) tool_tokens: HashMap<PhaseKind, u32>,
    pub(crate) counted_list: todo_list::Counted,
    /// Number of phases of the plan; counted at the first use after a change of the file.
    planned: OnceLock<i32>,
    /// The step being decided: the one after the last committed step.
    pub(crate) step: i64,
    /// The calls of the current answer.
    pub(crate) calls: AnswerCalls,
    /// Additional content of the opening, while the first phase is being opened.
    pub(crate) beginning: Beginning,
    /// How long an effect may fail before the job fails.
    pub(crate) patience: TimeDelta,
    /// Changes of the outcome being applied.
    pub(crate) pending: Vec<Change>,
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
        let mut history = History::new(&settings);
        messages.iter().for_each(|message| history.push(message));
        let mut run = Self {
            step: job.step + 1,
            job,
            settings,
            state,
            history,
            todos,
            staged_todos,
            files: snapshot.files,
            memory: snapshot.memory,
            sources: snapshot.sources,
            ledger,
            feedback: snapshot.feedback,
            approvals: snapshot.approvals.into(),
            waited_s: snapshot.waited_s,
            exit: None,
            tool_tokens: HashMap::new(),
            counted_list: todo_list::Counted::default(),
            planned: OnceLock::new(),
            calls: AnswerCalls::default(),
            beginning: Beginning::default(),
            patience: PATIENCE,
            pending: Vec::new(),
        };
        run.count_tools();
        run.put_notes(messages.iter().filter(|message| message.cleared).map(|message| message.seq));
        run.check_messages()?;
        run.load_calls(snapshot.new_claim);
        run.start_preparation();
        run.exit = run.initial_exit();
        Ok(run)
    }

    /// The same, with this limit in place of a day for a failing effect; zero: no limit.
    #[must_use]
    pub fn with_patience(mut self, patience: Duration) -> Self {
        let patience = TimeDelta::from_std(patience).unwrap_or(TimeDelta::MAX);
        self.patience = if patience.is_zero() { TimeDelta::MAX } else { patience };
        self
    }

    /// A job in review without feedback has nothing to do, and one whose budget is used up may not continue.
    fn initial_exit(&self) -> Option<JobExit> {
        match &self.state.stage {
            Stage::Review { result } if self.feedback.is_empty() => {
                Some(JobExit::Review { result: result.clone(), reason: "waiting for approval or feedback".to_string() })
            }
            Stage::Model | Stage::Summary { .. } => budget::used_up(self).map(|reason| budget::pause(self, &reason)),
            Stage::Intake | Stage::Prepare { .. } | Stage::Tools { .. } | Stage::Review { .. } => None,
        }
    }

    /// The limit that prevents another request: its name in `limits`, and the reason with which the job pauses.
    pub fn limit_reached(&self, now: DateTime<Utc>) -> Option<(&'static str, String)> {
        let in_time = || budget::deadline_passed(self, now).map(|reason| ("deadline_s", reason));
        budget::limit_used_up(self).or_else(in_time)
    }

    /// The tools bound in a phase of this kind: the fixed ones in their order, then the loaded ones in theirs.
    pub fn bound(&self, kind: PhaseKind) -> impl Iterator<Item = &ToolSpec> {
        let loaded = self.state.loaded_tools.iter();
        let loaded = loaded.filter_map(move |name| self.settings.deferred(kind).find(|tool| tool.name == *name));
        self.settings.bound(kind).chain(loaded)
    }

    /// Binds the tools that the current answer has searched for. Only after all its calls are answered, because it was
    /// decided when the answer arrived which of them run outside.
    pub(crate) fn bind_loaded_tools(&mut self, names: &[String]) {
        for name in names {
            if !self.state.loaded_tools.contains(name) {
                self.state.loaded_tools.push(name.clone());
            }
        }
        self.count_tools();
    }

    fn count_tools(&mut self) {
        let kinds = [PhaseKind::Strategic, PhaseKind::Tactical];
        let Settings { tools, count_tokens, .. } = &*self.settings;
        let size = |kind| self.bound(kind).map(|tool| tools.tokens(tool, count_tokens)).sum();
        self.tool_tokens = kinds.into_iter().map(|kind| (kind, size(kind))).collect();
    }

    fn check_messages(&self) -> Result<(), Corrupt> {
        if let Stage::Tools { message_seq, calls } = &self.state.stage
            && calls.held.is_empty()
            && self.message(*message_seq).is_none_or(|message| message.tool_calls().len() == 0)
        {
            return Err(Corrupt(format!(
                "message {message_seq} holds no tool calls, but the checkpoint waits for them"
            )));
        }
        let system = self.state.context.system_seq;
        if system > 0 && self.message(system).is_none() {
            return Err(Corrupt(format!("the system message {system} of the context is missing")));
        }
        Ok(())
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
        self.step = step + 1;
        self.calls.committed = true;
    }

    /// The settings.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Todos of the current phase.
    pub fn todos(&self) -> &[Todo] {
        &self.todos
    }

    /// Index of the workspace.
    pub fn files(&self) -> &FileIndex {
        &self.files
    }

    /// The job's documents.
    pub fn sources(&self) -> &[Source] {
        &self.sources
    }

    /// Number of requirements recorded so far.
    pub fn requirements(&self) -> usize {
        self.ledger.standing().count()
    }

    /// The `req_` ids of the active requirements whose first quote begins at this sentence of this passage.
    pub fn requirements_at(&self, passage: i32, sentence: i32) -> Vec<String> {
        self.ledger.beginning_at((passage, sentence)).map(str::to_owned).collect()
    }

    /// By passage and sentence, the numbers of the active requirements whose quotes touch this candidate, ascending.
    pub fn records_by_candidate(&self) -> BTreeMap<(i32, i32), Vec<i32>> {
        self.ledger.records_by_candidate()
    }

    /// The number of the next requirement: `r12`.
    pub fn next_number(&self) -> i32 {
        self.ledger.next_number()
    }

    /// Whether feedback is waiting: apply [`crate::Outcome::FeedbackReceived`].
    pub fn feedback_waiting(&self) -> bool {
        !self.feedback.is_empty() && self.exit.is_none()
    }

    /// How the job leaves this worker, once decided.
    pub fn exit(&self) -> Option<&JobExit> {
        self.exit.as_ref()
    }

    /// The first open todo.
    pub fn current_todo(&self) -> Option<&Todo> {
        self.todos.iter().find(|todo| todo.status.is_open())
    }

    /// The progress columns of the job row.
    pub fn progress(&self) -> Progress {
        let phase = &self.state.phase;
        let begun = phase.number > 0;
        Progress {
            phase_number: phase.number,
            phase: begun.then_some(phase.kind),
            phase_name: begun.then(|| phase.name.clone()),
            todos_done: self.todos.iter().filter(|todo| todo.status == TodoStatus::Completed).count() as i32,
            todos_total: self.todos.len() as i32,
            current_todo: self.preparation_in_words().or_else(|| self.current_todo().map(|todo| todo.content.clone())),
            plan: self.planned().map(|planned| (phase.completed.min(planned), planned)),
        }
    }

    /// The document being prepared, worded like a todo.
    fn preparation_in_words(&self) -> Option<String> {
        let Stage::Prepare { .. } = self.state.stage else { return None };
        let (left, document) = (self.unprepared().count(), self.unprepared().next()?);
        Some(format!("Prepare {document} ({left} left)"))
    }

    /// The passages of the job's documents.
    pub fn passages(&self) -> impl Iterator<Item = &Passage> {
        self.ledger.all()
    }

    /// Number of phases of the plan, once there is one.
    fn planned(&self) -> Option<i32> {
        let planned = *self.planned.get_or_init(|| read_plan(&self.memory.main_plan).len() as i32);
        (planned > 0).then_some(planned)
    }

    /// The tactical phase being planned or done, and the number of phases of the plan: "2 of 4". A phase of work beyond
    /// the plan counts as its last one; without a plan, phases of work are counted.
    pub(crate) fn phase_of_plan(&self) -> (i32, i32) {
        let phase = &self.state.phase;
        let next = phase.completed + 1;
        match (self.planned(), phase.kind) {
            (Some(planned), _) => (next.min(planned), planned),
            (None, PhaseKind::Tactical) => (next, next),
            (None, PhaseKind::Strategic) => (phase.completed.max(1), phase.completed.max(1)),
        }
    }

    /// The identification of the current phase: by the job's own counter, and by the plan's.
    pub(crate) fn which_phase(&self) -> String {
        let phase = &self.state.phase;
        let kind = phase.kind.as_str();
        let (number, next) = (phase.number, phase.completed + 1);
        let of_plan = match (self.planned(), phase.kind) {
            (None, _) => String::new(),
            (Some(planned), PhaseKind::Tactical) if next > planned => {
                format!(", phase of work {next}; the plan has {planned}")
            }
            (Some(planned), PhaseKind::Tactical) => format!(", phase {next} of {planned} of the plan"),
            (Some(planned), PhaseKind::Strategic) => {
                format!(", {} of {planned} phases of the plan are done", phase.completed.min(planned))
            }
        };
        format!("job phase {number} ({kind}{of_plan})")
    }

    /// The job's elapsed time in words, as far as recorded: from its start to its last request.
    pub(crate) fn elapsed(&self) -> String {
        let minutes = self.state.elapsed_s / 60;
        match (minutes / 1440, minutes / 60 % 24, minutes % 60) {
            (0, 0, 0) => "less than a minute".to_string(),
            (0, 0, minutes) => format!("{minutes} min"),
            (0, hours, minutes) => format!("{hours} h {minutes} min"),
            (days, hours, _) => format!("{days} d {hours} h"),
        }
    }

    pub(crate) fn message(&self, seq: i64) -> Option<MessageRef<'_>> {
        self.history.get(seq)
    }

    pub(crate) fn count(&self, text: &str) -> u32 {
        (self.settings.count_tokens)(text)
    }

    /// Records a change and keeps the run equal to what loading it would give.
    pub(crate) fn record_product(&mut self, mut product: Product) {
        // Its passages are written as rows of the ledger. Thousands of them are not kept twice.
        if let Product::CutDocument(cut) = product {
            return self.ledger.cut(*cut, self.step);
        }
        // Parsed again only when its file changes: parsing a plan is slow, and each turn needs it.
        if product.path() == Some(plan::PATH) {
            self.planned = OnceLock::new();
        }
        self.state.work.take(&product);
        if loop_detection::is_result(&product) {
            self.state.guards.compactions_of_todo = 0;
        }
        self.note_effect(&product);
        self.state.judged.take(&product);
        self.state.given.take(&product);
        match &mut product {
            Product::WriteFile(file) => {
                self.invalidate_reads(&file.path);
                self.files.insert(file.path.clone(), FileMeta::of(&file.content));
                if let Some(text) = self.memory.get_mut(&file.path) {
                    *text = String::from_utf8_lossy(&file.content).into_owned();
                }
            }
            Product::ShareFiles(shared) => {
                self.files.extend(shared.files.iter().map(|file| (file.path.clone(), file.facts)));
            }
            Product::AppendFile { path, text } => {
                self.invalidate_reads(path);
                let facts = self.files.entry(path.clone()).or_insert(FileMeta { size: 0, placeholder: true });
                facts.size += text.len() as u64;
                facts.placeholder &= crate::is_placeholder(text.as_bytes());
                if let Some(memory) = self.memory.get_mut(path) {
                    memory.push_str(text);
                }
            }
            Product::DeleteFile { path } => {
                self.invalidate_reads(path);
                self.files.remove(path);
                if let Some(memory) = self.memory.get_mut(path) {
                    memory.clear();
                }
            }
            Product::AddSource(source) => {
                // In the order of loading, so that an uninterrupted run has the same list.
                match self.sources.binary_search_by(|known| known.path.cmp(&source.path)) {
                    Ok(at) => self.sources[at] = source.clone(),
                    Err(at) => self.sources.insert(at, source.clone()),
                }
            }
            Product::AddCitation(citation) => {
                let touched: Vec<Touched> =
                    citation.place.iter().chain(&citation.continues).chain(&citation.again).copied().collect();
                self.ledger.cited(&touched, self.step);
            }
            Product::CutDocument(_)
            | Product::DecidePassage(_)
            | Product::DeliverQuotes(_)
            | Product::JudgeRequirement(_) => {}
            Product::AddRequirement(requirement) => self.ledger.record(requirement, self.step),
            Product::ChangeRequirement(change) => self.ledger.change(change, self.step),
        }
        if product.path() == Some(plan::PATH) {
            self.state.phase.planned = self.state.phase.planned.max(self.planned().unwrap_or(0));
        }
        self.pending.push(Change::Product(product));
    }
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

//! A dialogue with a job: a live run, its toy rows, and the check that each can be derived from the other.

use super::{
    call, count, effect,
    executor::{execute, look, prepare},
    failure, intake, lines, reply,
    request::Line,
    says, settings,
    toy::Toy,
    validate,
};
use chrono::{DateTime, TimeDelta, Utc};
use plumbline_engine::{
    Change, Effect, Failure, FailureClass, Feedback, FinishReason, Illegal, JobExit, ModelRequest, Opening, Outcome,
    PhaseKind, Reply, Run, Settings, Todo, ToolCall, ToolReturn,
};
use serde_json::{Value, json};

/// The start time of test jobs.
pub(crate) fn start() -> DateTime<Utc> {
    DateTime::from_timestamp(1_767_225_600, 0).expect("2026-01-01 is a valid moment")
}

/// A job in a dialogue.
pub(crate) struct Dialogue {
    pub(crate) toy: Toy,
    pub(crate) run: Run,
    /// The run as rebuilt after the last step; compared with the live one.
    rebuilt: Run,
    pub(crate) now: DateTime<Utc>,
    /// Whether the provider counts the tokens of each request; otherwise it always reports the same small number.
    pub(crate) counts: bool,
    /// Whether the last outcome's changes had to be committed at once.
    pub(crate) commits: bool,
}

impl Dialogue {
    /// A job that never took a step.
    pub(crate) fn new(settings: Settings) -> Self {
        let toy = Toy::new(settings);
        Self { run: load(&toy), rebuilt: load(&toy), toy, now: start(), counts: false, commits: false }
    }

    /// A job in its first phase.
    pub(crate) fn begun(settings: Settings) -> Self {
        let mut dialogue = Self::new(settings);
        dialogue.apply(intake());
        dialogue
    }

    /// A job in its first tactical phase, with five todos; its plan has this many phases.
    pub(crate) fn working(settings: Settings, planned: usize) -> Self {
        let mut dialogue = Self::begun(settings);
        dialogue.write_plan(planned);
        dialogue.open_tactical();
        dialogue
    }

    /// The default settings with a change.
    pub(crate) fn with(change: impl FnOnce(&mut Settings)) -> Settings {
        let mut settings = settings();
        change(&mut settings);
        settings
    }

    /// The first open todo.
    pub(crate) fn current_todo(&self) -> Option<&Todo> {
        self.run.todos().iter().find(|todo| todo.status.is_open())
    }

    /// Applies an outcome, commits, rebuilds, and requires both runs to be equal.
    pub(crate) fn try_apply(&mut self, outcome: Outcome) -> Result<Vec<Change>, Illegal> {
        let ends_doubt = !matches!(outcome, Outcome::FeedbackReceived(_));
        let changes = self.run.apply(outcome.clone(), self.now)?;
        assert_eq!(self.rebuilt.apply(outcome, self.now), Ok(changes.clone()), "the rebuilt run goes on differently");
        if ends_doubt {
            self.toy.new_claim = false;
        }
        self.commits = self.run.commits_next(true);
        self.toy.commit(&changes, self.run.state());
        self.run.committed(self.toy.job.step);
        self.check_rebuilt();
        Ok(changes)
    }

    fn check_rebuilt(&mut self) {
        let rebuilt = load(&self.toy);
        assert_eq!(rebuilt.state(), self.run.state());
        assert_eq!(rebuilt.progress(), self.run.progress());
        assert_eq!(rebuilt.todos(), self.run.todos());
        assert_eq!(rebuilt.workspace().files(), self.run.workspace().files());
        assert_eq!(rebuilt.workspace().sources(), self.run.workspace().sources());
        // A job that left the worker is not loaded until it is resumed.
        if self.run.exit().is_some() {
            return;
        }
        assert_eq!(seen(&rebuilt), seen(&self.run));
        assert_eq!(rebuilt.feedback_waiting(), self.run.feedback_waiting());
        if let Effect::CallModel(request) = self.run.next() {
            validate(&request, &self.toy);
        }
        self.rebuilt = rebuilt;
    }

    /// Applies an outcome that must be legal.
    pub(crate) fn apply(&mut self, outcome: Outcome) -> Vec<Change> {
        let mut changes = self.try_apply(outcome).expect("the outcome is legal");
        while let Effect::Prepare { document } = self.run.next() {
            let prepared = prepare(document, &self.toy);
            changes.extend(self.try_apply(Outcome::Prepared(prepared)).expect("it answers what is prepared"));
        }
        changes
    }

    /// The model's answer; then executes its calls.
    pub(crate) fn reply(&mut self, mut reply: Reply) -> Vec<Change> {
        if self.counts {
            reply.record.prompt_tokens = self.request_tokens();
            let calls = reply.tool_calls.iter().map(|call| count(&call.name) + count(&call.arguments));
            reply.record.completion_tokens = count(&reply.content) + calls.sum::<u32>();
        }
        let mut changes = self.apply(Outcome::ModelReplied(reply));
        changes.extend(self.run_tools());
        changes
    }

    /// Executes the waiting calls, if any.
    pub(crate) fn run_tools(&mut self) -> Vec<Change> {
        let mut changes = Vec::new();
        while matches!(self.run.next(), Effect::RunTools { .. }) {
            let returns = self.returns();
            changes.extend(self.apply(Outcome::ToolsReturned(returns)));
        }
        changes
    }

    /// The results of the waiting calls; each sees the effects of earlier ones.
    pub(crate) fn returns(&self) -> Vec<ToolReturn> {
        let Effect::RunTools { calls, .. } = self.run.next() else { panic!("no calls wait: {:?}", self.run.next()) };
        let mut desk = self.toy.clone();
        let mut returns = Vec::new();
        for call in calls {
            let given = match call.check {
                None => execute(&desk, &call),
                Some(check) => look(&desk, &call, check),
            };
            given.products.iter().for_each(|product| desk.produce(product));
            returns.push(given);
        }
        returns
    }

    /// One answer with these calls; returns the results as the model will read them.
    pub(crate) fn calls(&mut self, calls: &[(&str, Value)]) -> Vec<String> {
        let calls: Vec<ToolCall> = calls.iter().map(|(name, arguments)| call(name, arguments)).collect();
        results(&self.reply(reply("", calls)))
    }

    /// One answer with one call; returns its result.
    pub(crate) fn call(&mut self, name: &str, arguments: Value) -> String {
        self.calls(&[(name, arguments)]).remove(0)
    }

    /// An answer without calls.
    pub(crate) fn says(&mut self, text: &str) -> Vec<Change> {
        self.reply(says(text))
    }

    /// An answer that reached the cap, with an incomplete call.
    pub(crate) fn cut_off(&mut self, name: &str, arguments: &Value) -> Vec<Change> {
        self.cut_off_after(&[], (name, arguments))
    }

    /// The same, with complete calls before it.
    pub(crate) fn cut_off_after(&mut self, whole: &[(&str, Value)], torn: (&str, &Value)) -> Vec<Change> {
        let mut calls: Vec<ToolCall> = whole.iter().map(|(name, arguments)| call(name, arguments)).collect();
        let mut torn = call(torn.0, torn.1);
        torn.arguments.pop();
        calls.push(torn);
        self.reply(Reply { finish: FinishReason::Truncated, ..reply("", calls) })
    }

    /// The next effect, in one line, and whether it had to wait for a commit of earlier decisions.
    pub(crate) fn effect(&self) -> String {
        let next = self.run.next();
        let commit = matches!(next, Effect::RunTools { .. }) && self.commits;
        format!("{}{}", effect(&next), if commit { ", after a commit" } else { "" })
    }

    /// The model call fails.
    pub(crate) fn fails(&mut self, class: FailureClass) -> Vec<Change> {
        self.apply(Outcome::ModelFailed(failure(class)))
    }

    /// The model call fails with a delay requested by the provider, in seconds.
    pub(crate) fn fails_for(&mut self, class: FailureClass, seconds: u64) -> Vec<Change> {
        self.apply(Outcome::ModelFailed(Failure { retry_after_s: Some(seconds), ..failure(class) }))
    }

    /// Waits until the requested time; returns the seconds.
    pub(crate) fn wake(&mut self) -> i64 {
        let Effect::Wait { until } = self.run.next() else { panic!("nothing to wait for: {:?}", self.run.next()) };
        let waited = (until - self.now).num_seconds();
        self.now = until;
        self.apply(Outcome::Woken);
        waited
    }

    /// The user writes.
    pub(crate) fn feedback(&mut self, text: &str) -> Vec<Change> {
        let row = Feedback { id: self.toy.feedback.len() as i64 + 1, text: text.into(), created_at: self.now };
        self.toy.feedback.push(row.clone());
        self.apply(Outcome::FeedbackReceived(vec![row]))
    }

    /// The worker dies and another one claims the job.
    pub(crate) fn crash(&mut self) {
        self.toy.new_claim = true;
        self.reload();
    }

    /// The job is resumed after a person changed a setting.
    pub(crate) fn resume(&mut self, change: impl FnOnce(&mut Settings)) {
        change(&mut self.toy.settings);
        self.reload();
    }

    fn reload(&mut self) {
        (self.toy.exit, self.commits) = (None, false);
        self.run = load(&self.toy);
        self.rebuilt = load(&self.toy);
    }

    /// Closes the current todo in one answer, after reading a text that was not shown before; returns the result of
    /// closing.
    pub(crate) fn close(&mut self) -> String {
        self.close_with(json!({}))
    }

    /// The same with arguments for `todo_complete`.
    pub(crate) fn close_with(&mut self, arguments: Value) -> String {
        let new = json!({"path": "instructions.md", "offset": self.run.state().next_seq});
        self.calls(&[("read_file", new), ("todo_complete", arguments)]).remove(1)
    }

    pub(crate) fn later(&mut self, time: TimeDelta) {
        self.now += time;
    }

    /// The next request as sent.
    pub(crate) fn request(&self) -> Vec<Line> {
        match self.run.next() {
            Effect::CallModel(request) => lines(&request),
            other => panic!("no request is next, but {other:?}"),
        }
    }

    /// Tokens of the next request, counted from what is sent.
    pub(crate) fn request_tokens(&self) -> u32 {
        let Effect::CallModel(request) = self.run.next() else { return 0 };
        let calls =
            |line: &Line| -> u32 { line.calls.iter().map(|call| count(&call.name) + count(&call.arguments)).sum() };
        let messages: u32 = lines(&request).iter().map(|line| count(&line.text) + 4 + calls(line)).sum();
        let tools: u32 =
            request.tools.iter().map(|tool| count(&tool.description) + count(&tool.parameters.to_string())).sum();
        messages + tools
    }

    /// How the job left.
    pub(crate) fn exit(&self) -> &JobExit {
        self.run.exit().unwrap_or_else(|| panic!("the job goes on: {:?}", self.run.next()))
    }

    /// The sentence with which the job was paused or failed.
    pub(crate) fn reason(&self) -> &str {
        match self.exit() {
            JobExit::Paused { reason } | JobExit::Parked { reason, .. } | JobExit::Review { reason, .. } => reason,
            JobExit::Failed(error) => &error.message,
            JobExit::Completed { .. } => panic!("the job is completed"),
            JobExit::AwaitsDecision { .. } => panic!("the job waits for decisions"),
        }
    }

    /// Number, kind and opening of the current phase.
    pub(crate) fn phase(&self) -> (i32, PhaseKind, Opening) {
        let phase = &self.run.state().phase;
        (phase.number, phase.kind, phase.opening)
    }

    pub(crate) fn write_plan(&mut self, phases: usize) {
        let sections: String = (1..=phases).map(|n| format!("\n## Phase {n}: Part {n}\n- [ ] do it\n")).collect();
        self.call("write_plan", json!({"content": format!("# Plan\n{sections}")}));
    }

    /// Writes five todos and closes the strategic phase.
    pub(crate) fn open_tactical(&mut self) {
        let again = match self.run.state().phase.completed {
            0 => String::new(),
            times => format!(", pass {}", times + 1),
        };
        let todos: Vec<Value> = (1..=5)
            .map(|id| json!({"id": id, "content": format!("Process section {id} of the policy{again}")}))
            .collect();
        self.call("todo_write", json!({"phase": "Extraction", "description": "Record it all.", "todos": todos}));
        self.finish_phase();
    }

    /// Closes every todo of the phase; a tactical phase writes a result.
    pub(crate) fn finish_phase(&mut self) -> String {
        let mut last = String::new();
        if self.phase().1 == PhaseKind::Tactical && !self.run.state().guards.phase_has_results {
            let path = format!("findings/phase_{}.md", self.phase().0);
            self.call("write_file", json!({"path": path, "content": "What the pages say on retention."}));
        }
        for _ in self.run.progress().todos_done..self.run.progress().todos_total {
            last = self.close();
        }
        last
    }
}

fn load(toy: &Toy) -> Run {
    Run::load(toy.snapshot(), toy.settings.clone().into()).expect("the toy rows are consistent")
}

/// The complete next effect; tools by name, since they are settings.
fn seen(run: &Run) -> String {
    match run.next() {
        Effect::CallModel(ModelRequest { purpose, messages, tools, max_output_tokens, attempt }) => {
            let tools: Vec<&str> = tools.iter().map(|tool| tool.name.as_str()).collect();
            format!("{purpose:?} {messages:?} {tools:?} {max_output_tokens} {attempt}")
        }
        other => format!("{other:?}"),
    }
}

/// The tool results among changes.
fn results(changes: &[Change]) -> Vec<String> {
    changes
        .iter()
        .filter_map(|change| match change {
            Change::Message(message) if message.tool_call_id.is_some() => Some(message.content.clone()),
            _ => None,
        })
        .collect()
}

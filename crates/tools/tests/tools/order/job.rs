//! A job on rows in memory, driven like a worker does: *next → perform → apply → commit*.

use super::{
    calls::{self, SENTENCES},
    rows::{LiveRows, Recorded},
};
use crate::bench::document_child;
use chrono::{DateTime, TimeDelta, Utc};
use plumbline_documents::Parser;
use plumbline_engine::{
    Autonomy, Change, CoverageSettings, Effect, FileWrite, FinishReason, Handler, HistoryAtBoundary, Intake, JobInfo,
    JobRows, Limits, ModelSettings, OnToolFailure, OtherModels, Outage, Outcome, OutsideCall, Owed, PhaseKind,
    PhaseSettings, Prepare, Prices, Product, Prompts, Purpose, RepeatedCalls, Reply, RequestRecord, Role, Run,
    Settings, Source, Stage, StrategicTodos, SystemPromptPrefixes, SystemTodo, TodoListPosition, ToolCall, ToolReturn,
    ToolSpec, tools,
};
use plumbline_tools::{ToolContext, ToolRunner};
use serde_json::{Map, Value, json};
use std::{collections::BTreeMap, sync::Arc};
use uuid::Uuid;

/// Tools that use rows or services outside the job.
const OF_OTHERS: [&str; 8] = [
    "web_search",
    "fetch_page",
    "next_requirement",
    "judge_requirements",
    "integrate_requirement",
    "reject_requirement",
    "get_graph_schema",
    "execute_cypher_query",
];

/// The document of these jobs.
const POLICY: &str = include_str!("policy.md");

/// A call as the model makes it.
pub(super) type Call = (&'static str, Value);

/// An event after a call.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Interruption {
    /// The worker dies before the call's effects are committed.
    Death,
    /// The call's service is unavailable, and the worker dies after the earlier calls are committed.
    Outage,
}

/// A job, its rows, and its run.
pub(super) struct Job {
    pub(super) rows: JobRows,
    settings: Arc<Settings>,
    run: Run,
    /// Decided, not yet committed.
    changes: Vec<Change>,
    /// Pending events after calls of the answer, by position.
    interruptions: BTreeMap<usize, Interruption>,
    /// That of the worker: what it caches is of this job's rows.
    runner: ToolRunner,
    now: DateTime<Utc>,
    pub(super) deaths: usize,
}

impl Job {
    /// A job whose document is prepared, in its first phase.
    pub(super) async fn planning(settings: Settings) -> Self {
        let settings = Arc::new(settings);
        let facts = JobInfo {
            id: Uuid::from_u128(7),
            job_type: "creator".into(),
            prompt: "Extract the requirements of policy.md.".into(),
            step: 0,
            started_at: DateTime::UNIX_EPOCH,
        };
        let rows = JobRows::new(facts);
        let run = Run::load(rows.snapshot(Vec::new(), true), settings.clone()).unwrap();
        let (runner, now) = (runner(), DateTime::UNIX_EPOCH);
        let mut job =
            Self { rows, settings, run, changes: Vec::new(), interruptions: BTreeMap::new(), runner, now, deaths: 0 };
        job.apply(Outcome::IntakeDone(intake()));
        job.go_on().await;
        job.answered(&[("write_plan", json!({"content": "# Plan\n\n## Phase 1: Records\n- [ ] record them\n"}))]).await;
        job
    }

    /// The same in its first tactical phase, with one requirement.
    pub(super) async fn working(settings: Settings) -> Self {
        let mut job = Self::planning(settings).await;
        let todos: Vec<Value> =
            (1..=5).map(|id| json!({"id": id, "content": format!("Record section {id}")})).collect();
        job.answered(&[("todo_write", json!({"phase": "Records", "description": "All of it.", "todos": todos}))]).await;
        for word in ["invoices", "letters", "offices", "payments"] {
            let content =
                format!("The rules on {word}: who keeps {word}, how long {word} are kept, who sees {word}.\n");
            let look = ("write_file", json!({"path": format!("work/{word}.md"), "content": content}));
            let results = job.answered(&[look, ("todo_complete", json!({}))]).await;
            assert!(results[1].contains("marked complete"), "{results:?}");
        }
        assert_eq!(job.run.state().phase.kind, PhaseKind::Tactical);
        let recorded = job.answered(&[calls::requirement(SENTENCES[0], "alpha", true)]).await;
        assert!(!recorded[0].starts_with("Error: "), "{recorded:?}");
        job
    }

    /// Another job with the same rows and other settings.
    pub(super) fn again(&self, settings: Settings) -> Self {
        let (rows, settings) = (self.rows.clone(), Arc::new(settings));
        let run = Run::load(rows.snapshot(Vec::new(), true), settings.clone()).unwrap();
        let (changes, interruptions, runner) = (Vec::new(), BTreeMap::new(), runner());
        Self { rows, settings, run, changes, interruptions, runner, now: self.now, deaths: 0 }
    }

    /// One answer with these calls, interrupted at these positions; returns the results.
    pub(super) async fn interrupted(&mut self, calls: &[Call], at: BTreeMap<usize, Interruption>) -> Vec<String> {
        self.interruptions = at;
        self.interruptions.retain(|at, _| *at < calls.len());
        self.answered(calls).await
    }

    /// One answer with these calls; returns the results.
    pub(super) async fn answered(&mut self, calls: &[Call]) -> Vec<String> {
        let before = self.rows.messages.len();
        // The model's answer to the same request is always the same.
        while self.rows.messages.len() == before {
            assert!(matches!(self.run.next(), Effect::CallModel(_)), "{:?}", self.run.next());
            self.apply(Outcome::ModelReplied(reply(calls)));
            self.go_on().await;
        }
        let results = self.rows.messages[before..].iter().filter(|message| message.role == Role::Tool);
        results.map(|message| message.content.clone()).collect()
    }

    /// Continues until the next request to the model is due and all changes are committed.
    async fn go_on(&mut self) {
        loop {
            if self.made().is_some_and(|made| self.interruptions.keys().any(|at| *at < made)) {
                let made = self.made().unwrap_or_default();
                self.interruptions.retain(|at, _| *at >= made);
                self.die();
            } else if self.run.commits_next(!self.changes.is_empty()) {
                self.commit();
            } else if matches!(self.run.next(), Effect::CallModel(_)) {
                return;
            } else {
                let outcome = self.perform().await;
                let is_outage = matches!(outcome, Outcome::ToolsUnavailable(_));
                self.apply(outcome);
                if is_outage {
                    self.commit();
                    self.die();
                }
            }
        }
    }

    /// How many calls of the current answer are done, at least in memory; all of them if there is no current answer.
    fn made(&self) -> Option<usize> {
        match &self.run.state().stage {
            _ if self.changes.is_empty() => None,
            Stage::Tools { calls, .. } => Some(calls.answered),
            _ => Some(usize::MAX),
        }
    }

    async fn perform(&mut self) -> Outcome {
        match self.run.next() {
            Effect::Prepare { document } => Outcome::Prepared(self.prepare(document).await),
            Effect::Wait { until } => {
                self.now = until;
                Outcome::Woken
            }
            Effect::RunTools { calls, .. } => {
                let made = self.stage_calls();
                let next = self.interruptions.range(made..made + calls.len()).next();
                match next.map(|(at, interruption)| (*at, *interruption)) {
                    None => Outcome::ToolsReturned(self.run_tools(&calls).await),
                    Some((at, Interruption::Outage)) => {
                        let returns = self.run_tools(&calls[..at - made]).await;
                        self.interruptions.remove(&at);
                        let reason = "the service is away".into();
                        Outcome::ToolsUnavailable(Outage { returns, reason, needs_operator: false, jitter: 0.5 })
                    }
                    // Its result is lost together with the effects of the calls before it.
                    Some((_, Interruption::Death)) => Outcome::ToolsReturned(self.run_tools(&calls).await),
                }
            }
            other => panic!("nothing else is asked of the outside: {other:?}"),
        }
    }

    fn stage_calls(&self) -> usize {
        match &self.run.state().stage {
            Stage::Tools { calls, .. } => calls.answered,
            other => panic!("no calls are at hand in {other:?}"),
        }
    }

    async fn prepare(&self, document: &str) -> plumbline_engine::Prepared {
        let rows = LiveRows { rows: &self.rows, run: &self.run };
        self.runner.prepare(document, &rows, &ToolContext::new(self.rows.job.id, &[])).await.unwrap()
    }

    async fn run_tools(&self, calls: &[OutsideCall<'_>]) -> Vec<ToolReturn> {
        let bound: Vec<&str> = self.run.bound(self.run.state().phase.kind).map(|tool| tool.name.as_str()).collect();
        let uncommitted: Vec<&Product> = self.changes.iter().filter_map(Change::product).collect();
        let queue = Recorded(&self.rows);
        let context = ToolContext {
            max_result_tokens: self.settings.limits.max_tool_result_tokens,
            validation_queue: Some(&queue),
            uncommitted: &uncommitted,
            records_requirements: self.settings.records_requirements(),
            ..ToolContext::new(self.rows.job.id, &bound)
        };
        self.runner.run(calls, &LiveRows { rows: &self.rows, run: &self.run }, &context).await.unwrap()
    }

    fn apply(&mut self, outcome: Outcome) {
        self.now += TimeDelta::seconds(1);
        let changes = self.run.apply(outcome, self.now).unwrap();
        self.changes.extend(changes);
    }

    fn commit(&mut self) {
        let step = self.rows.job.step + 1;
        self.rows.commit(step, &std::mem::take(&mut self.changes), self.run.state());
        self.run.committed(step);
    }

    /// The worker dies, and another one claims the job.
    fn die(&mut self) {
        self.changes.clear();
        self.runner = runner();
        self.run = Run::load(self.rows.snapshot(Vec::new(), true), self.settings.clone()).unwrap();
        self.deaths += 1;
    }
}

fn runner() -> ToolRunner {
    ToolRunner::new(Parser::new(document_child()))
}

fn intake() -> Intake {
    let path = || "input/policy.md".to_owned();
    let source = Source { path: path(), size: POLICY.len() as i64, ..Source::default() };
    let files = vec![
        FileWrite::text("instructions.md", "Record each requirement with its quote.\n"),
        FileWrite::text(path(), POLICY),
    ];
    Intake { files, sources: vec![source], ..Intake::default() }
}

fn reply(calls: &[Call]) -> Reply {
    let call = |(name, arguments): &Call| ToolCall {
        id: "call_0".into(),
        name: (*name).into(),
        arguments: arguments.to_string(),
    };
    let record = RequestRecord {
        prompt_tokens: 100,
        completion_tokens: 10,
        ..RequestRecord::sent("test-model", Purpose::Tactical, 1, DateTime::UNIX_EPOCH)
    };
    let tool_calls = calls.iter().map(call).collect();
    Reply { content: String::new(), tool_calls, finish: FinishReason::Done, extra: Map::new(), record }
}

/// Settings without budgets and truncation, with all tools of the property; for the engine, those in `external` are
/// external tools.
pub(super) fn settings(external: &[&str]) -> Settings {
    let own = tools::specs().into_iter().filter(|tool| tool.name != "search_tools");
    let others = plumbline_tools::catalog().into_iter().filter(|tool| !OF_OTHERS.contains(&tool.name.as_str()));
    let tools = own.chain(others).map(|tool| match external.contains(&tool.name.as_str()) {
        true => ToolSpec { handler: Handler::External, ..tool },
        false => tool,
    });
    Settings {
        prompts: prompts(),
        tools: Arc::new(tools.collect()),
        phases: PhaseSettings {
            min_todos: 1,
            max_todos: 20,
            archive_on_transition: true,
            history_at_boundary: HistoryAtBoundary::Reset,
        },
        limits: Limits {
            max_iterations: 100_000,
            context_threshold_tokens: 10_000_000,
            keep_recent_tool_results: 1000,
            closed_todos: plumbline_engine::ClosedTodos::Keep,
            max_tool_result_tokens: 100_000,
            token_budget: None,
            tool_retries: 3,
            tool_timeout_s: 120,
            approval_expires_s: 86_400,
            cost_budget_usd: None,
            deadline_s: None,
            turns_without_tool_call: 3,
            repeated_calls: RepeatedCalls { nudge: 100, refuse: 200, replan: 300 },
            turns_without_progress: 1000,
            on_tool_failure: OnToolFailure::Continue,
        },
        model: ModelSettings {
            max_retries: 3,
            model: "test-model".into(),
            max_output_tokens: 10_000,
            context_window: 20_000_000,
            todo_list_position: TodoListPosition::Last,
            // These tests' answers report a round number.
            reports_whole_prompt: false,
            prefix_cache: true,
            prices: Prices::default(),
        },
        other_models: OtherModels::default(),
        fallbacks: Vec::new(),
        autonomy: Autonomy::Full,
        owed: Owed::default(),
        coverage: Some(CoverageSettings { minimum: 1.0, max_closed: 1.0, unsupported: 1.0, records: true }),
        prepare: Prepare::Start,
        deferred: Arc::default(),
        count_tokens: Arc::new(|text: &str| u32::try_from(text.len().div_ceil(4)).unwrap()),
        approval: plumbline_engine::ApprovalRules::default(),
        untrusted: plumbline_engine::UntrustedRules::default(),
        prompt_prefixes: SystemPromptPrefixes::default(),
    }
}

fn prompts() -> Prompts {
    let todos = |texts: &[&str]| -> Vec<SystemTodo> { texts.iter().map(|text| SystemTodo::from(*text)).collect() };
    let planning = todos(&["Read", "Plan", "Divide", "Write the todos"]);
    Prompts {
        strategic: "You plan.".into(),
        tactical: "You work.".into(),
        summarization: "Summarize.".into(),
        instructions: "Record each requirement with its quote.".into(),
        todos: StrategicTodos {
            initial: planning.clone(),
            transition: planning.clone(),
            r#final: planning.clone(),
            rewound: planning.clone(),
            feedback: planning,
        },
    }
}

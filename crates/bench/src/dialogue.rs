//! A job in conversation without a database: the engine's own side of a long run.

use crate::prose::prose;
use chrono::{DateTime, Utc};
use plumbline_engine::{
    Autonomy, Effect, FileWrite, FinishReason, HistoryAtBoundary, Intake, JobInfo, Limits, ModelSettings, Outcome,
    PhaseSettings, Prices, Product, Prompts, Purpose, RepeatedCalls, Reply, RequestRecord, Run, Settings, Snapshot,
    StrategicTodos, SystemPromptPrefixes, TodoListPosition, ToolCall, ToolReturn,
};
use serde_json::{Map, json};
use std::sync::Arc;
use uuid::Uuid;

/// All tools with their real definitions, and a context that is never full: nothing is cleared or summarized.
pub fn settings() -> Settings {
    let mut tools = plumbline_engine::tools::specs();
    tools.extend(plumbline_tools::catalog());
    Settings {
        prompts: prompts(),
        tools: Arc::new(tools.into()),
        deferred: Arc::default(),
        phases: PhaseSettings {
            min_todos: 5,
            max_todos: 20,
            archive_on_transition: true,
            history_at_boundary: HistoryAtBoundary::Reset,
        },
        limits: Limits {
            max_iterations: u32::MAX,
            context_threshold_tokens: u32::MAX,
            keep_recent_tool_results: 5,
            closed_todos: plumbline_engine::ClosedTodos::Keep,
            max_tool_result_tokens: 8000,
            token_budget: None,
            tool_retries: 3,
            tool_timeout_s: 120,
            approval_expires_s: 86_400,
            cost_budget_usd: None,
            deadline_s: None,
            turns_without_tool_call: 3,
            repeated_calls: RepeatedCalls { nudge: 3, refuse: 5, replan: 8 },
            turns_without_progress: 25,
            on_tool_failure: plumbline_engine::OnToolFailure::Continue,
        },
        other_models: plumbline_engine::OtherModels::default(),
        fallbacks: Vec::new(),
        model: ModelSettings {
            model: "bench".into(),
            max_output_tokens: 8192,
            context_window: u32::MAX,
            max_retries: 3,
            todo_list_position: TodoListPosition::Last,
            reports_whole_prompt: true,
            prefix_cache: true,
            prices: Prices::default(),
        },
        autonomy: Autonomy::Full,
        owed: plumbline_engine::Owed::default(),
        coverage: None,
        prepare: plumbline_engine::Prepare::Start,
        count_tokens: Arc::new(plumbline_tokens::count),
        approval: plumbline_engine::ApprovalRules::default(),
        untrusted: plumbline_engine::UntrustedRules::default(),
        prompt_prefixes: SystemPromptPrefixes::default(),
    }
}

fn prompts() -> Prompts {
    let todos = |texts: [&str; 4]| texts.map(plumbline_engine::SystemTodo::from).to_vec();
    Prompts {
        strategic: prose(1, 5000),
        tactical: prose(2, 5000),
        summarization: prose(3, 1000),
        instructions: prose(4, 3000),
        todos: StrategicTodos {
            initial: todos(["Explore", "Write main_plan.md", "Divide it into phases", "Write the todos"]),
            transition: todos(["Summarize", "Update workspace.md", "Update main_plan.md", "Write the next todos"]),
            r#final: todos(["Verify", "Write the report", "Check the report", "Complete the job"]),
            rewound: todos(["Reconsider", "Correct the plan", "Check it", "Write better todos"]),
            feedback: todos(["Take it in", "Evaluate it", "Correct the plan", "Write corrective todos"]),
        },
    }
}

/// A job in its first tactical phase that has taken so many turns of one `write_file` with 2 KB.
pub fn after_turns(turns: usize) -> Run {
    after_turns_with(settings(), turns)
}

/// The same with tokens guessed from the length, so that only the engine's own work remains.
pub fn after_guessed_turns(turns: usize) -> Run {
    let guess = |text: &str| u32::try_from(text.len() / 4).unwrap_or(u32::MAX);
    after_turns_with(Settings { count_tokens: Arc::new(guess), ..settings() }, turns)
}

fn after_turns_with(settings: Settings, turns: usize) -> Run {
    let mut run = started(settings);
    for turn in 0..turns {
        take_turn(&mut run, turn);
    }
    run
}

fn started(settings: Settings) -> Run {
    let now = Utc::now();
    let job = JobInfo {
        id: Uuid::from_u128(7),
        job_type: "creator".into(),
        prompt: "Extract the requirements".into(),
        step: 0,
        started_at: now,
    };
    let mut run = Run::load(Snapshot::unstarted(job), settings.into()).expect("a job without rows is well-formed");
    let files = vec![FileWrite::text("instructions.md", prose(4, 3000))];
    apply(&mut run, Outcome::IntakeDone(Intake { files, ..Intake::default() }), now);
    let todos: Vec<_> = (1..=5).map(|id| json!({"id": id, "content": format!("Process section {id}")})).collect();
    let mut calls = vec![
        ("add_note", json!({"text": "The policy has five sections."})),
        ("add_note", json!({"text": "Section 4 defines record."})),
        ("write_plan", json!({"content": "# Plan\n\n## Phase 1: Extraction\n- [ ] all sections\n"})),
        ("todo_write", json!({"phase": "Extraction", "description": "All sections", "todos": todos})),
    ];
    calls.extend((0..4).map(|_| ("todo_complete", json!({}))));
    let calls = calls.into_iter().map(|(name, arguments)| call(name, &arguments)).collect();
    apply(&mut run, Outcome::ModelReplied(reply(calls)), now);
    run_tools(&mut run, now);
    run
}

/// Takes one whole turn: the model's answer, the local tool, the results.
pub fn take_turn(run: &mut Run, number: usize) {
    perform(run, turn(number));
}

/// The external results of one turn, prepared in advance.
#[derive(Debug)]
pub struct Turn {
    reply: Reply,
    returns: Vec<ToolReturn>,
}

/// The turn of this number: an answer with one `write_file` of 2 KB, and what the tool gives back.
pub fn turn(number: usize) -> Turn {
    let arguments = json!({"path": format!("work/part_{number:05}.md"), "content": prose(number as u64, 2048)});
    let calls = vec![call("write_file", &arguments)];
    let returns = calls.iter().map(write_file).collect();
    Turn { reply: reply(calls), returns }
}

/// The engine's own part of a turn.
pub fn perform(run: &mut Run, turn: Turn) {
    let now = Utc::now();
    let Turn { reply, mut returns } = turn;
    apply(run, Outcome::ModelReplied(reply), now);
    let Effect::RunTools { calls, .. } = run.next() else { unreachable!("the answer holds a call") };
    // The engine gives each call an id of its own.
    for (given, call) in returns.iter_mut().zip(calls) {
        given.call_id.clone_from(&call.id);
    }
    apply(run, Outcome::ToolsReturned(returns), now);
}

fn reply(tool_calls: Vec<ToolCall>) -> Reply {
    let record = RequestRecord { estimated: true, ..RequestRecord::sent("bench", Purpose::Tactical, 1, Utc::now()) };
    Reply { content: String::new(), tool_calls, finish: FinishReason::Done, extra: Map::new(), record }
}

fn call(name: &str, arguments: &serde_json::Value) -> ToolCall {
    ToolCall { id: "call_0".into(), name: name.into(), arguments: arguments.to_string() }
}

fn run_tools(run: &mut Run, now: DateTime<Utc>) {
    let Effect::RunTools { calls, .. } = run.next() else { return };
    let returns = calls.iter().map(|call| write_file(call)).collect();
    apply(run, Outcome::ToolsReturned(returns), now);
}

/// The result of the tool, without a workspace.
fn write_file(call: &ToolCall) -> ToolReturn {
    let arguments: serde_json::Value = serde_json::from_str(&call.arguments).expect("the engine checked the JSON");
    let text = |key: &str| arguments[key].as_str().unwrap_or_default().to_owned();
    let (path, content) = (text("path"), text("content"));
    let done = format!("wrote {path}: {} bytes", content.len());
    ToolReturn::ok(&call.id, done, vec![Product::WriteFile(FileWrite::text(path, content))])
}

fn apply(run: &mut Run, outcome: Outcome, now: DateTime<Utc>) {
    run.apply(outcome, now).expect("the dialogue keeps to the protocol");
}

#[cfg(test)]
mod tests {
    use super::after_turns;
    use plumbline_engine::{Effect, PhaseKind};

    #[test]
    fn a_job_is_in_its_tactical_phase_and_its_request_holds_every_turn() {
        let run = after_turns(30);
        assert_eq!(run.state().phase.kind, PhaseKind::Tactical);
        let Effect::CallModel(request) = run.next() else { panic!("the model is next") };
        assert!(request.messages.len() >= 60, "{}", request.messages.len());
    }
}

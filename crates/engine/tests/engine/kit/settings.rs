//! Settings with small, round numbers, and the tools of the tests.

use plumbline_engine::{
    Autonomy, CoverageSettings, Handler, HistoryAtBoundary, Limits, ModelSettings, OnToolFailure, OtherModels,
    PhaseSettings, Phases, Prices, Prompts, RepeatedCalls, Replay, Settings, StrategicTodos, SystemPromptPrefixes,
    SystemTodo, TodoListPosition, ToolSpec, tools,
};
use serde_json::json;
use std::sync::Arc;

/// Four bytes are a token.
pub(crate) fn count(text: &str) -> u32 {
    u32::try_from(text.len().div_ceil(4)).expect("texts of tests are short: no overflow")
}

/// Default bounds, with a context that is never full; tests narrow what they are about.
pub(crate) fn settings() -> Settings {
    Settings {
        prompts: prompts(),
        tools: Arc::new(own_tools(false).into_iter().chain(test_tools()).collect()),
        phases: PhaseSettings {
            min_todos: 5,
            max_todos: 20,
            archive_on_transition: true,
            history_at_boundary: HistoryAtBoundary::Reset,
        },
        limits: Limits {
            max_iterations: 1000,
            context_threshold_tokens: 100_000,
            keep_recent_tool_results: 2,
            closed_todos: plumbline_engine::ClosedTodos::Keep,
            max_tool_result_tokens: 1000,
            token_budget: None,
            tool_retries: 3,
            tool_timeout_s: 120,
            approval_expires_s: 86_400,
            cost_budget_usd: None,
            deadline_s: None,
            turns_without_tool_call: 3,
            repeated_calls: RepeatedCalls { nudge: 3, refuse: 5, replan: 8 },
            turns_without_progress: 25,
            on_tool_failure: OnToolFailure::Continue,
        },
        model: ModelSettings {
            max_retries: 3,
            model: "test-model".into(),
            max_output_tokens: 1000,
            context_window: 200_000,
            todo_list_position: TodoListPosition::Last,
            // The answers of these tests report a round number.
            reports_whole_prompt: false,
            prefix_cache: true,
            prices: Prices { input: 1.0, cached_input: 0.1, cache_write: 1.0, output: 2.0 },
        },
        other_models: OtherModels::default(),
        fallbacks: Vec::new(),
        autonomy: Autonomy::Full,
        owed: plumbline_engine::Owed::default(),
        coverage: None,
        prepare: plumbline_engine::Prepare::Start,
        deferred: Arc::default(),
        count_tokens: Arc::new(count),
        approval: plumbline_engine::ApprovalRules::default(),
        untrusted: plumbline_engine::UntrustedRules::default(),
        prompt_prefixes: SystemPromptPrefixes::default(),
    }
}

/// The same for a job whose documents must be accounted for.
pub(crate) fn covering() -> Settings {
    let coverage = Some(CoverageSettings { minimum: 0.5, max_closed: 0.5, unsupported: 0.5, records: false });
    let cite = tool("cite", Phases::Both, Handler::Local, Replay::Safe);
    let tools = own_tools(true).into_iter().chain(test_tools()).chain([cite]);
    Settings { tools: Arc::new(tools.collect()), coverage, ..settings() }
}

/// The engine's own tools, including those of the ledger if it counts.
fn own_tools(covers: bool) -> Vec<ToolSpec> {
    let is_bound = |tool: &ToolSpec| match tool.name.as_str() {
        "search_tools" => false,
        "close_passages" | "coverage" => covers,
        _ => true,
    };
    tools::specs().into_iter().filter(is_bound).collect()
}

fn prompts() -> Prompts {
    Prompts {
        strategic: "You plan.".into(),
        tactical: "You work.".into(),
        summarization: "Summarize the conversation.".into(),
        instructions: "Record each requirement with page and quote.".into(),
        todos: StrategicTodos {
            initial: texts(&[
                "Explore and fill workspace.md",
                "Write main_plan.md",
                "Divide into phases",
                "Write the todos",
            ]),
            transition: texts(&["Summarize", "Update workspace.md", "Update main_plan.md", "Write the next todos"]),
            r#final: texts(&["Verify the deliverables", "Write the report", "Complete the job"]),
            rewound: texts(&["Find out what went wrong", "Write better todos"]),
            feedback: texts(&["Take in the feedback", "Write corrective todos"]),
        },
    }
}

fn texts(texts: &[&str]) -> Vec<SystemTodo> {
    texts.iter().map(|text| SystemTodo::from(*text)).collect()
}

/// External tools, one of each kind, executed by `super::executor`.
fn test_tools() -> Vec<ToolSpec> {
    vec![
        tool("write_file", Phases::Both, Handler::Local, Replay::Safe),
        tool("read_file", Phases::Both, Handler::Local, Replay::Safe),
        tool("add_requirement", Phases::Tactical, Handler::Local, Replay::Safe),
        tool("web_search", Phases::Both, Handler::External, Replay::Safe),
        tool("index_page", Phases::Tactical, Handler::External, Replay::Keyed),
        tool("send_letter", Phases::Tactical, Handler::External, Replay::Unsafe),
        tool("switched_off", Phases::Neither, Handler::Local, Replay::Safe),
    ]
}

fn tool(name: &str, phases: Phases, handler: Handler, replay: Replay) -> ToolSpec {
    ToolSpec {
        name: name.into(),
        phases,
        description: format!("{name} of the tests."),
        parameters: json!({"type": "object"}).into(),
        documentation: String::new(),
        handler,
        replay,
        reads_only: name == "read_file",
    }
}

//! Converts a resolved configuration to the engine's settings.

use crate::{
    approval::approval, catalog, deliverables::owed, http_tools, token_cache::TokenCache, untrusted::untrusted,
};
use plumbline_config::{
    ConfigError, Coverage, CoverageSettings, JobConfig, Llm, LlmFallback, Problem, Resolved, Tools, advice,
};
use plumbline_engine::{
    Fallback, ModelSettings, OtherModels, PhaseKind, Phases, Purpose, Settings, SystemPromptPrefixes, TokenCounter,
    ToolSpec,
};
use std::sync::Arc;

/// The engine's settings with the token counter of the job's model. The tokens of `shared` texts, which all jobs of the
/// configuration have, are counted once.
///
/// # Errors
/// As [`settings`].
pub fn engine_settings(resolved: &Resolved, shared: &[&str]) -> Result<Settings, ConfigError> {
    let encoder = plumbline_tokens::encoder_for(resolved.config.llm.model.as_deref().unwrap_or_default());
    let mut settings = settings(resolved, Arc::new(move |text| encoder.count(text)))?;
    let known = TokenCache::of(encoder, &settings.prompts, shared);
    settings.count_tokens = Arc::new(move |text| known.count(text));
    Ok(settings)
}

/// The engine's settings: of all tools of the program and of the configuration's own, they have those that the
/// configuration lists, in the order of its lists, each bound in the phases that both the lists and the tool allow.
///
/// # Errors
/// If a list names a tool that does not exist or does not work in its phase, or a prompt does not render.
pub fn settings(resolved: &Resolved, count_tokens: TokenCounter) -> Result<Settings, ConfigError> {
    let config = &resolved.config;
    let foreign = http_tools::foreign_tools(config);
    let specs = foreign.specs();
    let lists = &http_tools::laid_out(tools_with_service(config), &specs, resolved.lists_foreign, &*count_tokens);
    let mut catalog = catalog();
    catalog.extend(specs);
    let covers = config.coverage == Coverage::Documents;
    let mut tools = select(lists, &catalog, covers)?;
    let deferred = on_demand(lists, &catalog, &mut tools);
    let prompts = resolved.prompts.render(config, &tools)?;
    let names = deferred.iter().map(|tool| tool.name.clone()).collect();
    tools.extend(deferred);
    let (approval, untrusted) = (approval(config, &tools, foreign), untrusted(config, &tools));
    Ok(Settings {
        prompts,
        tools: Arc::new(tools.into()),
        deferred: Arc::new(names),
        phases: config.phase_settings.clone(),
        limits: config.limits.clone(),
        model: model(&resolved.llm(Purpose::Tactical)),
        other_models: OtherModels {
            strategic: other_model(resolved, Purpose::Strategic),
            summary: other_model(resolved, Purpose::Summary),
        },
        fallbacks: fallbacks(resolved),
        autonomy: config.autonomy,
        approval,
        untrusted,
        owed: owed(config),
        coverage: coverage(resolved),
        prepare: config.documents.prepare,
        count_tokens,
        prompt_prefixes: SystemPromptPrefixes::default(),
    })
}

/// The lists without tools whose service is not configured: a tool that can only fail is not offered.
fn tools_with_service(config: &JobConfig) -> Tools {
    let mut lists = config.tools.clone();
    if config.connections.web_search.is_none() {
        let Tools { workspace, strategic, tactical, domain, deferred } = &mut lists;
        for list in [workspace, strategic, tactical, domain, deferred] {
            list.retain(|name| !WEB_RESEARCH.contains(&name.as_str()));
        }
    }
    lists
}

fn coverage(resolved: &Resolved) -> Option<plumbline_engine::CoverageSettings> {
    let CoverageSettings { minimum, max_closed, unsupported, .. } = resolved.config.coverage_settings;
    let bounds = plumbline_engine::CoverageSettings { minimum, max_closed, unsupported, records: resolved.records };
    (resolved.config.coverage == Coverage::Documents).then_some(bounds)
}

/// The model of a purpose; none if it is the one for todos.
fn other_model(resolved: &Resolved, purpose: Purpose) -> Option<ModelSettings> {
    let [model, tactical] = [purpose, Purpose::Tactical].map(|purpose| model(&resolved.llm(purpose)));
    (model != tactical).then_some(model)
}

/// The models of each entry of `llm.fallback`.
fn fallbacks(resolved: &Resolved) -> Vec<Fallback> {
    let entries = resolved.config.llm.fallback.iter().zip(resolved.fallbacks());
    let of = |(entry, llms): (&LlmFallback, [Llm; 3])| Fallback {
        after: entry.after,
        on: entry.on.clone(),
        purposes: entry.purposes.clone(),
        models: llms.each_ref().map(model),
    };
    entries.map(of).collect()
}

fn model(llm: &Llm) -> ModelSettings {
    ModelSettings {
        model: llm.model.clone().unwrap_or_default(),
        max_output_tokens: llm.max_output_tokens,
        context_window: llm.context_window,
        max_retries: llm.max_retries,
        todo_list_position: llm.todo_list_position,
        prices: llm.prices.into(),
        reports_whole_prompt: llm.profile.reports_whole_prompt.unwrap_or(true),
        prefix_cache: llm.profile.prefix_cache.unwrap_or(true),
    }
}

/// The tools enabled by `connections.web_search`.
const WEB_RESEARCH: [&str; 2] = ["web_search", "fetch_page"];

/// The tool that loads deferred tools.
const SEARCH: &str = "search_tools";

/// The deferred tools that are not bound anyway. If there are any, the tool that loads them is bound.
fn on_demand(lists: &Tools, catalog: &[ToolSpec], bound: &mut Vec<ToolSpec>) -> Vec<ToolSpec> {
    let is_bound = |bound: &[ToolSpec], name: &str| bound.iter().any(|tool| tool.name == name);
    let deferred = catalog.iter().filter(|tool| lists.deferred.contains(&tool.name));
    let deferred: Vec<ToolSpec> = deferred.filter(|tool| !is_bound(bound, &tool.name)).cloned().collect();
    if !deferred.is_empty() && !is_bound(bound, SEARCH) {
        bound.extend(catalog.iter().find(|tool| tool.name == SEARCH).cloned());
    }
    deferred
}

/// The listed tools in the order of the lists, with the phases in which they are bound.
fn select(lists: &Tools, catalog: &[ToolSpec], covers: bool) -> Result<Vec<ToolSpec>, ConfigError> {
    let mut selected: Vec<ToolSpec> = Vec::new();
    let mut wrong = Vec::new();
    for (list, names, kinds) in listed(lists) {
        for name in names {
            let Some(tool) = catalog.iter().find(|tool| tool.name == *name) else {
                wrong.push(unknown_tool(list, name, catalog));
                continue;
            };
            let kinds: Vec<PhaseKind> = kinds.iter().copied().filter(|kind| tool.phases.contains(*kind)).collect();
            match selected.iter_mut().find(|chosen| chosen.name == tool.name) {
                _ if kinds.is_empty() => wrong.push(wrong_phase(list, tool)),
                Some(chosen) => chosen.phases = chosen.phases.with(&kinds),
                None => selected.push(ToolSpec { phases: Phases::Neither.with(&kinds), ..tool.clone() }),
            }
        }
    }
    bind_gates(catalog, covers, &mut selected);
    wrong.extend(
        lists
            .deferred
            .iter()
            .filter(|name| !catalog.iter().any(|tool| tool.name == name.as_str()))
            .map(|name| unknown_tool("deferred", name, catalog)),
    );
    ConfigError::unless_empty(wrong)?;
    Ok(selected)
}

/// Tools that end a phase or a job. Without one of them a job could not continue, so they are bound wherever they work,
/// regardless of the lists.
const GATES: [&str; 4] = ["todo_complete", "todo_write", "todo_rewind", "job_complete"];

/// Tools with which a job answers its documents' passages, if it must.
const LEDGER: [&str; 2] = ["close_passages", "coverage"];

fn bind_gates(catalog: &[ToolSpec], covers: bool, selected: &mut Vec<ToolSpec>) {
    let is_gate = |name: &str| GATES.contains(&name) || (covers && LEDGER.contains(&name));
    for gate in catalog.iter().filter(|tool| is_gate(&tool.name)) {
        match selected.iter_mut().find(|chosen| chosen.name == gate.name) {
            Some(chosen) => chosen.phases = gate.phases,
            None => selected.push(gate.clone()),
        }
    }
}

const BOTH: &[PhaseKind] = &[PhaseKind::Strategic, PhaseKind::Tactical];

fn listed(lists: &Tools) -> [(&'static str, &[String], &'static [PhaseKind]); 4] {
    [
        ("workspace", &lists.workspace, BOTH),
        ("strategic", &lists.strategic, &BOTH[..1]),
        ("tactical", &lists.tactical, &BOTH[1..]),
        ("domain", &lists.domain, BOTH),
    ]
}

fn unknown_tool(list: &str, name: &str, catalog: &[ToolSpec]) -> Problem {
    let known: Vec<&str> = catalog.iter().map(|tool| tool.name.as_str()).collect();
    Problem::new(
        format!("tools.{list}"),
        None,
        format!("`tools.{list}` names the unknown tool `{name}`; {}", advice(name, &known)),
    )
}

fn wrong_phase(list: &str, tool: &ToolSpec) -> Problem {
    let kinds: Vec<&str> = BOTH.iter().filter(|kind| tool.phases.contains(**kind)).map(|kind| kind.as_str()).collect();
    let where_it_works = if kinds.is_empty() { "no" } else { kinds[0] };
    let message = format!("`tools.{list}` names `{}`, which works in {where_it_works} phases only; move it", tool.name);
    Problem::new(format!("tools.{list}"), None, message)
}

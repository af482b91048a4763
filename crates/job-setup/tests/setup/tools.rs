//! Which tools a configuration binds, and in which phases.

use crate::{creator, env, operators};
use plumbline_engine::{PhaseKind, Phases, Purpose, Settings};
use plumbline_job_setup::{catalog, configs, settings as settings_with};
use serde_json::{Value, json};
use std::sync::{Arc, LazyLock};

const VALIDATOR_TOOLS: [&str; 6] = [
    "next_requirement",
    "judge_requirements",
    "integrate_requirement",
    "reject_requirement",
    "get_graph_schema",
    "execute_cypher_query",
];

static WEB_SEARCH: LazyLock<Value> = LazyLock::new(|| json!({"provider": "searxng", "base_url": "http://127.0.0.1:1"}));

fn settings(keys: Value) -> Settings {
    settings_with(&operators(&keys).unwrap(), Arc::new(|text| text.len() as u32 / 4)).unwrap()
}

fn names(settings: &Settings, kind: PhaseKind) -> Vec<&str> {
    settings.bound(kind).map(|tool| tool.name.as_str()).collect()
}

#[test]
fn the_creator_has_every_tool_of_the_catalog_in_the_phases_it_is_made_for() {
    let settings = settings(json!({"connections": {"web_search": WEB_SEARCH.clone()}}));
    let validates = |name: &str| VALIDATOR_TOOLS.contains(&name);
    // Bound only if tools are deferred.
    let searches = |name: &str| name == "search_tools";
    // Always understood, but offered only if a configuration lists them.
    let is_second_name = |name: &str| ["complete_task", "write_requirement_to_db"].contains(&name);
    let others = |name: &str| validates(name) || searches(name) || is_second_name(name);
    for tool in catalog().into_iter().filter(|tool| !others(&tool.name)) {
        let bound = settings.tools.iter().find(|bound| bound.name == tool.name).map(|bound| bound.phases);
        assert_eq!(bound, Some(tool.phases), "{}", tool.name);
    }
    assert!(!settings.tools.iter().any(|tool| validates(&tool.name) || is_second_name(&tool.name)));
    let tactical = names(&settings, PhaseKind::Tactical);
    assert!(!tactical.contains(&"todo_write") && !tactical.contains(&"job_complete"), "{tactical:?}");
    assert!(!names(&settings, PhaseKind::Strategic).contains(&"add_requirement"));
}

#[test]
fn the_validator_has_its_own_tools_and_the_creators_file_tools_and_nothing_follows_it() {
    let resolved = configs(None, None).unwrap().resolve("validator", &json!({}), &env()).unwrap();
    let settings = settings_with(&resolved, Arc::new(|text| text.len() as u32 / 4)).unwrap();
    let tactical = names(&settings, PhaseKind::Tactical);
    for tool in VALIDATOR_TOOLS.into_iter().chain(["query_similar_requirements", "write_file", "todo_complete"]) {
        assert!(tactical.contains(&tool), "{tool}");
    }
    assert!(!tactical.contains(&"add_requirement"));
    assert_eq!(resolved.config.on_complete.enqueue, None);
    assert_eq!(creator(json!({})).unwrap().config.on_complete.enqueue.as_deref(), Some("validator"));
}

#[test]
fn the_order_is_that_of_the_lists_and_a_tool_is_bound_where_it_is_listed() {
    let lists = json!({"coverage": "off", "tools": {
        "workspace": ["todo_complete", "read_file"],
        "strategic": ["todo_write", "add_note", "job_complete"],
        "tactical": ["write_file", "add_note"],
        "domain": ["cite"],
        "deferred": []
    }});
    let settings = settings(lists);
    assert_eq!(
        names(&settings, PhaseKind::Strategic),
        ["todo_complete", "read_file", "todo_write", "add_note", "job_complete", "todo_rewind"]
    );
    assert_eq!(
        names(&settings, PhaseKind::Tactical),
        ["todo_complete", "read_file", "add_note", "write_file", "cite", "todo_rewind"]
    );
    let phases = |name| settings.tools.iter().find(|tool| tool.name == name).unwrap().phases;
    assert_eq!((phases("add_note"), phases("write_file")), (Phases::Both, Phases::Tactical));
}

/// The example of the design, verbatim: a gate in only one list, and connections that are enabled and disabled.
#[test]
fn the_designs_own_configuration_works() {
    let settings = settings(json!({
        "tools": {
            "workspace": ["read_file", "write_file", "list_files", "search_files"],
            "strategic": ["todo_write", "job_complete"],
            "tactical": ["todo_complete"],
            "domain": ["extract_document_text", "add_requirement"]
        },
        "connections": {"postgres": true, "neo4j": false}
    }));
    let (strategic, tactical) = (names(&settings, PhaseKind::Strategic), names(&settings, PhaseKind::Tactical));
    for gate in ["todo_complete", "todo_write", "todo_rewind", "job_complete"] {
        assert!(strategic.contains(&gate), "{gate}: {strategic:?}");
        assert_eq!(tactical.contains(&gate), gate.starts_with("todo_") && gate != "todo_write", "{gate}: {tactical:?}");
    }
}

#[test]
fn a_tool_in_a_list_where_it_cannot_work_is_an_error() {
    for (lists, expected) in [
        (json!({"strategic": ["cite"]}), "`tools.strategic` names `cite`, which works in tactical phases only"),
        (
            json!({"tactical": ["job_complete"]}),
            "`tools.tactical` names `job_complete`, which works in strategic phases only",
        ),
        (json!({"deferred": ["web_serch"]}), "`tools.deferred` names the unknown tool `web_serch`"),
    ] {
        let resolved = operators(&json!({"tools": lists})).unwrap();
        let error = settings_with(&resolved, Arc::new(|_| 0)).expect_err(expected).to_string();
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn limits_and_prices_reach_the_engine_in_its_units() {
    let settings = settings(json!({
        "limits": {"cost_budget_usd": 2.5, "deadline_s": 60},
        "llm": {"prices": {"input": 3.0, "cached_input": 0.3, "output": 15.0}},
        "llm_by_purpose": {"strategic": {"context_window": 100_000, "max_output_tokens": 4096}}
    }));
    assert_eq!(settings.limits.cost_budget_microusd(), Some(2_500_000));
    assert_eq!(settings.limits.deadline_s, Some(60));
    assert_eq!((settings.model.prices.input, settings.model.prices.output), (3.0, 15.0));
    assert_eq!(settings.model.model, "test-model");
    // Lesson 46: the window and the cap belong to the model that is used.
    let caps = |purpose| {
        let model = settings.model_for(purpose);
        (model.context_window, model.max_output_tokens)
    };
    assert_eq!(caps(Purpose::Strategic), (100_000, 4096));
    assert_eq!(caps(Purpose::Tactical), (128_000, 8192));
}

#[test]
fn web_research_is_offered_only_where_a_service_is_configured() {
    let (off, on) = (settings(json!({})), settings(json!({"connections": {"web_search": WEB_SEARCH.clone()}})));
    let (off, on) = (names(&off, PhaseKind::Tactical), names(&on, PhaseKind::Tactical));
    for tool in ["web_search", "fetch_page"] {
        assert!(!off.contains(&tool) && on.contains(&tool), "{tool}");
    }
    for (search, says) in [
        (json!({"provider": "google"}), "it must be searxng, tavily or brave"),
        (json!({"provider": "searxng"}), "searxng has no usual address"),
    ] {
        let error = operators(&json!({"connections": {"web_search": search}})).expect_err(says).to_string();
        assert!(error.contains(says), "{error}");
    }
}

//! Which tools a configuration binds, and in which phases.

use crate::{catalog, creator};
use plumbline_engine::{PhaseKind, Phases, Settings};
use serde_json::{Value, json};
use std::sync::Arc;

fn settings(overrides: Value) -> Settings {
    creator(overrides).unwrap().settings(catalog(), Arc::new(|text| text.len() as u32 / 4)).unwrap()
}

fn names(settings: &Settings, kind: PhaseKind) -> Vec<&'static str> {
    settings.bound(kind).map(|tool| tool.name).collect()
}

#[test]
fn the_creator_has_every_tool_of_the_catalog_in_the_phases_it_is_made_for() {
    let settings = settings(json!({}));
    for tool in catalog() {
        let bound = settings.tools.iter().find(|bound| bound.name == tool.name).map(|bound| bound.phases);
        assert_eq!(bound, Some(tool.phases), "{}", tool.name);
    }
    let tactical = names(&settings, PhaseKind::Tactical);
    assert!(!tactical.contains(&"todo_write") && !tactical.contains(&"job_complete"), "{tactical:?}");
    assert!(!names(&settings, PhaseKind::Strategic).contains(&"add_requirement"));
}

#[test]
fn the_order_is_that_of_the_lists_and_a_tool_is_bound_where_it_is_listed() {
    let lists = json!({"tools": {
        "workspace": ["todo_complete", "read_file"],
        "strategic": ["todo_write", "add_note", "job_complete"],
        "tactical": ["write_file", "add_note"],
        "domain": ["cite"]
    }});
    let settings = settings(lists);
    assert_eq!(
        names(&settings, PhaseKind::Strategic),
        ["todo_complete", "read_file", "todo_write", "add_note", "job_complete"]
    );
    assert_eq!(names(&settings, PhaseKind::Tactical), ["todo_complete", "read_file", "add_note", "write_file", "cite"]);
    let phases = |name| settings.tools.iter().find(|tool| tool.name == name).unwrap().phases;
    assert_eq!((phases("add_note"), phases("write_file")), (Phases::Both, Phases::Tactical));
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
        let resolved = creator(json!({"tools": lists})).unwrap();
        let error = resolved.settings(catalog(), Arc::new(|_| 0)).expect_err(expected).to_string();
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
    assert_eq!(settings.limits.cost_budget_microusd, Some(2_500_000));
    assert_eq!(settings.limits.deadline_s, Some(60));
    assert_eq!((settings.model.prices.input, settings.model.prices.output), (3.0, 15.0));
    assert_eq!(settings.model.model, "test-model");
    // Lesson 46: the smallest window of the models that turns go to.
    assert_eq!((settings.model.context_window, settings.model.max_output_tokens), (100_000, 4096));
}

//! Deferred tools: listed in one line each, searched for, bound after all others from the next turn on.

use crate::kit::{Dialogue, settings};
use plumbline_engine::{Effect, PhaseKind, Settings};
use serde_json::json;
use std::{collections::BTreeSet, sync::Arc};

/// The tests' tools, two of them deferred.
fn deferring() -> Settings {
    let mut settings = settings();
    let mut tools = settings.tools.to_vec();
    tools.extend(plumbline_engine::tools::specs().into_iter().filter(|tool| tool.name == "search_tools"));
    for tool in &mut tools {
        match tool.name.as_str() {
            "web_search" => tool.description = "Search the web.".into(),
            "index_page" => tool.description = "Put a page into the index.".into(),
            _ => {}
        }
    }
    settings.tools = Arc::new(tools.into());
    settings.deferred = Arc::new(BTreeSet::from(["web_search".to_string(), "index_page".to_string()]));
    settings
}

fn offered(dialogue: &Dialogue) -> Vec<String> {
    match dialogue.run.next() {
        Effect::CallModel(request) => request.tools.iter().map(|tool| tool.name.clone()).collect(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_tool_on_demand_is_listed_and_may_be_called_without_its_definition() {
    let mut dialogue = Dialogue::working(deferring(), 1);
    let system = dialogue.request()[0].text.clone();
    assert!(system.contains("search_tools loads what they take:\n\n- web_search: Search the web."), "{system}");
    assert!(!offered(&dialogue).contains(&"web_search".to_owned()));
    let text = dialogue.call("web_search", json!({"query": "x"}));
    assert!(!text.starts_with("Error:"), "{text}");
    assert!(!offered(&dialogue).contains(&"web_search".to_owned()), "the prefix stays");
    assert!(dialogue.call("search_tools", json!({"query": "knitting"})).starts_with("Error: no tool on demand fits"));
}

#[test]
fn a_loaded_tool_comes_last_and_stays_through_phases_and_restarts() {
    let mut dialogue = Dialogue::working(deferring(), 1);
    let before = offered(&dialogue);
    let results =
        dialogue.calls(&[("search_tools", json!({"query": "search the web"})), ("web_search", json!({"query": "x"}))]);
    assert!(results[0].contains("- web_search: Search the web."), "{results:?}");
    assert!(!results[1].starts_with("Error:"), "{results:?}");
    let after = offered(&dialogue);
    assert_eq!(after[..before.len()], before);
    assert_eq!(after[before.len()..], ["web_search"]);
    dialogue.call("search_tools", json!({"query": "web search again"}));
    assert_eq!(offered(&dialogue), after, "nothing is bound twice");
    dialogue.crash();
    assert_eq!(offered(&dialogue), after);
    dialogue.finish_phase();
    assert_eq!(dialogue.phase().1, PhaseKind::Strategic);
    assert_eq!(offered(&dialogue).last(), Some(&"web_search".to_owned()));
    assert!(!dialogue.call("web_search", json!({"query": "x"})).contains("on demand"));
}

#[test]
fn nothing_is_reported_if_nothing_is_deferred() {
    let dialogue = Dialogue::begun(settings());
    assert!(!dialogue.request()[0].text.contains("search_tools"));
}

//! `untrusted`: which calls reach beyond a job, and which of them the operator allows nevertheless.

use crate::operators;
use plumbline_config::Resolved;
use plumbline_engine::Untrusted;
use plumbline_job_setup::{allowed_hosts, foreign_tools, settings as settings_with, to_stored};
use serde_json::{Value, json};
use std::sync::Arc;

fn keys(more: Value) -> Value {
    let entry = json!({"description": "Pay.", "url": "https://pay.example/", "parameters": {"type": "object"}});
    let mut keys = json!({
        "untrusted": "deny",
        "connections": {
            "http_tools": {"pay": entry.clone(), "look": entry},
            "web_search": {"provider": "searxng", "base_url": "https://search.example/x"},
            "web": {"allowed_hosts": ["Www.Example.org"]}
        }
    });
    keys.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    keys
}

fn reaches(keys: &Value, name: &str, arguments: &Value) -> bool {
    let resolved = operators(keys).unwrap();
    let settings = settings_with(&resolved, Arc::new(|_| 0)).unwrap();
    assert_eq!(settings.untrusted.mode, Untrusted::Deny);
    (settings.untrusted.reaches_out)(name, &arguments.to_string())
}

#[test]
fn what_leaves_the_job_reaches_out_unless_the_operator_allows_it() {
    let usual = keys(json!({}));
    for (name, arguments, out) in [
        ("http_pay", json!({}), true),
        ("web_search", json!({"query": "x"}), true),
        ("fetch_page", json!({"url": "https://evil.example/"}), true),
        ("fetch_page", json!({"url": "https://www.example.org/a"}), false),
        ("write_file", json!({"path": "a"}), false),
        ("todo_complete", json!({}), false),
    ] {
        assert_eq!(reaches(&usual, name, &arguments), out, "{name} {arguments}");
    }
    let some = keys(json!({"untrusted_allowed": ["http_l*"]}));
    assert!(reaches(&some, "http_pay", &json!({})) && !reaches(&some, "http_look", &json!({})));
    let mut searching = keys(json!({}));
    searching["connections"]["web"]["allowed_hosts"] = json!(["search.example"]);
    assert!(!reaches(&searching, "web_search", &json!({"query": "x"})));
}

#[test]
fn patterns_and_hosts_that_are_none_are_named() {
    let mut with_url = keys(json!({}));
    with_url["connections"]["web"]["allowed_hosts"] = json!(["https://www.example.org/"]);
    for (keys, says) in [
        (keys(json!({"untrusted_allowed": ["fetch_page"]})), "`untrusted_allowed` has `fetch_page`"),
        (keys(json!({"untrusted_allowed": ["http_play"]})), "`untrusted_allowed` has `http_play`"),
        (keys(json!({"untrusted": "never"})), "must be one of `allow`, `ask`, `deny`"),
        (with_url, "write a host's name alone"),
    ] {
        let error = operators(&keys).expect_err(says).to_string();
        assert!(error.contains(says), "{says}: {error}");
    }
}

#[test]
fn what_the_files_say_now_holds_for_a_job_that_has_begun() {
    let began = to_stored(&operators(&json!({})).unwrap());
    let now = operators(&keys(json!({"approval": ["http_pay"]}))).unwrap().call_rules();
    let goes_on = Resolved::from_stored(&began).unwrap().with_call_rules(now);
    assert_eq!(goes_on.config.untrusted, Untrusted::Deny);
    assert_eq!(allowed_hosts(&goes_on.config), ["www.example.org"]);
    assert_eq!(goes_on.config.approval, Some(vec!["http_pay".to_owned()]));
    assert!(foreign_tools(&goes_on.config).specs().is_empty(), "its tools are those that it began with");
}

//! `connections.http_tools`: which of its own tools a configuration has, and which entries are invalid.

use crate::{env, folder, operators};
use plumbline_config::{ModelEnv, Resolved, Secrets};
use plumbline_engine::{PhaseKind, Replay, Settings};
use plumbline_job_setup::{configs, foreign_tools_by_type, secret, settings as settings_with, to_stored};
use serde_json::{Value, json};
use std::sync::Arc;

fn entry(more: Value) -> Value {
    let mut entry = json!({
        "description": "Pay an amount.", "url": "https://pay.example/pay",
        "parameters": {"type": "object", "properties": {"amount": {"type": "integer"}}, "required": ["amount"]}
    });
    entry.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    entry
}

fn with(entries: Value, more: Value) -> Value {
    let mut keys = json!({"connections": {"http_tools": entries}});
    keys.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    keys
}

fn settings_of(resolved: &Resolved) -> Settings {
    settings_with(resolved, Arc::new(|text| text.len() as u32 / 4)).unwrap()
}

fn settings(keys: &Value) -> Settings {
    settings_of(&operators(keys).unwrap())
}

fn own(settings: &Settings, kind: PhaseKind) -> Vec<&str> {
    settings.bound(kind).map(|tool| tool.name.as_str()).filter(|name| name.starts_with("http_")).collect()
}

fn on_demand(settings: &Settings) -> Vec<&str> {
    settings.deferred.iter().map(String::as_str).filter(|name| name.starts_with("http_")).collect()
}

#[test]
fn an_entry_is_a_tool_bound_in_its_phases() {
    let entries = json!({"pay": entry(json!({})), "look": entry(json!({"phases": ["strategic"], "replay": "safe"}))});
    let settings = settings(&with(entries, json!({})));
    assert_eq!(own(&settings, PhaseKind::Strategic), ["http_look", "http_pay"]);
    assert_eq!(own(&settings, PhaseKind::Tactical), ["http_pay"]);
    let replay = |name: &str| settings.tools.iter().find(|tool| tool.name == name).unwrap().replay;
    assert_eq!((replay("http_pay"), replay("http_look")), (Replay::Unsafe, Replay::Safe));
}

#[test]
fn lists_defer_a_tool_or_leave_it_out() {
    let entries = || json!({"a": entry(json!({})), "b": entry(json!({})), "c": entry(json!({}))});
    let deferred = settings(&with(entries(), json!({"tools": {"deferred": ["http_a"]}})));
    assert_eq!((own(&deferred, PhaseKind::Tactical), on_demand(&deferred)), (vec!["http_b", "http_c"], vec!["http_a"]));
    assert!(deferred.bound(PhaseKind::Tactical).any(|tool| tool.name == "search_tools"));
    let chosen = settings(&with(entries(), json!({"tools": {"domain": ["http_b"], "deferred": ["http_c"]}})));
    assert_eq!((own(&chosen, PhaseKind::Tactical), on_demand(&chosen)), (vec!["http_b"], vec!["http_c"]));
    let all = settings(&with(entries(), json!({"tools": {"tactical": ["http_*"]}})));
    assert_eq!(own(&all, PhaseKind::Tactical), ["http_a", "http_b", "http_c"]);
    assert!(own(&all, PhaseKind::Strategic).is_empty());
}

#[test]
fn definitions_that_take_more_than_4000_tokens_are_loaded_on_demand() {
    let words = "x".repeat(4 * 1_400);
    let entries = |n: usize| -> Value {
        (0..n)
            .map(|n| (format!("t{n}"), entry(json!({"description": words}))))
            .collect::<serde_json::Map<_, _>>()
            .into()
    };
    let few = settings(&with(entries(2), json!({})));
    assert_eq!((own(&few, PhaseKind::Tactical).len(), on_demand(&few).len()), (2, 0));
    let many = settings(&with(entries(3), json!({})));
    assert_eq!((own(&many, PhaseKind::Tactical).len(), on_demand(&many).len()), (0, 3));
}

#[test]
fn a_row_leaves_out_what_its_type_lists_and_adds_nothing() {
    let file = with(
        json!({"a": entry(json!({})), "b": entry(json!({})), "c": entry(json!({}))}),
        json!({"$extends": "creator", "tools": {"domain": ["http_a", "http_b"]}}),
    );
    let dir = folder(&[("mine/config.json", &file.to_string())]);
    let configs = configs(Some(dir.path()), None).unwrap();
    let bound = |row: Value| {
        let resolved = configs.resolve("mine", &row, &env())?;
        // The configuration stored with the job gives the same.
        let again = Resolved::from_stored(&to_stored(&resolved)).unwrap();
        let names = |resolved| own(&settings_of(resolved), PhaseKind::Tactical).join(" ");
        assert_eq!(names(&resolved), names(&again));
        Ok::<_, plumbline_config::ConfigError>(names(&resolved))
    };
    assert_eq!(bound(json!({})).unwrap(), "http_a http_b");
    assert_eq!(bound(json!({"tools": {"domain": ["http_b"]}})).unwrap(), "http_b");
    assert_eq!(bound(json!({"tools": {"domain": []}})).unwrap(), "");
    for row in [json!({"tools": {"domain": ["http_c"]}}), json!({"tools": {"domain": ["http_*"]}})] {
        assert_eq!(bound(row).unwrap_err().forbidden.unwrap().key, "tools.domain");
    }
    // A name with a dot in it is not mistaken for a path.
    for entry in [json!({"url": "https://evil.example/"}), json!({"headers_env": {"x.key": "HOME"}})] {
        let row = json!({"connections": {"http_tools": {"a": entry}}});
        assert_eq!(bound(row).unwrap_err().forbidden.unwrap().key, "connections.http_tools");
    }
}

#[test]
fn what_an_operator_opens_is_bound_by_addresses_and_secrets() {
    let file = with(
        json!({"pay": entry(json!({"headers_env": {"authorization": "PAY_KEY"}}))}),
        json!({
            "$extends": "creator", "job_may_set": ["connections.http_tools"], "addresses_allowed": ["https://pay.example/"]
        }),
    );
    let dir = folder(&[("mine/config.json", &file.to_string())]);
    let configs = configs(Some(dir.path()), None).unwrap();
    let set = |entry: Value| configs.resolve("mine", &json!({"connections": {"http_tools": {"pay": entry}}}), &env());
    set(json!({"url": "https://pay.example/other", "timeout_s": 5})).unwrap();
    let headers = ["x-key", "x.key"].map(|name| json!({"headers_env": {name: "HOME"}}));
    for entry in headers.into_iter().chain([json!({"url": "https://evil.example/"})]) {
        let error = set(entry).unwrap_err();
        assert_eq!(
            error.forbidden.as_ref().map(|forbidden| forbidden.key.as_str()),
            Some("connections.http_tools"),
            "{error}"
        );
    }
}

#[test]
fn an_entry_that_is_no_tool_is_named_with_its_key() {
    for (name, more, says) in [
        ("Pay", json!({}), "`connections.http_tools.Pay` must be named by 1 to 16 small letters"),
        ("a-b", json!({}), "must be named by"),
        ("pay", json!({"description": " "}), "`connections.http_tools.pay.description` is empty"),
        ("pay", json!({"phases": []}), "phases` is empty"),
        ("pay", json!({"url": "ftp://pay.example"}), "`connections.http_tools.pay.url` must begin with http"),
        ("pay", json!({"url": "https://user:secret@pay.example"}), "contains user name or password"),
        ("pay", json!({"url": "http://127.0.0.1:9/"}), "outside the public internet"),
        ("pay", json!({"url": "http://169.254.169.254/"}), "outside the public internet"),
        ("pay", json!({"headers_env": {"host": "PAY_KEY"}}), "has `host`, which is no header"),
        ("pay", json!({"headers_env": {"x key": "PAY_KEY"}}), "has `x key`, which is no header"),
        ("pay", json!({"headers_env": {"x-key": "sk-1234"}}), "must be the name of an environment variable"),
        ("pay", json!({"headers_env": {"x-key": "DATABASE_URL"}}), "which no configuration may use"),
        ("pay", json!({"parameters": {"type": "string"}}), "must describe an object"),
        ("pay", json!({"parameters": {"type": "object", "properties": {"a": {"pattern": "(?=a)b"}}}}), "held against"),
        ("pay", json!({"replay": "often"}), "must be one of `safe`, `keyed`, `unsafe`"),
        ("pay", json!({"timeout_s": 0}), "must be at least 1"),
        ("pay", json!({"time_out_s": 5}), "unknown key `connections.http_tools.pay.time_out_s`"),
        ("pay", json!({"url": null}), "`connections.http_tools.pay.url` has no value"),
    ] {
        let error = operators(&with(json!({name: entry(more)}), json!({}))).expect_err(says).to_string();
        assert!(error.contains(says) && error.contains("config.json"), "{says}: {error}");
        assert!(!error.contains("sk-1234"), "{error}");
    }
    for (keys, says) in [
        (json!({"tools": {"domain": ["http_play"]}}), "`tools` names `http_play`"),
        (json!({"approval": ["http_play"]}), "`approval` names the unknown tool `http_play`; did you mean `http_pay`?"),
    ] {
        let error = operators(&with(json!({"pay": entry(json!({}))}), keys)).expect_err(says).to_string();
        assert!(error.contains(says), "{says}: {error}");
    }
}

#[test]
fn a_schema_that_is_too_large_leaves_its_tool_out_with_a_warning() {
    let circle = json!({"parameters": {"type": "object", "properties": {"next": {"$ref": "#"}}}});
    let file = with(json!({"pay": entry(json!({})), "walk": entry(circle)}), json!({"$extends": "creator"}));
    let dir = folder(&[("mine/config.json", &file.to_string())]);
    let configs = configs(Some(dir.path()), None).unwrap();
    let resolved = configs.resolve("mine", &json!({}), &env()).unwrap();
    assert_eq!(own(&settings_of(&resolved), PhaseKind::Tactical), ["http_pay"]);
    let warnings: Vec<String> = configs.warnings(&env()).iter().map(ToString::to_string).collect();
    assert!(warnings.iter().any(|said| said.contains("jobs go without http_walk")), "{warnings:?}");
    let shown = foreign_tools_by_type(&configs, &env());
    assert_eq!(shown.iter().map(|tool| tool.spec.name.as_str()).collect::<Vec<_>>(), ["http_pay"]);
    assert!(shown[0].tokens > 10);
}

#[test]
fn a_secret_of_a_tool_goes_to_its_own_host() {
    let tool = entry(json!({"headers_env": {"authorization": "PATH"}}));
    let file = with(json!({"pay": tool}), json!({"$extends": "creator"}));
    let dir = folder(&[("mine/config.json", &file.to_string())]);
    let configs = configs(Some(dir.path()), None).unwrap();
    let secrets = Secrets::of(&configs, &ModelEnv::default());
    assert!(secret(&secrets, "PATH", "https://pay.example/other").is_some());
    assert!(secret(&secrets, "PATH", "https://evil.example/pay").is_none());
}

#[test]
fn an_approval_is_of_the_entrys_own_schema_and_address() {
    let digest = |more: Value| settings(&with(json!({"pay": entry(more)}), json!({}))).approval.tools["http_pay"];
    let same = digest(json!({}));
    assert_eq!(same, digest(json!({"timeout_s": 5})));
    for other in [
        json!({"url": "https://pay.example/other"}),
        json!({"method": "GET"}),
        json!({"description": "Pay."}),
        // Keywords that requests omit from a schema still count for the approval.
        json!({"parameters": {"type": "object", "properties": {"amount": {"type": "integer", "format": "cents"}}, "required": ["amount"]}}),
    ] {
        assert_ne!(same, digest(other));
    }
}

#[test]
fn a_star_asks_for_each_tool_over_http() {
    let keys = |approval: Value| {
        with(json!({"pay": entry(json!({})), "look": entry(json!({}))}), json!({"approval": approval}))
    };
    let asked = |approval: Value| settings(&keys(approval)).approval.asks_for.into_iter().collect::<Vec<_>>().join(" ");
    assert_eq!(asked(json!(["*"])), "http_look http_pay");
    assert_eq!(asked(json!(["http_p*"])), "http_pay");
    assert_eq!(asked(json!(["http_look"])), "http_look");
    assert_eq!(asked(json!([])), "");
}

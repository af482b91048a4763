//! Which layer wins, and what is stored.

use crate::{creator, env, folder, operators};
use plumbline_engine::Purpose;
use plumbline_worker::config::{Configs, ModelEnv, Resolved};
use serde_json::{Value, json};

#[test]
fn the_defaults_are_those_of_the_interface() {
    let config = creator(json!({})).unwrap().config;
    assert_eq!(config.job_type, "creator");
    assert_eq!((config.phase_settings.min_todos, config.phase_settings.max_todos), (5, 20));
    assert_eq!(config.limits.max_iterations, 1000);
    assert_eq!(config.limits.context_threshold_tokens, 80_000);
    assert_eq!((config.limits.tool_retries, config.limits.tool_timeout_s), (3, 120));
    let calls = config.limits.repeated_calls;
    assert_eq!((calls.nudge, calls.refuse, calls.replan), (3, 5, 8));
    assert_eq!((config.llm.max_output_tokens, config.llm.context_window), (8192, 128_000));
    assert_eq!(config.llm.temperature, None);
}

#[test]
fn the_environment_wins_over_files_and_the_job_over_the_environment() {
    let dir = folder(&[(
        "mine/config.json",
        r#"{"$extends": "creator", "llm": {"model": "file-model", "base_url": "http://file"}, "limits": {"max_iterations": 7}}"#,
    )]);
    let configs = Configs::from_dir(dir.path()).unwrap();
    let resolve = |overrides: Value, env: &ModelEnv| {
        let config = configs.resolve("mine", &overrides, env).unwrap().config;
        (config.llm.model.unwrap(), config.limits.max_iterations)
    };
    assert_eq!(resolve(json!({}), &ModelEnv::default()), ("file-model".into(), 7));
    let env = ModelEnv { max_iterations: Some(8), ..env() };
    assert_eq!(resolve(json!({}), &env), ("test-model".into(), 8));
    let own = json!({"llm": {"model": "job-model"}, "limits": {"max_iterations": 6}});
    assert_eq!(resolve(own, &env), ("job-model".into(), 6));
}

#[test]
fn a_chain_in_json_and_yaml_merges_from_the_most_general_down() {
    let dir = folder(&[
        (
            "base/config.yaml",
            "$extends: creator\nlimits:\n  deadline_s: 60\n  token_budget: 500\ntools:\n  domain: [cite]\n",
        ),
        ("top/config.yml", "$extends: base\nlimits:\n  deadline_s: null\n"),
        ("top/instructions.md", "Do the top thing."),
    ]);
    let resolved = Configs::from_dir(dir.path()).unwrap().resolve("top", &json!({}), &env()).unwrap();
    assert_eq!(resolved.config.limits.deadline_s, None);
    assert_eq!(resolved.config.limits.token_budget, Some(500));
    assert_eq!(resolved.config.tools.domain, ["cite"]);
    assert_eq!(resolved.config.job_type, "top");
    assert_eq!(resolved.prompts.instructions, "Do the top thing.");
}

#[test]
fn instructions_come_from_the_nearest_type_that_has_some() {
    let dir = folder(&[("mine/config.json", r#"{"$extends": "creator"}"#)]);
    let configs = Configs::from_dir(dir.path()).unwrap();
    let mine = configs.resolve("mine", &json!({}), &env()).unwrap();
    assert_eq!(mine.prompts.instructions, creator(json!({})).unwrap().prompts.instructions);
    assert_eq!(configs.job_types(), ["creator", "mine", "validator"]);
}

#[test]
fn a_type_given_as_yaml_replaces_the_built_in_one() {
    let dir = folder(&[("creator/config.yaml", "$extends: defaults\ndisplay_name: Ours\n")]);
    let resolved = Configs::from_dir(dir.path()).unwrap().resolve("creator", &json!({}), &env()).unwrap();
    assert_eq!(resolved.config.display_name, "Ours");
    assert_eq!(resolved.config.tools.domain, Vec::<String>::new());
}

#[test]
fn a_purpose_has_the_model_with_its_own_parts() {
    let resolved =
        operators(&json!({"llm_by_purpose": {"summary": {"model": "small", "prices": {"input": 0.1}}}})).unwrap();
    let summary = resolved.llm(Purpose::Summary);
    assert_eq!(summary.model.as_deref(), Some("small"));
    assert_eq!((summary.prices.input, summary.prices.output), (0.1, 0.0));
    assert_eq!(summary.base_url, resolved.config.llm.base_url);
    assert_eq!(resolved.llm(Purpose::Tactical), resolved.config.llm);
}

#[test]
fn a_group_or_list_removed_by_null_is_empty() {
    let overrides = json!({"on_complete": null, "connections": null, "tools": {"deferred": null}});
    let config = creator(overrides).unwrap().config;
    assert_eq!(config.on_complete.enqueue, None);
    assert!(config.connections.neo4j.is_none());
    assert!(config.tools.deferred.is_empty() && !config.tools.workspace.is_empty());
}

/// Groups whose keys must have values: nothing of the layers is left, and what is left is a configuration that runs.
#[test]
fn a_group_of_values_removed_by_null_is_what_every_job_type_begins_with() {
    let dir = folder(&[(
        "mine/config.json",
        r#"{"$extends": "creator", "llm": {"max_retries": 9, "temperature": 0.1},
            "limits": {"tool_retries": 9, "token_budget": 5, "repeated_calls": {"replan": 99}},
            "job_may_set": ["llm", "limits"], "addresses_allowed": ["http://127.0.0.1:1"]}"#,
    )]);
    let configs = Configs::from_dir(dir.path()).unwrap();
    let env = ModelEnv { max_iterations: Some(8), ..env() };
    let resolve = |overrides: Value| configs.resolve("mine", &overrides, &env).unwrap().config;
    let begun_with = configs.resolve("creator", &json!({}), &env).unwrap().config;
    let config = resolve(json!({"llm": null, "limits": null, "phase_settings": null, "llm_by_purpose": null}));
    assert_eq!((config.llm, config.limits), (begun_with.llm.clone(), begun_with.limits.clone()));
    assert_eq!(config.phase_settings, begun_with.phase_settings);
    let within = resolve(json!({"limits": {"repeated_calls": null}, "llm": {"prices": null, "max_retries": 1}}));
    assert_eq!(within.limits.repeated_calls, begun_with.limits.repeated_calls);
    assert_eq!((within.limits.tool_retries, within.llm.max_retries, within.llm.prices), (9, 1, begun_with.llm.prices));
}

#[test]
fn what_is_stored_gives_the_same_back() {
    let overrides = json!({
        "limits": {"cost_budget_usd": 1.5, "deadline_s": null},
        "llm": {"api_key_env": null},
        "llm_by_purpose": {"strategic": {"temperature": 0.2}}
    });
    let resolved = operators(&overrides).unwrap();
    let stored = resolved.to_stored();
    let text = serde_json::to_string(&stored).unwrap();
    assert_eq!(Resolved::from_stored(&serde_json::from_str(&text).unwrap()).unwrap(), resolved);
    assert_eq!(resolved.config.llm.api_key_env, None);
}

#[test]
fn a_job_follows_the_endpoint_of_the_environment_but_keeps_one_of_its_own() {
    let opened = r#"{"$extends": "creator", "job_may_set": ["llm.base_url"], "addresses_allowed": ["http://own"]}"#;
    let dir = folder(&[("mine/config.json", opened)]);
    let configs = Configs::from_dir(dir.path()).unwrap();
    let elsewhere = ModelEnv { model: Some("other".into()), base_url: Some("http://elsewhere/v1".into()), ..env() };
    let resumed = |overrides: Value| {
        let stored = configs.resolve("mine", &overrides, &env()).unwrap().to_stored();
        Resolved::from_stored(&stored).unwrap().with_endpoint_of(&elsewhere).config.llm
    };
    let llm = resumed(json!({}));
    assert_eq!((llm.base_url.as_deref(), llm.model.as_deref()), (Some("http://elsewhere/v1"), Some("test-model")));
    assert_eq!(resumed(json!({"llm": {"base_url": "http://own/v1"}})).base_url.as_deref(), Some("http://own/v1"));
    let stored = creator(json!({})).unwrap();
    assert_eq!(stored.clone().with_endpoint_of(&ModelEnv::default()), stored);
}

#[test]
fn a_configuration_stored_before_a_key_existed_takes_its_default() {
    let resolved = creator(json!({})).unwrap();
    let mut stored = resolved.to_stored();
    stored["config"]["limits"].as_object_mut().unwrap().remove("turns_without_progress");
    assert_eq!(Resolved::from_stored(&stored).unwrap(), resolved);
    assert!(Resolved::from_stored(&json!({"config": 5})).is_err());
}

#[test]
fn iterations_in_the_environment_must_be_a_number() {
    let read = |text: &str| {
        let text = text.to_owned();
        ModelEnv::from_lookup(move |name| (name == "PLUMBLINE_MAX_ITERATIONS").then(|| text.clone()))
    };
    assert_eq!(read("12").unwrap().max_iterations, Some(12));
    assert_eq!(read("").unwrap().max_iterations, None);
    for text in ["0", "many", "-1"] {
        let error = read(text).unwrap_err().to_string();
        assert!(error.contains("PLUMBLINE_MAX_ITERATIONS") && error.contains(text), "{error}");
    }
}

#[test]
fn a_folder_of_prompts_replaces_single_prompts() {
    let dir = folder(&[("tactical.md", "Our own {{ display_name }}.")]);
    let configs = Configs::load(None, Some(dir.path())).unwrap();
    let resolved = configs.resolve("creator", &json!({}), &env()).unwrap();
    assert_eq!(resolved.prompts.tactical, "Our own {{ display_name }}.");
    assert_eq!(resolved.prompts.strategic, creator(json!({})).unwrap().prompts.strategic);
}

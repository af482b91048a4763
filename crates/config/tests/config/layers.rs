//! Precedence of layers, and the stored configuration.

use crate::{creator, env, folder, operators};
use plumbline_config::{ConfigRegistry, ModelEnv, Resolved};
use plumbline_engine::Purpose;
use serde_json::{Value, json};

/// The shipped defaults, for a folder of the operator.
const DEFAULTS: &str = include_str!("../../../../configs/defaults.json");

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

/// `defaults`, environment, the files of the type and of the types that it extends, row.
#[test]
fn the_environment_fills_what_no_file_of_the_type_sets() {
    let dir = folder(&[
        (
            "defaults.json",
            &DEFAULTS.replace("1000", "900").replace("\"model\": null", "\"model\": \"of-the-defaults\""),
        ),
        ("open/config.json", r#"{"$extends": "creator"}"#),
        (
            "local/config.json",
            r#"{"$extends": "creator", "llm": {"model": "file-model", "base_url": "http://file"}, "limits": {"max_iterations": 7}}"#,
        ),
        ("heir/config.json", r#"{"$extends": "local", "limits": {"max_iterations": 6}}"#),
        ("renouncing/config.json", r#"{"$extends": "local", "llm": {"model": null}, "limits": null}"#),
    ]);
    let configs = ConfigRegistry::load(Some(dir.path()), None).unwrap();
    let resolve = |job_type: &str, overrides: Value, env: &ModelEnv| {
        let resolved = configs.resolve(job_type, &overrides, env).unwrap();
        let follows = resolved.endpoint_from_env;
        (resolved.config.llm.model.unwrap(), resolved.config.limits.max_iterations, follows)
    };
    let none = ModelEnv { base_url: Some("http://env/v1".into()), ..ModelEnv::default() };
    assert_eq!(resolve("open", json!({}), &none), ("of-the-defaults".into(), 900, true));
    let env = ModelEnv { max_iterations: Some(8), ..env() };
    assert_eq!(resolve("open", json!({}), &env), ("test-model".into(), 8, true));
    assert_eq!(resolve("local", json!({}), &env), ("file-model".into(), 7, false));
    assert_eq!(resolve("heir", json!({}), &env), ("file-model".into(), 6, false));
    assert_eq!(resolve("renouncing", json!({}), &env), ("test-model".into(), 8, false));
    let own = json!({"llm": {"model": "job-model"}, "limits": {"max_iterations": 5}});
    assert_eq!(resolve("heir", own, &env), ("job-model".into(), 5, false));
}

#[test]
fn each_value_says_where_it_comes_from() {
    let dir = folder(&[("mine/config.json", "{\"$extends\": \"creator\",\n \"llm\": {\n  \"model\": \"own\"}}")]);
    let configs = ConfigRegistry::load(Some(dir.path()), None).unwrap();
    let env = ModelEnv { max_iterations: Some(8), ..env() };
    let origins = configs.origins("mine", &env).unwrap();
    let place = |key: &str| {
        let origin = origins.iter().find(|origin| origin.key == key).unwrap_or_else(|| panic!("no {key}"));
        (origin.value.clone(), origin.place.replace(&dir.path().display().to_string(), "DIR"))
    };
    assert_eq!(place("llm.model"), (json!("own"), "DIR/mine/config.json:3".into()));
    assert_eq!(place("llm.base_url"), (json!("http://127.0.0.1:1/v1"), "the environment (OPENAI_BASE_URL)".into()));
    assert_eq!(place("limits.max_iterations"), (json!(8), "the environment (PLUMBLINE_MAX_ITERATIONS)".into()));
    assert_eq!(place("llm.temperature"), (json!(null), "not set".into()));
    assert_eq!(place("job_type"), (json!("mine"), "the name of its folder".into()));
    let (_, tools) = place("tools.domain");
    assert!(tools.starts_with("built in (creator/config.json:"), "{tools}");
    assert!(place("limits.tool_retries").1.starts_with("built in (defaults.json:"));
}

#[test]
fn what_follows_a_job_is_not_handed_on() {
    let dir = folder(&[
        ("mine/config.json", r#"{"$extends": "creator"}"#),
        ("asks/config.json", r#"{"$extends": "creator", "on_complete": {"enqueue": "validator"}}"#),
    ]);
    let configs = ConfigRegistry::load(Some(dir.path()), None).unwrap();
    let follower = |job_type: &str| configs.resolve(job_type, &json!({}), &env()).unwrap().config.on_complete.enqueue;
    assert_eq!(follower("mine"), None);
    assert_eq!(follower("asks").as_deref(), Some("validator"));
    assert_eq!(follower("creator").as_deref(), Some("validator"));
}

/// A budget that no request counts against has no effect: an error says so, and no job starts with it.
#[test]
fn a_budget_without_prices_is_refused() {
    let priced = json!({"input": 1.0, "cached_input": 0.1, "output": 2.0});
    let budget = json!({"cost_budget_usd": 5.0});
    let refusal = |keys: Value| operators(&keys).unwrap_err().to_string();
    for keys in [
        json!({"limits": budget}),
        json!({"limits": budget, "llm": {"prices": null}}),
        json!({"limits": budget, "llm": {"prices": {"input": 0.0, "cached_input": 0.0, "output": 0.0}}}),
        json!({"limits": budget, "llm_by_purpose": {"summary": {"prices": "free"}}}),
    ] {
        let sentence = refusal(keys);
        for words in ["`limits.cost_budget_usd` is 5", "`llm.prices`", "test-model", "`llm.prices: free`"] {
            assert!(sentence.contains(words), "{sentence}");
        }
    }
    for keys in [
        json!({"limits": budget, "llm": {"prices": priced}}),
        json!({"limits": budget, "llm": {"prices": "free"}}),
        json!({"limits": budget, "llm_by_purpose": {"tactical": {"prices": priced}}}),
        json!({"llm": {"prices": "free"}}),
    ] {
        operators(&keys).unwrap_or_else(|error| panic!("{keys}: {error}"));
    }
    let row = creator(json!({"limits": {"cost_budget_usd": 1.0}})).unwrap_err().to_string();
    assert!(row.contains("would never be reached"), "{row}");
    assert!(refusal(json!({"llm": {"prices": "gratis"}})).contains("it must be an object or the word `free`"));
}

#[test]
fn budgets_that_count_nothing_are_warned_of_with_file_and_line() {
    let dir = folder(&[
        ("mine/config.json", "{\"$extends\": \"creator\",\n \"limits\": {\"cost_budget_usd\": 5}}"),
        ("partly/config.json", r#"{"$extends": "mine", "llm_by_purpose": {"tactical": {"prices": {"output": 1.0}}}}"#),
        ("well/config.json", r#"{"$extends": "mine", "llm": {"prices": {"output": 1.0}}}"#),
    ]);
    let configs = ConfigRegistry::load(Some(dir.path()), None).unwrap();
    let warnings: Vec<String> = configs.warnings(&ModelEnv::default()).iter().map(ToString::to_string).collect();
    assert_eq!(warnings.len(), 3, "{warnings:?}");
    assert!(warnings[0].contains("mine/config.json:2: `limits.cost_budget_usd` is 5"), "{warnings:?}");
    assert!(warnings[1].contains("does not count the requests of `llm_by_purpose.strategic`"), "{warnings:?}");
}

#[test]
fn quotes_without_texts_are_warned_of_with_file_and_line() {
    let dir = folder(&[
        (
            "mine/config.json",
            "{\"$extends\": \"creator\",\n \"citations_required\": [\"output/a.md\"], \"deliverables\": [\"output/a.md\"]}",
        ),
        ("without/config.json", r#"{"$extends": "mine", "tools": {"domain": ["cite", "fetch_page"], "deferred": []}}"#),
        (
            "web/config.json",
            r#"{"$extends": "without", "connections": {"web_search": {"provider": "searxng", "base_url": "http://127.0.0.1:1"}}}"#,
        ),
        ("none/config.json", r#"{"$extends": "without", "citations_required": []}"#),
        ("later/config.json", r#"{"$extends": "without", "tools": {"deferred": ["extract_document_text"]}}"#),
    ]);
    let configs = ConfigRegistry::load(Some(dir.path()), None).unwrap();
    let warnings: Vec<String> = configs.warnings(&ModelEnv::default()).iter().map(ToString::to_string).collect();
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert!(warnings[0].contains("without/config.json:1: `citations_required` looks quotes up"), "{warnings:?}");
    assert!(warnings[0].ends_with("so that every quote is refused; add it to `tools.domain`"), "{warnings:?}");
}

#[test]
fn an_allowed_address_that_permits_nothing_is_warned_of_with_file_and_line() {
    let wrong = ["models.example", "", "*", "https://", "https://login@models.example", "https://models.example/?a=1"];
    let right = ["https://models.example", "http://127.0.0.1:8000/v1/", "bolt://graph.example:7687"];
    let mine = |addresses: &[&str]| {
        let text = format!("{{\"$extends\": \"creator\",\n\"addresses_allowed\": {}}}", json!(addresses));
        let dir = folder(&[("mine/config.json", &text)]);
        let configs = ConfigRegistry::load(Some(dir.path()), None).unwrap();
        configs.warnings(&ModelEnv::default()).iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    for (place, warning) in mine(&wrong).iter().enumerate() {
        assert!(warning.contains(&format!("mine/config.json:2: `addresses_allowed.{place}` is `")), "{warning}");
    }
    assert_eq!((mine(&wrong).len(), mine(&right).len()), (wrong.len(), 0));
}

/// Settings without a check that uses them, and a keyword that checks nothing.
#[test]
fn unowed_files_and_misspelt_keywords_cause_warnings() {
    let schema = json!({"type": "object", "requred": ["answers"]});
    let mine = json!({"$extends": "creator", "deliverables": [{"path": "output/a.json", "json_schema": schema}],
                      "citations_required": ["output/a.json", "output/b.md"]});
    let dir = folder(&[("mine/config.json", &mine.to_string())]);
    let configs = ConfigRegistry::load(Some(dir.path()), None).unwrap();
    let warnings: Vec<String> = configs.warnings(&ModelEnv::default()).iter().map(ToString::to_string).collect();
    assert_eq!(warnings.len(), 2, "{warnings:?}");
    assert!(warnings[0].contains("names `output/b.md`, which is no deliverable"), "{warnings:?}");
    assert!(warnings[1].contains("`/requred`, which JSON Schema does not have"), "{warnings:?}");
    assert!(warnings[1].ends_with("did you mean `required`?"), "{warnings:?}");
}

/// A schema for a file that is not JSON, and documents of which none is a source.
#[test]
fn a_schema_for_markdown_and_no_source_at_all_are_warned_of() {
    let schema = json!({"type": "object"});
    let mine = json!({"$extends": "creator", "no_sources": ["*"],
                      "deliverables": [{"path": "output/a.MD", "json_schema": schema}, {"path": "output/a.json", "json_schema": schema}]});
    let dir = folder(&[("mine/config.json", &mine.to_string())]);
    let configs = ConfigRegistry::load(Some(dir.path()), None).unwrap();
    let warnings: Vec<String> = configs.warnings(&ModelEnv::default()).iter().map(ToString::to_string).collect();
    assert_eq!(warnings.len(), 2, "{warnings:?}");
    assert!(warnings[0].contains("`no_sources` names every document by `*`"), "{warnings:?}");
    assert!(warnings[1].contains("a `json_schema` for `output/a.MD`, whose content must then be JSON"), "{warnings:?}");
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
    let resolved = ConfigRegistry::load(Some(dir.path()), None).unwrap().resolve("top", &json!({}), &env()).unwrap();
    assert_eq!(resolved.config.limits.deadline_s, None);
    assert_eq!(resolved.config.limits.token_budget, Some(500));
    assert_eq!(resolved.config.tools.domain, ["cite"]);
    assert_eq!(resolved.config.job_type, "top");
    assert_eq!(resolved.prompts.instructions, "Do the top thing.");
}

#[test]
fn instructions_come_from_the_nearest_type_that_has_some() {
    let dir = folder(&[("mine/config.json", r#"{"$extends": "creator"}"#)]);
    let configs = ConfigRegistry::load(Some(dir.path()), None).unwrap();
    let mine = configs.resolve("mine", &json!({}), &env()).unwrap();
    assert_eq!(mine.prompts.instructions, creator(json!({})).unwrap().prompts.instructions);
    assert_eq!(configs.job_types(), ["mine"]);
}

#[test]
fn a_folder_is_in_the_place_of_the_built_in_types() {
    let types = |files: &[(&str, &str)]| {
        let dir = folder(files);
        let configs = ConfigRegistry::load(Some(dir.path()), None).unwrap();
        assert!(configs.resolve("creator", &json!({}), &env()).is_ok(), "it can still be named");
        configs.job_types().join(" ")
    };
    let followed = r#"{"$extends": "creator", "on_complete": {"enqueue": "validator"}}"#;
    assert_eq!(types(&[("mine/config.json", r#"{"$extends": "creator"}"#)]), "mine");
    assert_eq!(types(&[("mine/config.json", followed)]), "mine validator");
    let first = r#"{"$extends": "creator", "on_complete": {"enqueue": "creator"}}"#;
    assert_eq!(types(&[("mine/config.json", first)]), "creator mine validator", "and what the built-in one names");
    assert_eq!(types(&[("creator/instructions.md", "Extract.")]), "creator validator");
    let only_defaults = include_str!("../../../../configs/defaults.json");
    assert_eq!(types(&[("defaults.json", only_defaults)]), "creator validator", "no type of its own");
}

#[test]
fn a_type_given_as_yaml_replaces_the_built_in_one() {
    let dir = folder(&[("creator/config.yaml", "$extends: defaults\ndisplay_name: Ours\n")]);
    let resolved =
        ConfigRegistry::load(Some(dir.path()), None).unwrap().resolve("creator", &json!({}), &env()).unwrap();
    assert_eq!(resolved.config.display_name, "Ours");
    assert_eq!(resolved.config.tools.domain, Vec::<String>::new());
}

#[test]
fn a_purpose_has_the_model_with_its_own_parts() {
    let resolved =
        operators(&json!({"llm_by_purpose": {"summary": {"model": "small", "prices": {"input": 0.1}}}})).unwrap();
    let summary = resolved.llm(Purpose::Summary);
    assert_eq!(summary.model.as_deref(), Some("small"));
    assert_eq!((summary.prices.table().input, summary.prices.table().output), (0.1, 0.0));
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

/// Groups whose keys must have values: the values of the layers are removed, and the rest is a usable configuration.
#[test]
fn a_group_of_values_removed_by_null_is_what_every_job_type_begins_with() {
    let dir = folder(&[(
        "mine/config.json",
        r#"{"$extends": "creator", "llm": {"max_retries": 9, "temperature": 0.1},
            "limits": {"tool_retries": 9, "token_budget": 5, "repeated_calls": {"replan": 99}},
            "job_may_set": ["llm", "limits"], "addresses_allowed": ["http://127.0.0.1:1"]}"#,
    )]);
    let configs = ConfigRegistry::load(Some(dir.path()), None).unwrap();
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

/// A row is read again with each claim.
#[test]
fn limits_removed_by_null_stay_as_stored_when_the_row_is_read_again() {
    for limits in [json!(null), json!({"repeated_calls": null}), json!({"token_budget": null, "tool_retries": 7})] {
        let row = json!({"limits": limits});
        let begun = crate::creator(row.clone()).unwrap();
        assert_eq!(begun.clone().with_limits_of(&row).unwrap(), begun, "{row}");
    }
}

#[test]
fn what_is_stored_gives_the_same_back() {
    let overrides = json!({
        "limits": {"cost_budget_usd": 1.5, "deadline_s": null},
        "llm": {"api_key_env": null, "prices": "free"},
        "llm_by_purpose": {"strategic": {"temperature": 0.2}}
    });
    let resolved = operators(&overrides).unwrap();
    let stored = resolved.to_stored(Vec::new());
    let text = serde_json::to_string(&stored).unwrap();
    assert_eq!(Resolved::from_stored(&serde_json::from_str(&text).unwrap()).unwrap(), resolved);
    assert_eq!(resolved.config.llm.api_key_env, None);
}

#[test]
fn a_job_follows_the_endpoint_of_the_environment_but_keeps_one_of_its_own() {
    let opened = r#"{"$extends": "creator", "job_may_set": ["llm.base_url"], "addresses_allowed": ["http://own"]}"#;
    let dir = folder(&[("mine/config.json", opened)]);
    let configs = ConfigRegistry::load(Some(dir.path()), None).unwrap();
    let elsewhere = ModelEnv { model: Some("other".into()), base_url: Some("http://elsewhere/v1".into()), ..env() };
    let resumed = |overrides: Value| {
        let stored = configs.resolve("mine", &overrides, &env()).unwrap().to_stored(Vec::new());
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
    let mut stored = resolved.to_stored(Vec::new());
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
    let configs = ConfigRegistry::load(None, Some(dir.path())).unwrap();
    let resolved = configs.resolve("creator", &json!({}), &env()).unwrap();
    assert_eq!(resolved.prompts.tactical, "Our own {{ display_name }}.");
    assert_eq!(resolved.prompts.strategic, creator(json!({})).unwrap().prompts.strategic);
}

//! Every mistake gives one sentence that says what, where and what to do.

use crate::{
    creator, env, folder,
    levels::{mine, schema},
    operators,
};
use plumbline_config::{ConfigRegistry, ModelEnv};
use serde_json::{Value, json};

/// The error of a job type `mine` whose file has this text.
fn error_of(name: &str, text: &str) -> String {
    let dir = folder(&[(name, text)]);
    let configs = ConfigRegistry::load(Some(dir.path()), None).unwrap();
    let error = configs.resolve("mine", &json!({}), &env()).expect_err(text);
    error.to_string().replace(&format!("{}/", dir.path().display()), "")
}

#[test]
fn an_unknown_key_is_named_with_file_line_and_the_nearest_known_key() {
    let text = "{\n  \"$extends\": \"defaults\",\n  \"limits\": {\n    \"max_iteration\": 5\n  }\n}";
    assert_eq!(
        error_of("mine/config.json", text),
        "mine/config.json:4: unknown key `limits.max_iteration`; did you mean `max_iterations`?"
    );
    let text = "$extends: defaults\nllm:\n  modle: x\n";
    assert_eq!(
        error_of("mine/config.yaml", text),
        "mine/config.yaml:3: unknown key `llm.modle`; did you mean `model`?"
    );
}

#[test]
fn the_jobs_own_config_is_checked_alike() {
    for (overrides, expected) in [
        (json!({"limit": {}}), "the job's config: unknown key `limit`; did you mean `limits`?"),
        (json!({"llm": {"api_key": "sk-1234"}}), "unknown key `llm.api_key`; did you mean `api_key_env`?"),
        (json!({"limits": {"max_iterations": 0}}), "`limits.max_iterations` is 0; it must be at least 1"),
        (json!({"limits": {"max_iterations": -5}}), "`limits.max_iterations` is -5; it must be at least 1"),
        (json!({"limits": {"max_iterations": 5_000_000_000_u64}}), "it must be at most 1000000000"),
        (json!({"limits": {"max_iterations": "many"}}), "`limits.max_iterations` is a text; it must be a whole number"),
        (json!({"limits": {"max_iterations": 1.5}}), "`limits.max_iterations` is a number; it must be a whole number"),
        (json!({"limits": {"cost_budget_usd": -1}}), "`limits.cost_budget_usd` is -1; it must be at least 0"),
        (json!({"limits": 5}), "`limits` is a number; it must be an object"),
        (json!({"limits": {"max_iterations": null}}), "the job's config: `limits.max_iterations` has no value"),
        (json!({"autonomy": "ful"}), "`autonomy` is `ful`; it must be one of `full`, `review`"),
        (json!({"coverage": "all"}), "`coverage` is `all`; it must be one of `documents`, `off`"),
        (json!({"phase_settings": {"min_todos": 101}}), "`phase_settings.min_todos` is 101; it must be at most 100"),
        (json!({"tools": {"domain": ["cite", 5]}}), "`tools.domain.1` is a number; it must be a text"),
        (json!({"tools": {"domain": [null]}}), "the job's config: `tools.domain.0` is null; it must be a text"),
        (json!({"llm": {"temperature": 3}}), "`llm.temperature` is 3; it must be at most 2"),
        (json!({"llm_by_purpose": {"summary": {"modle": "x"}}}), "unknown key `llm_by_purpose.summary.modle`"),
        (
            json!({"connections": {"neo4j": {"url": "bolt://x"}}}),
            "unknown key `connections.neo4j.url`; did you mean `uri`?",
        ),
        (
            json!({"connections": {"neo4j": {"user": "x"}}}),
            "`connections.neo4j.user` has level operator: a job may not set it",
        ),
        (json!({"on_complete": {"enqueue": "creater"}}), "the unknown job type `creater`; did you mean `creator`?"),
        (json!({"job_type": "other"}), "the job's config: `job_type` has level operator"),
        (json!({"limits": {"keep_recent_tool_results": 5_000_000_000_u64}}), "it must be at most 4294967295"),
        (json!({"$extends": "creator"}), "`$extends` has level operator and works in configuration files only"),
        (json!([1]), "the job's config: must be a JSON object"),
    ] {
        let error = creator(overrides.clone()).expect_err(&overrides.to_string()).to_string();
        assert!(error.contains(expected), "{overrides}\n{error}");
    }
}

#[test]
fn rules_between_keys_are_checked_where_the_last_word_was_written() {
    for (overrides, expected) in [
        (
            json!({"phase_settings": {"min_todos": 30}}),
            "the job's config: `phase_settings.min_todos` (30) is above `phase_settings.max_todos` (20)",
        ),
        (json!({"limits": {"context_threshold_tokens": 200_000}}), "together exceed `llm.context_window` (128000)"),
        (
            json!({"llm": {"context_window": 8000}}),
            "`llm.max_output_tokens` (8192) must be below `llm.context_window` (8000)",
        ),
        (
            json!({"llm_by_purpose": {"summary": {"context_window": 32000}}}),
            "together exceed `llm_by_purpose.summary.context_window` (32000); lower the threshold to 23808 or less",
        ),
        (json!({"limits": {"max_tool_result_tokens": 90_000}}), "or one result fills the context"),
        (
            json!({"limits": {"repeated_calls": {"nudge": 6}}}),
            "must rise from nudge to refuse to replan, but it is 6, 5, 8",
        ),
    ] {
        let error = creator(overrides.clone()).expect_err(&overrides.to_string()).to_string();
        assert!(error.starts_with("the job's config: ") && error.contains(expected), "{overrides}\n{error}");
    }
}

#[test]
fn an_address_in_a_file_is_checked() {
    let text = "$extends: creator\nllm_by_purpose:\n  summary:\n    base_url: localhost:1\n";
    let error = error_of("mine/config.yaml", text);
    assert!(error.contains("base_url` must begin with http:// or https://"), "{error}");
    for address in ["http://localhost:99999/v1", "http://[::1]:x/v1", "https://exa mple.org/v1"] {
        let error = error_of("mine/config.yaml", &format!("$extends: creator\nllm:\n  base_url: '{address}'\n"));
        assert!(error.contains("base_url` has a space in its host or a wrong port"), "{address}: {error}");
    }
}

#[test]
fn of_a_value_from_the_environment_the_variable_is_named() {
    let configs = ConfigRegistry::load(None, None).unwrap();
    let wrong = ModelEnv { base_url: Some("nonsense".into()), ..env() };
    let error = configs.resolve("creator", &json!({}), &wrong).expect_err("nonsense").to_string();
    assert_eq!(error, "the environment (OPENAI_BASE_URL): `llm.base_url` must begin with http:// or https://");
}

#[test]
fn of_an_object_without_a_required_key_the_place_of_the_object_is_named() {
    for (connections, key, parent) in [
        (json!({"web_search": {}}), "web_search.provider", "web_search"),
        (json!({"neo4j": {"user": "x"}}), "neo4j.uri", "neo4j"),
        (json!({"embeddings": {}}), "embeddings.model", "embeddings"),
        (json!({"http_tools": {"x": {"url": "https://h.example"}}}), "http_tools.x.description", "http_tools.x"),
    ] {
        let tail = format!("`connections.{key}` has no value; give it one, or leave out `connections.{parent}`");
        let with_these = ModelEnv { connections: Some(connections.clone()), ..env() };
        let error = ConfigRegistry::embedded().resolve("creator", &json!({}), &with_these).unwrap_err().to_string();
        assert!(error.contains(&format!("the environment (PLUMBLINE_CONNECTIONS): {tail}")), "{error}");
        assert!(!error.contains("creator"), "{error}");
        let error = operators(&json!({"connections": connections})).unwrap_err().to_string();
        assert!(error.contains(&format!("mine/config.json:1: {tail}")), "{error}");
        let opened = mine(&json!({"job_may_set": ["connections"]}), &json!({"connections": connections}));
        let error = opened.unwrap_err().to_string();
        assert!(error.contains("the job's config: ") && !error.contains("config.json"), "{error}");
    }
}

#[test]
fn a_mistake_in_a_model_to_fall_back_on_is_named_with_key_and_line() {
    for (llm, expected) in [
        (json!({"modle": "x"}), "unknown key `llm.fallback.1.llm.modle`; did you mean `model`?"),
        (json!({"model": 5}), "`llm.fallback.1.llm.model` is a number; it must be a text"),
        (json!({"temperature": 9}), "`llm.fallback.1.llm.temperature` is 9; it must be at most 2"),
        (json!({"prices": {"inputs": 1}}), "unknown key `llm.fallback.1.llm.prices.inputs`; did you mean `input`?"),
        (json!({"profile": {"api": "x"}}), "`llm.fallback.1.llm.profile.api` is `x`; it must be one of `chat`"),
    ] {
        let fallback = json!([{"on": ["quota"], "llm": {"model": "y"}}, {"on": ["quota"], "llm": llm}]);
        let error = operators(&json!({"llm": {"fallback": fallback}})).unwrap_err().to_string();
        assert!(error.contains(&format!("mine/config.json:1: {expected}")), "{error}");
    }
}

#[test]
fn the_prices_of_a_profile_are_checked_as_those_of_the_model() {
    for (prices, expected) in [
        (json!({"inputs": 1}), "unknown key `llm.profile.prices.inputs`; did you mean `input`?"),
        (
            json!({"input": -1, "cached_input": 1, "output": 1}),
            "`llm.profile.prices.input` is -1; it must be at least 0",
        ),
        (json!({"input": 1, "output": 1}), "`llm.profile.prices.cached_input` has no value"),
        (json!("gratis"), "`llm.profile.prices` is a text; it must be an object or the word `free`"),
        (json!(5), "`llm.profile.prices` is a number; it must be an object or the word `free`"),
    ] {
        let error = operators(&json!({"llm": {"profile": {"prices": prices}}})).unwrap_err().to_string();
        assert!(error.contains("mine/config.json:1: ") && error.contains(expected), "{error}");
    }
    operators(&json!({"llm": {"profile": {"prices": "free"}}})).expect("nothing is paid");
}

#[test]
fn of_prices_that_replace_a_word_the_place_of_the_prices_is_named() {
    let opened = json!({"job_may_set": ["llm"], "llm": {"prices": "free"}});
    let error = mine(&opened, &json!({"llm": {"prices": {"input": 1.0}}})).unwrap_err().to_string();
    assert!(
        error.contains("the job's config: `llm.prices.output` has no value") && !error.contains("defaults"),
        "{error}"
    );
}

#[test]
fn lesson_75_a_secret_in_the_wrong_place_is_refused_and_not_repeated() {
    for overrides in [
        json!({"llm": {"api_key_env": "sk-SECRET"}}),
        json!({"llm": {"base_url": "https://user:SECRET@host/v1"}}),
        json!({"llm": {"prices": "SECRET"}}),
        json!({"connections": {"neo4j": {"uri": "bolt://neo4j:SECRET@host"}}}),
    ] {
        let error = creator(overrides.clone()).expect_err(&overrides.to_string()).to_string();
        assert!(!error.contains("SECRET"), "{error}");
    }
}

#[test]
fn a_circle_of_extensions_is_named() {
    let dir = folder(&[("a/config.json", r#"{"$extends": "b"}"#), ("b/config.json", "{\n\"$extends\": \"a\"}")]);
    let configs = ConfigRegistry::load(Some(dir.path()), None).unwrap();
    let error = configs.resolve("a", &json!({}), &env()).unwrap_err().to_string();
    assert!(error.contains("b/config.json:2: `$extends` goes round in a circle (a → b → a)"), "{error}");
}

#[test]
fn files_that_do_not_parse_are_named_with_their_line() {
    for (name, text, expected) in [
        ("mine/config.json", "{\n  \"llm\": {,}\n}", "mine/config.json:2: is not valid JSON"),
        ("mine/config.yaml", "llm:\n  model: x\n  model: y\n", "mine/config.yaml:3: is not valid YAML"),
        ("mine/config.json", "{\"llm\": {},\n\"llm\": {}}", "mine/config.json:2: `llm` appears twice; keep one"),
        (
            "mine/config.json",
            "{\"$extends\": \"defaults\",\n\"job_type\": \"yours\"}",
            "mine/config.json:2: `job_type` is `yours`",
        ),
        ("mine/config.json", "[]", "mine/config.json:1: must be an object"),
        ("mine/config.json", "{\"$extends\": 5}", "`$extends` must be"),
        (
            "mine/config.json",
            "{\"$extends\": \"defualts\"}",
            "`$extends` names `defualts`, which does not exist; did you mean `defaults`?",
        ),
        ("mine/config.json", "{\"$extends\": \"xyz\"}", "which does not exist; known are `defaults`, "),
        ("mine/config.json", "{}", "mine/config.json:1: `limits.max_iterations` and "),
        ("mine/config.json", "{}", "other keys have no value; add `\"$extends\": \"defaults\"`, or set all of them"),
    ] {
        let error = error_of(name, text);
        assert!(error.contains(expected) && !error.contains("Policy"), "{text}\n{error}");
    }
}

#[test]
fn a_wrong_word_in_a_list_is_named_with_key_and_line() {
    for (key, value, words) in [
        (
            "llm",
            json!({"fallback": [{"on": ["x"], "llm": {}}]}),
            "`llm.fallback.0.on.0` is `x`; it must be one of `transient`",
        ),
        (
            "llm",
            json!({"fallback": [{"on": ["quota"], "purposes": ["x"], "llm": {}}]}),
            "`llm.fallback.0.purposes.0` is `x`",
        ),
        (
            "connections",
            json!({"http_tools": {"a": {"description": "d", "parameters": {"type": "object"}, "url": "https://a.example",
                "phases": ["x"]}}}),
            "`connections.http_tools.a.phases.0` is `x`; it must be one of `strategic`, `tactical`",
        ),
    ] {
        let error = error_of("mine/config.json", &format!("{{\"$extends\": \"creator\",\n\"{key}\": {value}}}"));
        assert!(error.starts_with("mine/config.json:2: ") && error.contains(words), "{error}");
    }
}

#[test]
fn a_root_that_is_no_subfolder_is_named_with_key_and_line() {
    for root in ["../x", "policies/../x", ".", "./policies", "", "/"] {
        let text = format!("{{\"$extends\": \"creator\",\n\"document_roots\": [\"a\",\n{}]}}", json!(root));
        let error = error_of("mine/config.json", &text);
        assert!(error.starts_with("mine/config.json:3: `document_roots.1` "), "{root}: {error}");
    }
    for root in ["policies", "policies/", "/policies/", "a b/./c.d/..e"] {
        operators(&json!({"document_roots": [root]})).expect(root);
    }
}

#[test]
fn the_words_of_lists_are_those_that_are_read() {
    let fallback = &schema()["properties"]["llm"]["properties"]["fallback"]["items"]["properties"];
    for (key, refusal) in [
        ("on", serde_json::from_value::<plumbline_engine::FailureClass>(json!("?")).unwrap_err()),
        ("purposes", serde_json::from_value::<plumbline_engine::Purpose>(json!("?")).unwrap_err()),
    ] {
        let refusal = refusal.to_string();
        let read: Vec<&str> = refusal.split('`').skip(3).step_by(2).collect();
        assert_eq!(json!(read), fallback[key]["items"]["enum"], "{refusal}");
    }
}

#[test]
fn an_address_names_a_host() {
    for address in ["http://", "https:///v1", "http://:80/v1", "https:// "] {
        let error = creator(json!({"llm": {"base_url": address}})).unwrap_err();
        assert!(error.forbidden.is_some(), "a row may not set it: {error}");
        let error = operators(&json!({"llm": {"base_url": address}})).unwrap_err().to_string();
        assert!(error.contains("`llm.base_url` names no host"), "{address}: {error}");
    }
}

#[test]
fn instructions_are_missed_where_they_belong() {
    let dir = folder(&[("mine/config.json", "{\"$extends\": \"defaults\"}")]);
    let error = ConfigRegistry::load(Some(dir.path()), None)
        .unwrap()
        .resolve("mine", &json!({}), &env())
        .unwrap_err()
        .to_string();
    let place = format!("has no instructions; write {}/mine/instructions.md", dir.path().display());
    assert!(error.contains(&place), "{error}");
}

#[test]
fn a_job_type_that_does_not_exist_is_answered_with_those_that_do() {
    let error = ConfigRegistry::embedded().resolve("creater", &json!({}), &env()).unwrap_err().to_string();
    assert!(error.contains("there is no job type `creater`; did you mean `creator`?"), "{error}");
    let missing = ConfigRegistry::load(Some(std::path::Path::new("/no/such/folder")), None).unwrap_err().to_string();
    assert!(missing.starts_with("/no/such/folder: cannot be read"), "{missing}");
    for name in ["../../etc/passwd", "defaults/../creator", ""] {
        assert!(ConfigRegistry::embedded().resolve(name, &json!({}), &env()).is_err(), "{name}");
    }
}

#[test]
fn a_job_needs_a_model_but_a_look_at_its_configuration_does_not() {
    let nothing = ModelEnv::default();
    let error = ConfigRegistry::embedded().resolve("creator", &json!({}), &nothing).unwrap_err().to_string();
    assert!(error.contains("PLUMBLINE_MODEL") && error.contains("OPENAI_BASE_URL"), "{error}");
    assert!(ConfigRegistry::embedded().show("creator", &Value::Null, &nothing).is_ok());
}

#[test]
fn check_finds_what_the_environment_makes_wrong() {
    let dir = folder(&[("mine/config.json", r#"{"$extends": "creator", "llm": {"api_key_env": "OUR_KEY"}}"#)]);
    let configs = ConfigRegistry::load(Some(dir.path()), None).unwrap();
    let checked = |secrets: &str| {
        let variables = |name: &str| match name {
            "PLUMBLINE_SECRETS" => Some(secrets.to_owned()),
            "OPENAI_BASE_URL" => Some("http://models.local/v1".to_owned()),
            _ => None,
        };
        configs.check(&ModelEnv::from_lookup(variables).unwrap())
    };
    assert_eq!(checked("OPENAI_API_KEY, OUR_KEY"), []);
    let problems = checked("OPENAI_API_KEY, THEIR_KEY");
    assert!(problems.len() == 1 && problems[0].to_string().contains("OUR_KEY"), "{problems:?}");
}

#[test]
fn what_a_job_owes_must_be_deliverable_by_a_model_with_a_name() {
    for (keys, words) in [
        (json!({"deliverables": ["input/a.md"]}), "`deliverables` names `input/a.md`, which no job can deliver"),
        (json!({"deliverables": ["../a.md"]}), "use a path inside it, such as output/report.md); name a file"),
        (json!({"deliverables": ["../a.md"]}), "`deliverables` names `../a.md`"),
        (json!({"deliverables": [{"json_schema": {}}]}), "`deliverables.0.path` has no value"),
        (json!({"deliverables": [{"path": "output/a.json", "shema": {}}]}), "unknown key `deliverables.0.shema`"),
        (json!({"deliverables": [5]}), "`deliverables.0` is a number"),
        (json!({"deliverables": [null]}), "mine/config.json:1: `deliverables.0` is null; it must be a text"),
        (json!({"llm": {"fallback": [{"on": null, "llm": {}}]}}), "`llm.fallback.0.on` is null; it must be a list"),
        (json!({"citations_required": ["output/a.csv"]}), "quotes are looked up in text, Markdown and JSON"),
        (json!({"llm": {"model": " "}}), "`llm.model` is empty; name a model"),
    ] {
        let error = crate::operators(&keys).expect_err(&keys.to_string()).to_string();
        assert!(error.contains(words), "{error}");
    }
}

#[test]
fn a_type_that_does_not_resolve_is_named_with_the_sentence_of_the_check_and_the_others_are_served() {
    let dir = folder(&[
        ("broken/config.json", "{\"$extends\": \"creator\",\n \"autonomie\": \"review\"}"),
        ("sound/config.json", r#"{"$extends": "creator"}"#),
        ("heir/config.json", r#"{"$extends": "broken"}"#),
    ]);
    std::fs::create_dir(dir.path().join("binary")).unwrap();
    std::fs::write(dir.path().join("binary/config.json"), [b'{', 0xff]).unwrap();
    let configs = ConfigRegistry::load(Some(dir.path()), None).unwrap();
    let (env, broken) = (ModelEnv::default(), configs.broken(&ModelEnv::default()));
    assert_eq!(configs.job_types(), ["binary", "broken", "heir", "sound"]);
    assert_eq!(broken.keys().collect::<Vec<_>>(), ["binary", "broken", "heir"]);
    assert!(broken["broken"].contains("broken/config.json:2: unknown key `autonomie`"), "{broken:?}");
    assert_eq!(broken["heir"], broken["broken"], "what is wrong with it is in another type's file");
    assert!(broken["binary"].contains("binary/config.json: cannot be read"), "{broken:?}");
    let checked: Vec<String> = configs.check(&env).iter().map(ToString::to_string).collect();
    assert_eq!(checked, [broken["binary"].clone(), broken["broken"].clone()]);
}

#[test]
fn a_mistake_in_a_prompt_is_every_types() {
    let dir = folder(&[("todos.yaml", "initial:\n  - [1\n")]);
    let configs = ConfigRegistry::load(None, Some(dir.path())).unwrap();
    let broken = configs.broken(&ModelEnv::default());
    assert_eq!(broken.keys().collect::<Vec<_>>(), ["creator", "validator"]);
    let checked: Vec<String> = configs.check(&ModelEnv::default()).iter().map(ToString::to_string).collect();
    assert_eq!(checked, [broken["creator"].clone()], "said once");
    assert!(checked[0].contains("todos.yaml:"), "{checked:?}");
}

#[test]
fn a_mistake_in_a_types_own_profile_is_named_once_with_its_file() {
    let error = crate::operators(&json!({"llm": {"profile": {"nope": 1}}})).unwrap_err().to_string();
    assert!(error.contains("mine/config.json:1: unknown key `llm.profile.nope`"), "{error}");
    assert_eq!(error.matches("unknown key").count(), 1, "{error}");
}

//! Who may set which key: the operator in files and environment, a job in its row.

use crate::{env, folder};
use plumbline_config::{ConfigError, ConfigRegistry, ModelEnv, Resolved, schema_json};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The keys that not only the operator may set, written by hand from the public interface.
const NOT_THE_OPERATORS: &str = "
    job display_name llm.model llm.temperature llm.reasoning_level llm.tool_choice llm.parallel_tool_calls
    job llm_by_purpose.strategic.model llm_by_purpose.strategic.temperature
    job llm_by_purpose.strategic.reasoning_level llm_by_purpose.strategic.tool_choice llm_by_purpose.strategic.parallel_tool_calls
    job llm_by_purpose.tactical.model llm_by_purpose.tactical.temperature
    job llm_by_purpose.tactical.reasoning_level llm_by_purpose.tactical.tool_choice llm_by_purpose.tactical.parallel_tool_calls
    job llm_by_purpose.summary.model llm_by_purpose.summary.temperature llm_by_purpose.summary.reasoning_level
    job on_complete.enqueue deliverables citations_required no_sources coverage
    bounded coverage_settings.minimum coverage_settings.max_closed coverage_settings.patterns
    bounded coverage_settings.style coverage_settings.unsupported
    job phase_settings.min_todos phase_settings.max_todos phase_settings.archive_on_transition
    job phase_settings.history_at_boundary
    job record_defaults.type record_defaults.confidence record_defaults.gobd record_defaults.gdpr
    job tools.workspace tools.strategic tools.tactical tools.domain tools.deferred
    bounded llm.context_window llm.max_output_tokens
    bounded llm_by_purpose.strategic.context_window llm_by_purpose.strategic.max_output_tokens
    bounded llm_by_purpose.tactical.context_window llm_by_purpose.tactical.max_output_tokens
    bounded llm_by_purpose.summary.context_window llm_by_purpose.summary.max_output_tokens
    bounded limits.max_iterations limits.context_threshold_tokens limits.keep_recent_tool_results limits.closed_todos
    bounded limits.max_tool_result_tokens limits.tool_retries limits.tool_timeout_s limits.token_budget
    bounded limits.cost_budget_usd limits.deadline_s limits.turns_without_tool_call limits.turns_without_progress limits.on_tool_failure
    bounded limits.approval_expires_s
    bounded limits.repeated_calls.nudge limits.repeated_calls.refuse limits.repeated_calls.replan
    bounded coverage_settings.patterns";

pub(crate) fn schema() -> Value {
    serde_json::from_str(&schema_json(&ConfigRegistry::embedded().defaults().unwrap())).unwrap()
}

/// Dotted leaf keys, and their levels in the schema.
fn levels(schema: &Value, path: &str, found: &mut BTreeMap<String, String>) {
    let inner = schema["anyOf"].as_array().map_or(schema, |any| &any[0]);
    let Some(properties) = inner["properties"].as_object() else {
        let level = schema["x-level"].as_str().unwrap_or_else(|| panic!("`{path}` has no x-level"));
        found.insert(path.to_owned(), level.to_owned());
        return;
    };
    for (key, property) in properties {
        levels(property, &if path.is_empty() { key.clone() } else { format!("{path}.{key}") }, found);
    }
}

#[test]
fn the_levels_of_the_schema_are_those_of_the_interface() {
    let mut found = BTreeMap::new();
    levels(&schema(), "", &mut found);
    let mut others: BTreeMap<&str, &str> = BTreeMap::new();
    for line in NOT_THE_OPERATORS.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let (level, keys) = line.split_once(' ').unwrap();
        others.extend(keys.split_whitespace().map(|key| (key, level)));
    }
    for (key, level) in &found {
        assert_eq!(level, others.remove(key.as_str()).unwrap_or("operator"), "`{key}`");
    }
    assert!(others.is_empty(), "keys that the schema has not: {others:?}");
}

/// A job of the type `mine`, whose file has these keys in addition to the creator's.
pub(crate) fn mine(file: &Value, row: &Value) -> Result<Resolved, ConfigError> {
    let mut text = json!({"$extends": "creator"});
    text.as_object_mut().unwrap().extend(file.as_object().unwrap().clone());
    let dir = folder(&[("mine/config.json", &text.to_string())]);
    ConfigRegistry::load(Some(dir.path()), None)?.resolve("mine", row, &env())
}

/// The key and level for which a row is refused.
fn refused(file: &Value, row: &Value) -> (String, &'static str) {
    let error = mine(file, row).expect_err(&row.to_string());
    let forbidden = error.forbidden.clone().unwrap_or_else(|| panic!("{row}: {error}"));
    let sentence = error.to_string();
    let level = forbidden.level.as_str();
    assert!(sentence.contains(&format!("`{}`", forbidden.key)) && sentence.contains(level), "{sentence}");
    (forbidden.key, level)
}

#[test]
fn a_row_passes_no_bound_that_the_operator_set() {
    let file = json!({"limits": {"cost_budget_usd": 5.0, "max_iterations": 50, "repeated_calls": {"replan": 7}},
                      "llm": {"prices": "free"}});
    for (row, key) in [
        (json!({"limits": {"cost_budget_usd": 5.01}}), "limits.cost_budget_usd"),
        (json!({"limits": {"cost_budget_usd": null}}), "limits.cost_budget_usd"),
        (json!({"limits": null}), "limits.cost_budget_usd"),
        (json!({"limits": {"max_iterations": 51}}), "limits.max_iterations"),
        (json!({"limits": {"repeated_calls": null}}), "limits.repeated_calls.replan"),
    ] {
        assert_eq!(refused(&file, &row), (key.to_owned(), "bounded"), "{row}");
    }
    for row in [
        json!({"limits": {"cost_budget_usd": 5.0, "max_iterations": 1}}),
        json!({"limits": {"cost_budget_usd": 0.5}}),
        // A value that only the built-in defaults set is not a bound.
        json!({"limits": {"tool_timeout_s": 86_400, "token_budget": 1_000_000_000, "deadline_s": null}}),
    ] {
        mine(&file, &row).unwrap_or_else(|error| panic!("{row}: {error}"));
    }
    let env = ModelEnv { max_iterations: Some(8), ..env() };
    let more =
        ConfigRegistry::embedded().resolve("creator", &json!({"limits": {"max_iterations": 9}}), &env).unwrap_err();
    assert_eq!(more.forbidden.unwrap().key, "limits.max_iterations");
    // A type's own file takes precedence over the environment, also as a bound.
    let dir = folder(&[
        ("mine/config.json", r#"{"$extends": "creator", "limits": {"max_iterations": 60}}"#),
        ("open/config.json", r#"{"$extends": "mine", "limits": null}"#),
    ]);
    let configs = ConfigRegistry::load(Some(dir.path()), None).unwrap();
    let most = |job_type: &str, most: u32| {
        let row = json!({"limits": {"max_iterations": most}});
        configs
            .resolve(job_type, &row, &env)
            .map(drop)
            .map_err(|error| error.forbidden.clone().unwrap_or_else(|| panic!("{error}")).key)
    };
    assert_eq!((most("mine", 60), most("open", 8)), (Ok(()), Ok(())));
    assert_eq!(
        (most("mine", 61).unwrap_err(), most("open", 9).unwrap_err()),
        ("limits.max_iterations".into(), "limits.max_iterations".into())
    );
}

#[test]
fn a_row_adds_patterns_and_takes_none_away() {
    let file = json!({"coverage_settings": {"patterns": ["kindly requested"]}});
    for row in [
        json!({"coverage_settings": {"patterns": []}}),
        json!({"coverage_settings": {"patterns": ["other"]}}),
        json!({"coverage_settings": {"patterns": null}}),
        json!({"coverage_settings": null}),
    ] {
        assert_eq!(refused(&file, &row), ("coverage_settings.patterns".to_owned(), "bounded"), "{row}");
    }
    mine(&file, &json!({"coverage_settings": {"patterns": ["other", "kindly requested"]}})).unwrap();
    mine(&json!({}), &json!({"coverage_settings": {"patterns": ["other"]}})).unwrap();
}

#[test]
fn a_row_takes_no_document_out_of_what_a_recorder_accounts_for() {
    let row = json!({"no_sources": ["policy.md"]});
    assert_eq!(refused(&json!({}), &row), ("no_sources".to_owned(), "operator"));
    // What a row leaves out of `tools` changes nothing here.
    let narrowed = json!({"no_sources": ["policy.md"], "tools": {"domain": ["cite"]}});
    assert_eq!(refused(&json!({}), &narrowed), ("no_sources".to_owned(), "operator"));
    mine(&json!({"no_sources": ["policy.md"]}), &row).unwrap();
    mine(&json!({"job_may_set": ["no_sources"]}), &row).unwrap();
    mine(&json!({"tools": {"domain": ["cite"], "deferred": []}}), &row).unwrap();
}

#[test]
fn a_refusal_says_which_way_the_value_may_go() {
    for (row, way) in [
        (json!({"coverage_settings": {"minimum": 0.4}}), "raise it or leave it out"),
        (json!({"coverage_settings": {"max_closed": 0.6}}), "lower it or leave it out"),
    ] {
        let sentence = mine(&json!({}), &row).unwrap_err().to_string();
        assert!(sentence.contains(way), "{sentence}");
    }
    let style = json!({"coverage_settings": {"style": "policy"}});
    let sentence = mine(&style, &json!({"coverage_settings": {"style": "normative"}})).unwrap_err().to_string();
    assert!(sentence.ends_with("policy; leave it out") || sentence.ends_with("\"policy\"; leave it out"), "{sentence}");
}

#[test]
fn a_window_of_a_purpose_is_bound_by_that_of_the_model() {
    let file = json!({"llm": {"context_window": 100_000, "max_output_tokens": 4000}});
    let row = json!({"llm_by_purpose": {"summary": {"max_output_tokens": 4001}}});
    assert_eq!(refused(&file, &row), ("llm_by_purpose.summary.max_output_tokens".to_owned(), "bounded"));
    mine(&file, &json!({"llm_by_purpose": {"summary": {"max_output_tokens": 3999}}})).unwrap();
}

#[test]
fn what_a_row_takes_away_it_sets() {
    let file = json!({
        "llm": {"prices": {"input": 1.0, "output": 2.0}, "api_key_env": "OUR_KEY"},
        "connections": {"neo4j": {"uri": "http://127.0.0.1:7474"}},
        "autonomy": "review"
    });
    assert_eq!(refused(&json!({}), &json!({"llm": {"prices": "free"}})), ("llm.prices".to_owned(), "operator"));
    assert_eq!(refused(&json!({"llm": {"prices": "free"}}), &json!({"llm": {"prices": {"input": 0.0}}})).1, "operator");
    for (row, key) in [
        (json!({"llm": {"prices": null}}), "llm.prices.input"),
        (json!({"llm": {"prices": {"output": 0.0}}}), "llm.prices.output"),
        (json!({"llm": {"api_key_env": null}}), "llm.api_key_env"),
        (json!({"llm": {"api_key_env": "DATABASE_URL"}}), "llm.api_key_env"),
        (json!({"connections": null}), "connections.neo4j.uri"),
        (json!({"connections": {"neo4j": {"allow_write": true}}}), "connections.neo4j.allow_write"),
        (json!({"autonomy": "full"}), "autonomy"),
        (json!({"job_may_set": ["llm"]}), "job_may_set"),
        (json!({"document_roots": ["."]}), "document_roots"),
        (json!({"$extends": "validator"}), "$extends"),
    ] {
        let (found, level) = refused(&file, &row);
        assert!(found.starts_with(key.rsplit_once('.').map_or(key, |(group, _)| group)), "{row}: {found}");
        assert_eq!(level, "operator", "{row}");
    }
    // Setting a key to its current value is allowed.
    mine(&file, &json!({"llm": {"api_key_env": "OUR_KEY"}, "autonomy": "review"})).unwrap();
    assert!(mine(&json!({}), &json!({"autonomy": "review"})).is_ok(), "a job may ask for a review");
}

#[test]
fn an_incomplete_connection_of_a_row_is_set_by_the_row() {
    for key in ["web_search", "neo4j", "embeddings", "web"] {
        let (found, level) = refused(&json!({}), &json!({"connections": {key: {}}}));
        assert_eq!((found, level), (format!("connections.{key}"), "operator"));
    }
    // It changes nothing where the type has the whole of it.
    let search = json!({"connections": {"web_search": {"provider": "searxng", "base_url": "http://search.local"}}});
    mine(&search, &json!({"connections": {"web_search": {}}})).unwrap();
}

#[test]
fn an_operator_opens_keys_and_what_is_below_them() {
    let file = json!({"job_may_set": ["llm.prices", "limits.max_iterations"], "limits": {"max_iterations": 5}});
    let row = json!({"llm": {"prices": {"input": 9.0}}, "limits": {"max_iterations": 500}});
    assert_eq!(mine(&file, &row).unwrap().config.limits.max_iterations, 500);
    assert_eq!(refused(&file, &json!({"llm": {"max_retries": 9}})), ("llm.max_retries".to_owned(), "operator"));
    let error = mine(&json!({"job_may_set": ["llm.base_uri"]}), &json!({})).unwrap_err().to_string();
    assert!(error.contains("`job_may_set` names `llm.base_uri`, which is no key"), "{error}");
}

#[test]
fn an_opened_address_begins_as_one_that_is_allowed() {
    let file =
        json!({"job_may_set": ["llm.base_url", "connections"], "addresses_allowed": ["https://models.example/v1"]});
    mine(&file, &json!({"llm": {"base_url": "https://models.example/v1/eu"}})).unwrap();
    for address in ["https://models.example/v2", "http://models.example/v1", "https://models.example.other/v1"] {
        assert_eq!(refused(&file, &json!({"llm": {"base_url": address}})), ("llm.base_url".to_owned(), "operator"));
        let graph = json!({"connections": {"neo4j": {"uri": address}}});
        assert_eq!(refused(&file, &graph), ("connections.neo4j.uri".to_owned(), "operator"));
    }
    let unlisted = json!({"job_may_set": ["llm"]});
    assert_eq!(refused(&unlisted, &json!({"llm": {"base_url": "https://models.example/v1"}})).0, "llm.base_url");
}

#[test]
fn an_opened_variable_is_one_of_the_secrets() {
    let file = json!({"job_may_set": ["llm.api_key_env"], "llm": {"api_key_env": "OUR_KEY"}});
    for name in ["DATABASE_URL", "PLUMBLINE_HTTP_TOKEN", "PATH", "database_url"] {
        assert_eq!(refused(&file, &json!({"llm": {"api_key_env": name}})).0, "llm.api_key_env", "{name}");
    }
    let listed = ModelEnv::from_lookup(|name| (name == "PLUMBLINE_SECRETS").then(|| "THEIR_KEY@host, OUR_KEY".into()));
    let env = ModelEnv { secrets: listed.unwrap().secrets, ..env() };
    let dir = folder(&[(
        "mine/config.json",
        r#"{"$extends": "creator", "job_may_set": ["llm.api_key_env"], "llm": {"api_key_env": "OUR_KEY"}}"#,
    )]);
    let configs = ConfigRegistry::load(Some(dir.path()), None).unwrap();
    let named = |name: &str| configs.resolve("mine", &json!({"llm": {"api_key_env": name}}), &env);
    assert_eq!(named("THEIR_KEY").unwrap().config.llm.api_key_env.as_deref(), Some("THEIR_KEY"));
    assert_eq!(named("OTHER").unwrap_err().forbidden.unwrap().key, "llm.api_key_env");
}

#[test]
fn no_configuration_names_what_is_the_workers_own() {
    for name in ["DATABASE_URL", "PLUMBLINE_HTTP_TOKEN"] {
        let error = mine(&json!({"llm": {"api_key_env": name}}), &json!({})).unwrap_err();
        assert!(error.forbidden.is_none() && error.to_string().contains(name), "{error}");
    }
}

#[test]
fn a_job_chooses_among_the_models_of_its_type() {
    let file = json!({"models_allowed": ["gpt-5*", "small"]});
    for model in ["gpt-5-mini", "small"] {
        mine(&file, &json!({"llm": {"model": model}})).unwrap();
    }
    assert_eq!(refused(&file, &json!({"llm": {"model": "gpt-4"}})), ("llm.model".to_owned(), "job"));
    let summary = json!({"llm_by_purpose": {"summary": {"model": "large"}}});
    assert_eq!(refused(&file, &summary).0, "llm_by_purpose.summary.model");
}

#[test]
fn a_job_leaves_tools_out_and_adds_none() {
    let lists = json!({"tools": {"workspace": ["read_file", "todo_complete"], "domain": ["cite"]}});
    mine(&json!({}), &lists).unwrap();
    mine(&json!({}), &json!({"tools": {"deferred": ["cite"]}})).unwrap();
    let more = json!({"tools": {"domain": ["cite", "execute_cypher_query"]}});
    assert_eq!(refused(&json!({}), &more), ("tools.domain".to_owned(), "operator"));
}

#[test]
fn connections_come_from_the_environment_over_the_files() {
    let graph = r#"{"neo4j": {"uri": "http://graph.example:7474", "allow_write": true}}"#;
    let env = ModelEnv::from_lookup(|name| match name {
        "PLUMBLINE_CONNECTIONS" => Some(graph.to_owned()),
        "PLUMBLINE_MODEL" => Some("m".to_owned()),
        "OPENAI_BASE_URL" => Some("http://127.0.0.1:1/v1".to_owned()),
        _ => None,
    });
    let config = ConfigRegistry::embedded().resolve("creator", &json!({}), &env.unwrap()).unwrap().config;
    let neo4j = config.connections.neo4j.unwrap();
    assert_eq!((neo4j.uri.as_str(), neo4j.allow_write), ("http://graph.example:7474", Some(true)));
    for text in ["[]", "{", "SECRET"] {
        let read = ModelEnv::from_lookup(|name| (name == "PLUMBLINE_CONNECTIONS").then(|| text.to_owned()));
        let error = read.unwrap_err().to_string();
        assert!(error.contains("PLUMBLINE_CONNECTIONS must be") && !error.contains("SECRET"), "{error}");
    }
}

#[test]
fn no_limit_is_raised_above_the_ceiling() {
    let file = json!({"limits": {"cost_budget_usd": 5.0, "max_iterations": 8},
        "limits_ceiling": {"cost_budget_usd": 20.0, "max_iterations": 9},
        "llm": {"prices": {"input": 1.0, "output": 1.0}}});
    let ceiling = mine(&file, &json!({})).unwrap().config.limits_ceiling.into();
    let raised = |limits: Value| mine(&file, &json!({})).unwrap().with_raised_limits(&limits, &ceiling);
    let limits = raised(json!({"cost_budget_usd": 20.0, "max_iterations": 7})).unwrap().config.limits;
    assert_eq!((limits.cost_budget_usd, limits.max_iterations), (Some(20.0), 7));
    for (limits, sentence) in [
        (json!({"cost_budget_usd": 20.01}), "`limits.cost_budget_usd` (20.01) is above the 20 of `limits_ceiling`"),
        (json!({"cost_budget_usd": null}), "`limits.cost_budget_usd` (no limit) is above the 20"),
        (json!({"max_iterations": 10}), "`limits.max_iterations` (10) is above the 9"),
        (json!({"repeated_calls": {"nudge": 9}}), "must rise from nudge to refuse to replan"),
        (json!({"cost_budget": 1}), "did you mean `limits.cost_budget_usd`?"),
    ] {
        let refused = raised(limits).expect_err(sentence);
        assert!(refused.starts_with("the limits given to resume_job cannot be used: "), "{refused}");
        assert!(refused.contains(sentence) || refused.contains(&sentence.replace("limits.", "")), "{refused}");
    }
    assert!(mine(&json!({"limits_ceiling": {"cost_budget": 1}}), &json!({})).is_err(), "no such limit");
    let no_limit = mine(&json!({"limits_ceiling": {"max_iterations": 0}}), &json!({})).unwrap_err().to_string();
    assert!(no_limit.contains("`limits_ceiling.max_iterations` is 0; it must be at least 1"), "{no_limit}");
    assert_eq!(refused(&json!({}), &json!({"limits_ceiling": {"deadline_s": 5}})).1, "operator");
    let below = mine(&json!({"limits": {"deadline_s": 60}, "limits_ceiling": {"deadline_s": 50}}), &json!({}));
    let below = below.expect_err("a job would begin above the ceiling").to_string();
    assert!(below.contains("`limits.deadline_s` (60) is above the 50 of `limits_ceiling`"), "{below}");
    let higher = mine(&file, &json!({}))
        .unwrap()
        .with_raised_limits(&json!({"max_iterations": 30}), &json!({"max_iterations": 40}));
    assert_eq!(higher.unwrap().config.limits.max_iterations, 30, "the present ceiling counts, not that of the start");
    // Limits without a ceiling are unbounded.
    assert_eq!(raised(json!({"token_budget": null})).unwrap().config.limits.token_budget, None);
}

#[test]
fn a_row_above_the_ceiling_is_blamed_for_its_own_key() {
    let opened = json!({"job_may_set": ["limits"], "limits": {"max_iterations": 5, "cost_budget_usd": 5.0},
        "limits_ceiling": {"max_iterations": 9, "cost_budget_usd": 20.0},
        "llm": {"prices": {"input": 1.0, "output": 1.0}}});
    mine(&opened, &json!({"limits": {"max_iterations": 9}})).unwrap();
    let unbounded = json!({"limits_ceiling": {"deadline_s": 60}});
    for (file, key, limit, sentence) in [
        (&opened, "max_iterations", json!(500), "500 is above the 9 of `limits_ceiling`"),
        (&opened, "cost_budget_usd", json!(null), "no limit is above the 20"),
        (&unbounded, "deadline_s", json!(61), "61 is above the 60 of `limits_ceiling`"),
    ] {
        let error = mine(file, &json!({"limits": {key: limit}})).expect_err(sentence);
        let (key, said) = (format!("limits.{key}"), error.to_string());
        assert!(said.starts_with(&format!("the job's config: `{key}` has level bounded: {sentence}")), "{said}");
        let forbidden = error.forbidden.expect("a row sets more than it may");
        assert_eq!((forbidden.key, forbidden.level.to_string()), (key, "bounded".to_owned()));
    }
}

#[test]
fn a_row_that_takes_the_model_away_is_told_so() {
    let budget = json!({"limits": {"cost_budget_usd": 5.0}, "llm": {"prices": {"input": 1.0, "output": 1.0}}});
    let own = json!({"llm": {"model": "large"}, "job_may_set": ["llm"]});
    let row = json!({"llm": {"model": null}});
    for file in [json!({}), budget, own] {
        let refused = mine(&file, &row).expect_err("a job needs a model").to_string();
        assert!(refused.starts_with("the job's config: `llm.model` "), "{refused}");
        assert!(refused.contains("takes the model away") && refused.contains("set `llm.model`"), "{refused}");
    }
}

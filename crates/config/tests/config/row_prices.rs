//! The cost of requests to a model that a job's row chooses.

use crate::{env, folder};
use plumbline_config::{ConfigError, ConfigRegistry, Resolved};
use plumbline_engine::Purpose;
use serde_json::{Value, json};

/// The prices of a type's own model, `large`; of `small`, which is in `providers.json`; and of `tiny`, which is used
/// for summaries.
fn file() -> Value {
    json!({
        "$extends": "creator",
        "limits": {"cost_budget_usd": 5.0},
        "llm": {
            "model": "large", "base_url": "https://models.example/v1",
            "prices": {"input": 1.0, "cached_input": 0.5, "cache_write": 9.0, "output": 4.0},
            "fallback": [{"on": ["overloaded"], "llm": {"service_tier": "priority", "prices": {"input": 2.0}}}]
        },
        "llm_by_purpose": {"summary": {"model": "tiny", "prices": {"input": 0.1, "cached_input": 0.1, "output": 0.2}}},
    })
}

fn configs(file: &Value) -> (tempfile::TempDir, ConfigRegistry) {
    let providers = json!({"profiles": [
        {"name": "small", "match": {"model": "small"}, "prices": {"input": 0.3, "cached_input": 0.03, "output": 0.6}},
        {"name": "own", "match": {"base_url": "http://127.0.0.1"}, "prices": "free"},
    ]});
    let dir = folder(&[("mine/config.json", &file.to_string()), ("providers.json", &providers.to_string())]);
    let configs = ConfigRegistry::load(Some(dir.path()), None).expect("files");
    (dir, configs)
}

fn of(file: &Value, row: Value) -> Result<Resolved, ConfigError> {
    configs(file).1.resolve("mine", &row, &env())
}

fn prices(resolved: &Resolved, purpose: Purpose) -> Value {
    json!(resolved.llm(purpose).prices)
}

#[test]
fn a_model_without_known_prices_is_refused_under_a_budget() {
    for (row, key) in [
        (json!({"llm": {"model": "gpt-5-pro"}}), "llm.model"),
        (json!({"llm_by_purpose": {"summary": {"model": "gpt-5-pro"}}}), "llm_by_purpose.summary.model"),
        (json!({"llm_by_purpose": {"tactical": {"model": "gpt-5-pro"}}}), "llm_by_purpose.tactical.model"),
        (json!({"llm": {"model": "gpt-5-pro"}, "limits": {"cost_budget_usd": 1}}), "llm.model"),
        (json!({"llm": {"model": "Large"}}), "llm.model"),
    ] {
        let error = of(&file(), row.clone()).expect_err(&row.to_string());
        let forbidden = error.forbidden.clone().unwrap_or_else(|| panic!("{row}: {error}"));
        assert_eq!((forbidden.key.as_str(), forbidden.level.as_str()), (key, "job"), "{row}");
        assert!(error.to_string().contains("whose prices are known") && error.to_string().contains(key), "{error}");
    }
}

#[test]
fn what_a_row_chooses_is_counted_at_its_own_prices() {
    let small = json!({"input": 0.3, "cached_input": 0.03, "cache_write": 0.3, "output": 0.6});
    let tiny = json!({"input": 0.1, "cached_input": 0.1, "cache_write": 9.0, "output": 0.2});
    let large = file()["llm"]["prices"].clone();
    for (row, tactical, summary) in [
        (json!({}), &large, &tiny),
        (json!({"llm": {"model": "small"}}), &small, &tiny),
        (json!({"llm": {"model": "tiny"}}), &tiny, &tiny),
        (json!({"llm_by_purpose": {"tactical": {"model": "small-2"}}}), &small, &tiny),
        // Without its own model a purpose has the type's model, and no longer the prices of its former one.
        (json!({"llm_by_purpose": {"summary": {"model": null}}}), &large, &large),
        (json!({"llm": {"model": "small"}, "llm_by_purpose": {"summary": {"model": "large"}}}), &small, &large),
    ] {
        let resolved = of(&file(), row.clone()).unwrap_or_else(|error| panic!("{row}: {error}"));
        assert_eq!(&prices(&resolved, Purpose::Tactical), tactical, "{row}");
        assert_eq!(&prices(&resolved, Purpose::Summary), summary, "{row}");
    }
}

#[test]
fn another_tiers_prices_are_those_of_the_model_that_the_type_names() {
    let tier = |row: Value| of(&file(), row).expect("a configuration").config.llm.fallback.remove(0).llm;
    assert_eq!(tier(json!({}))["prices"], json!({"input": 2.0}));
    assert_eq!(tier(json!({"llm": {"model": "small"}})).get("prices"), None);
}

#[test]
fn prices_belong_to_a_model_at_an_address() {
    let mut opened = file();
    opened["job_may_set"] = json!(["llm.base_url"]);
    opened["addresses_allowed"] = json!(["https://dear.example", "http://127.0.0.1:8000"]);
    let at = |address: &str| of(&opened, json!({"llm": {"base_url": address}}));
    let refused = at("https://dear.example/v1").expect_err("an address without prices");
    assert_eq!(refused.forbidden.expect("a key").key, "llm.base_url");
    assert_eq!(prices(&at("http://127.0.0.1:8000/v1").expect("free"), Purpose::Tactical), json!("free"));
}

#[test]
fn without_a_budget_any_model_may_be_chosen_and_no_prices_are_made_up() {
    let mut file = file();
    file["limits"] = json!({});
    let resolved = of(&file, json!({"llm": {"model": "gpt-5-pro"}})).expect("no budget");
    assert_eq!(
        prices(&resolved, Purpose::Tactical),
        json!({"input": 0.0, "cached_input": 0.0, "cache_write": 0.0, "output": 0.0})
    );
    let raised = |resolved: Resolved| resolved.with_raised_limits(&json!({"cost_budget_usd": 5}), &json!({}));
    let refused = raised(resolved).expect_err("a budget that counts nothing of it");
    assert!(refused.contains("does not count the requests") && refused.contains("gpt-5-pro"), "{refused}");
    raised(of(&file, json!({})).expect("the type's own")).expect("a budget that counts");
}

#[test]
fn models_that_are_allowed_by_name_and_have_no_prices_are_warned_of() {
    let mut file = file();
    file["models_allowed"] = json!(["large", "small", "tiny", "gpt-5*", "gpt-4"]);
    let warned = |file: &Value| configs(file).1.warnings(&env()).iter().map(ToString::to_string).collect::<Vec<_>>();
    let warnings = warned(&file);
    assert!(warnings.len() == 1 && warnings[0].contains("`models_allowed` names `gpt-4`"), "{warnings:?}");
    file["limits"] = json!({});
    assert!(warned(&file).is_empty());
}

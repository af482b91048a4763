//! Known profiles of providers and models, and their effect on a job.

use plumbline_config::{ConfigRegistry, ModelEnv, Prices, Resolved};
use serde_json::{Value, json};
use std::{fs, path::Path};

fn configs(providers: &Value, llm: &Value) -> (tempfile::TempDir, ConfigRegistry) {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), providers, llm);
    let configs = ConfigRegistry::load(Some(folder.path()), None).unwrap();
    (folder, configs)
}

fn write(folder: &Path, providers: &Value, llm: &Value) {
    fs::create_dir(folder.join("mine")).unwrap();
    fs::write(folder.join("mine/config.json"), json!({"$extends": "creator", "llm": llm}).to_string()).unwrap();
    fs::write(folder.join("providers.json"), providers.to_string()).unwrap();
}

fn resolve(providers: Value, llm: Value, row: Value) -> Result<Resolved, String> {
    let mut whole = json!({"base_url": "https://models.example/v1", "model": "large-2"});
    whole.as_object_mut().unwrap().extend(llm.as_object().cloned().unwrap());
    let (_folder, configs) = configs(&json!({"profiles": providers}), &whole);
    configs.resolve("mine", &row, &ModelEnv::default()).map_err(|error| error.to_string())
}

fn large() -> Value {
    json!([{
        "name": "large", "match": {"model": "large"}, "output_cap": "max_completion_tokens", "context_window": 200_000,
        "prices": {"input": 1.0, "cached_input": 0.1, "cache_write": 1.25, "output": 2.0}
    }])
}

#[test]
fn what_is_known_of_the_model_holds_where_the_files_say_nothing() {
    let known = resolve(large(), json!({}), json!({})).unwrap().config.llm;
    assert_eq!(known.context_window, 200_000);
    assert_eq!(json!(known.output_cap), "max_completion_tokens");
    let Prices::PerMillion(prices) = known.prices else { panic!("{:?}", known.prices) };
    assert_eq!((prices.input, prices.cached_input, prices.cache_write, prices.output), (1.0, 0.1, Some(1.25), 2.0));
    let said = json!({"context_window": 150_000, "output_cap": "max_tokens", "prices": "free"});
    let said = resolve(large(), said, json!({})).unwrap().config.llm;
    assert_eq!((said.context_window, json!(said.output_cap)), (150_000, json!("max_tokens")));
    assert_eq!(json!(said.prices), "free");
    let own = json!({"profile": {"context_window": 160_000}});
    assert_eq!(resolve(large(), own, json!({})).unwrap().config.llm.context_window, 160_000);
    let other = resolve(large(), json!({"model": "small"}), json!({})).unwrap().config.llm;
    assert_eq!(other.context_window, 128_000, "the default");
}

#[test]
fn more_specific_entries_lie_over_general_ones_key_by_key() {
    let entry =
        |name: &str, matches: Value, field: &str| json!({"name": name, "match": matches, "reasoning_field": field});
    let mut general = entry("all", json!({}), "a");
    general["user_after_tool"] = json!(false);
    let entries = json!([
        entry("both", json!({"base_url": "https://models.example", "model": "large"}), "d"),
        entry("address", json!({"base_url": "https://models.example/v1"}), "c"),
        entry("model", json!({"model": "large-2"}), "b"),
        general,
    ]);
    let field = |llm: Value| {
        let profile = resolve(entries.clone(), llm, json!({})).unwrap().config.llm.profile;
        assert_eq!(profile.user_after_tool, Some(false), "of the general one");
        profile.reasoning_field.unwrap()
    };
    assert_eq!(field(json!({})), "d");
    assert_eq!(field(json!({"model": "maker/Large-2-preview"})), "d", "behind a slash, in any case");
    assert_eq!(field(json!({"model": "small"})), "c");
    assert_eq!(field(json!({"base_url": "https://other.example"})), "b");
    assert_eq!(field(json!({"model": "small", "base_url": "https://other.example"})), "a");
    assert_eq!(field(json!({"profile": {"reasoning_field": "e"}})), "e", "the job type's own");
}

#[test]
fn the_operators_file_adds_to_the_built_in_one() {
    let (_folder, configs) = configs(
        &json!({"profiles": [{"name": "ours", "match": {"base_url": "https://api.mistral.ai"}, "user_after_tool": true}]}),
        &json!({"base_url": "https://api.mistral.ai/v1", "model": "mistral-large"}),
    );
    let profile = configs.resolve("mine", &json!({}), &ModelEnv::default()).unwrap().config.llm.profile;
    assert_eq!(profile.user_after_tool, Some(true), "the operator's");
    assert_eq!(json!(profile.tool_call_id), "alnum9", "the built-in one's");
    let profiles = configs.profiles().unwrap();
    assert_eq!(profiles.name_of("https://api.mistral.ai/v1", "mistral-large"), Some("ours"));
    assert_eq!(profiles.name_of("http://127.0.0.1:1/v1", "m"), None);
}

#[test]
fn another_model_of_a_purpose_inherits_nothing_of_what_is_known_of_the_first() {
    let mut entries = large();
    entries[0]["tool_call_id"] = json!("alnum9");
    let folder = tempfile::tempdir().unwrap();
    let llm = json!({"base_url": "https://models.example/v1", "model": "large-2"});
    write(folder.path(), &json!({"profiles": entries}), &llm);
    let file = json!({"$extends": "creator", "llm": llm, "llm_by_purpose": {"summary": {"model": "small"}}});
    fs::write(folder.path().join("mine/config.json"), file.to_string()).unwrap();
    let configs = ConfigRegistry::load(Some(folder.path()), None).unwrap();
    let resolved = configs.resolve("mine", &json!({}), &ModelEnv::default()).unwrap();
    let summary = resolved.llm(plumbline_engine::Purpose::Summary);
    assert_eq!((summary.context_window, summary.profile.tool_call_id), (128_000, None));
    let tactical = resolved.llm(plumbline_engine::Purpose::Tactical);
    assert_eq!((tactical.context_window, json!(tactical.profile.tool_call_id)), (200_000, json!("alnum9")));
}

#[test]
fn an_effort_that_the_model_does_not_take_is_refused() {
    let entries = json!([{"name": "large", "match": {"model": "large"}, "efforts": ["low", "high"]}]);
    assert!(resolve(entries.clone(), json!({"reasoning_level": "low"}), json!({})).is_ok());
    let refused = resolve(entries, json!({"reasoning_level": "minimal"}), json!({})).unwrap_err();
    assert!(
        refused.contains("`llm.reasoning_level` is `minimal`, which the model does not take; it takes low, high"),
        "{refused}"
    );
}

#[test]
fn a_temperature_with_thinking_is_refused_if_the_provider_refuses_it() {
    let by_profile = json!([{"name": "large", "match": {"model": "large"}, "api": "messages"}]);
    for (providers, llm, is_refused) in [
        (json!([]), json!({"api": "messages", "temperature": 0.2, "reasoning_level": "high"}), true),
        (json!([]), json!({"api": "messages", "temperature": 0.2, "reasoning_level": "2048"}), true),
        (by_profile.clone(), json!({"temperature": 0, "reasoning_level": "low"}), true),
        (json!([]), json!({"api": "messages", "temperature": 1, "reasoning_level": "high"}), false),
        (json!([]), json!({"api": "messages", "temperature": 0.2, "reasoning_level": "none"}), false),
        (json!([]), json!({"api": "messages", "temperature": 0.2}), false),
        (by_profile.clone(), json!({"api": "chat", "temperature": 0.2, "reasoning_level": "high"}), false),
        (json!([]), json!({"temperature": 0.2, "reasoning_level": "high"}), false),
    ] {
        let resolved = resolve(providers, llm.clone(), json!({}));
        assert_eq!(resolved.is_err(), is_refused, "{llm}");
        if let Err(refused) = resolved {
            assert!(
                refused.contains("`llm.temperature` is") && refused.contains("take one of the two out"),
                "{refused}"
            );
        }
    }
    let summary = json!({"llm_by_purpose": {"summary": {"temperature": 0.1}}});
    let refused = resolve(by_profile, json!({"reasoning_level": "high"}), summary).unwrap_err();
    assert!(refused.contains("`llm_by_purpose.summary.temperature` is 0.1"), "{refused}");
}

#[test]
fn a_profile_is_the_operators_and_a_row_may_choose_the_model_that_has_it() {
    let row = json!({"llm": {"profile": {"api": "messages"}}});
    let refused = resolve(json!([]), json!({}), row).unwrap_err();
    assert!(refused.contains("llm.profile.api") && refused.contains("operator"), "{refused}");
    let chosen = resolve(large(), json!({"model": "small"}), json!({"llm": {"model": "large-3"}})).unwrap();
    assert_eq!(chosen.config.llm.context_window, 200_000);
}

#[test]
fn a_mistake_in_the_file_is_named() {
    for (providers, says) in [
        (json!({"profiles": {}}), "has no list `profiles`"),
        (json!({"profiles": [{"match": {}}]}), "`profiles[0]`: it has no `name`"),
        (json!({"profiles": [{"name": "a"}, {"name": "b", "match": {"host": "x"}}]}), "`profiles[1]`: `match` of `b`"),
        (json!({"profiles": [{"name": "a", "windows": 1}]}), "`profiles[0]`: of `a`: unknown key `windows`"),
        (
            json!({"profiles": [{"name": "a", "prefix_cache": "no"}]}),
            "`prefix_cache` is a text; it must be true or false",
        ),
        (json!({"profiles": [{"name": "a", "context_window": 0}]}), "`context_window` is 0; it must be at least 1024"),
        (json!({"profiles": [{"name": "a", "prices": {"input": 1}}]}), "of `a`: `prices.cached_input` has no value"),
    ] {
        let (_folder, configs) = configs(&providers, &json!({}));
        let error = configs.profiles().unwrap_err().to_string();
        assert!(error.contains(says) && error.contains("providers.json"), "{error}");
    }
}

#[test]
fn a_model_to_fall_back_on_inherits_nothing_that_is_known_of_another() {
    let entry = |llm: Value| json!({"prices": "free", "fallback": [{"on": ["overloaded"], "llm": llm}]});
    let of = |llm: Value| resolve(large(), entry(llm), json!({})).unwrap().config.llm.fallback.remove(0);
    let other = of(json!({"model": "small", "base_url": "https://other.example"}));
    assert_eq!((other.after, &other.llm["context_window"]), (3, &json!(128_000)));
    assert_eq!(other.llm["prices"]["input"], 0.0, "of a model of which no prices are known");
    assert_eq!(of(json!({"model": "large-9"})).llm["prices"]["cache_write"], 1.25, "its own");
    assert_eq!(of(json!({"service_tier": "flex"})).llm, json!({"service_tier": "flex"}).as_object().unwrap().clone());
    for (fallback, says) in [
        (json!([{"on": ["overload"], "llm": {}}]), "overload"),
        (json!([{"on": ["quota"], "llm": {"modle": "x"}}]), "`llm.fallback.0.llm.modle`"),
    ] {
        let refused = resolve(large(), json!({"fallback": fallback}), json!({})).unwrap_err();
        assert!(refused.contains(says), "{refused}");
    }
    let row = json!({"llm": {"fallback": [{"on": ["quota"], "llm": {"base_url": "https://evil.example"}}]}});
    let refused = resolve(large(), json!({}), row).unwrap_err();
    assert!(refused.contains("llm.fallback") && refused.contains("operator"), "{refused}");
}

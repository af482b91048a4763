//! The models that the engine knows of.

use crate::{folder, operators};
use plumbline_config::ModelEnv;
use plumbline_engine::Purpose;
use plumbline_job_setup::{configs, settings};
use serde_json::{Value, json};
use std::sync::Arc;

#[test]
fn a_server_without_a_prefix_cache_is_known_to_the_engine() {
    let purposes = [Purpose::Strategic, Purpose::Tactical, Purpose::Summary];
    let caches = |llm: Value| {
        let settings = settings(&operators(&json!({"llm": llm})).unwrap(), Arc::new(|_| 0)).unwrap();
        purposes.map(|purpose| settings.model_for(purpose).prefix_cache)
    };
    assert_eq!(caches(json!({})), [true; 3]);
    assert_eq!(caches(json!({"profile": {"prefix_cache": false}})), [false; 3]);
    let known = json!({"profiles": [{"name": "local", "match": {"model": "small"}, "prefix_cache": false}]});
    let other = json!({"$extends": "creator", "llm": {"base_url": "https://models.example/v1", "model": "large-2"},
        "llm_by_purpose": {"tactical": {"model": "small-1"}}});
    let folder = folder(&[("providers.json", &known.to_string()), ("mine/config.json", &other.to_string())]);
    let configs = configs(Some(folder.path()), None).unwrap();
    let resolved = configs.resolve("mine", &json!({}), &ModelEnv::default()).unwrap();
    let settings = settings(&resolved, Arc::new(|_| 0)).unwrap();
    assert_eq!(purposes.map(|purpose| settings.model_for(purpose).prefix_cache), [true, false, true]);
}

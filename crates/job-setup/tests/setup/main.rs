//! What jobs are run with, as shipped, and with users' mistakes in what the tools read.

#![allow(clippy::unwrap_used, reason = "a helper that cannot set the test up fails the test")]

mod http_tools;
mod mistakes;
mod models;
mod prompts;
mod tool_table;
mod tools;
mod untrusted;

use plumbline_config::{ConfigError, ModelEnv, Resolved};
use plumbline_job_setup::configs;
use serde_json::Value;
use std::fs;

/// A process whose environment names a model.
fn env() -> ModelEnv {
    ModelEnv { model: Some("test-model".into()), base_url: Some("http://127.0.0.1:1/v1".into()), ..ModelEnv::default() }
}

/// The creator with some overrides.
fn creator(overrides: Value) -> Result<Resolved, ConfigError> {
    configs(None, None)?.resolve("creator", &overrides, &env())
}

/// A job type of the operator with these keys in addition to the creator's.
fn operators(keys: &Value) -> Result<Resolved, ConfigError> {
    let mut file = serde_json::json!({"$extends": "creator"});
    file.as_object_mut().unwrap().extend(keys.as_object().unwrap().clone());
    let dir = folder(&[("mine/config.json", &file.to_string())]);
    configs(Some(dir.path()), None)?.resolve("mine", &serde_json::json!({}), &env())
}

/// A configuration folder with these files.
fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = dir.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    dir
}

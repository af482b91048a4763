//! What jobs are run with, as shipped, and with users' mistakes in what the tools read.

#![allow(clippy::unwrap_used, reason = "a helper that cannot set the test up fails the test")]

mod http_tools;
mod mistakes;
mod models;
#[path = "../../../config/tests/config/operator_files.rs"]
mod operator_files;
mod prompts;
mod tool_table;
mod tools;
mod untrusted;

use operator_files::{env, folder, folder_of_mine};
use plumbline_config::{ConfigError, Resolved};
use plumbline_job_setup::configs;
use serde_json::Value;

/// The creator with some overrides.
fn creator(overrides: Value) -> Result<Resolved, ConfigError> {
    configs(None, None)?.resolve("creator", &overrides, &env())
}

/// A job type of the operator with these keys in addition to the creator's.
fn operators(keys: &Value) -> Result<Resolved, ConfigError> {
    let dir = folder_of_mine(keys);
    configs(Some(dir.path()), None)?.resolve("mine", &serde_json::json!({}), &env())
}

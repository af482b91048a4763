//! Configuration as shipped, and with users' mistakes.

#![allow(clippy::unwrap_used, reason = "a helper that cannot set the test up fails the test")]

mod environment;
mod layers;
mod levels;
mod mistakes;
mod operator_files;
mod profiles;
mod reference;
mod row_prices;
mod schema;

use operator_files::{env, folder, folder_of_mine};
use plumbline_config::{ConfigError, ConfigRegistry, Resolved};
use serde_json::Value;

/// The creator with some overrides.
fn creator(overrides: Value) -> Result<Resolved, ConfigError> {
    ConfigRegistry::embedded().resolve("creator", &overrides, &env())
}

/// A job type of the operator with these keys in addition to the creator's.
fn operators(keys: &Value) -> Result<Resolved, ConfigError> {
    let dir = folder_of_mine(keys);
    ConfigRegistry::load(Some(dir.path()), None)?.resolve("mine", &serde_json::json!({}), &env())
}

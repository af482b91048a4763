//! Values from the environment for every job: the model, its endpoint and the iteration limit, if the job type does not
//! set them; and connections.

use crate::{
    ConfigError, Listed,
    error::Problem,
    layers::{merge::without_nulls, with_switches},
    secrets,
};
use serde_json::{Value, json};

/// Settings of the process, from flags and environment variables (a flag overrides its variable). They are between
/// `defaults` and the files of the job types: the environment fills what those do not set. Only connections override
/// the files, for deployments without a folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModelEnv {
    /// `PLUMBLINE_MODEL`.
    pub model: Option<String>,
    /// `OPENAI_BASE_URL`.
    pub base_url: Option<String>,
    /// `PLUMBLINE_MAX_ITERATIONS`: maximum model calls of a job.
    pub max_iterations: Option<u32>,
    /// `PLUMBLINE_CONNECTIONS`: an object like `connections`.
    pub connections: Option<Value>,
    /// `PLUMBLINE_SECRETS`: variables that a configuration may name; if unset, those in the operator's files.
    pub secrets: Option<Vec<Listed>>,
}

impl ModelEnv {
    /// Reads the variables through `lookup`, usually `|name| std::env::var(name).ok()`. Empty values count as unset.
    ///
    /// # Errors
    /// If `PLUMBLINE_MAX_ITERATIONS` is not an integer of at least 1, `PLUMBLINE_CONNECTIONS` is not a JSON object, or
    /// `PLUMBLINE_SECRETS` is not a list of variables.
    pub fn from_lookup(lookup: impl Fn(&str) -> Option<String>) -> Result<Self, ConfigError> {
        let read = |name: &str| lookup(name).filter(|value| !value.trim().is_empty());
        let max_iterations = read("PLUMBLINE_MAX_ITERATIONS").map(|text| parse_iterations(&text)).transpose()?;
        let connections = read("PLUMBLINE_CONNECTIONS").map(|text| parse_connections(&text)).transpose()?;
        let secrets = read("PLUMBLINE_SECRETS").map(|text| secrets::parse(&text)).transpose()?;
        let (model, base_url) = (read("PLUMBLINE_MODEL"), read("OPENAI_BASE_URL"));
        Ok(Self { model, base_url, max_iterations, connections, secrets })
    }

    /// The values that it fills, as a layer of configuration.
    pub(crate) fn layer(&self) -> Value {
        let llm = json!({"model": self.model, "base_url": self.base_url});
        without_nulls(&json!({"llm": llm, "limits": {"max_iterations": self.max_iterations}}))
    }

    /// The values that override the files, as a layer of configuration.
    pub(crate) fn connections_layer(&self) -> Option<Value> {
        Some(with_switches(json!({"connections": self.connections.clone()?})))
    }
}

/// The variable that fills a key.
pub(crate) fn variable_of(key: &str) -> &'static str {
    match key {
        "llm.model" => "PLUMBLINE_MODEL",
        "llm.base_url" => "OPENAI_BASE_URL",
        "limits.max_iterations" => "PLUMBLINE_MAX_ITERATIONS",
        _ => "PLUMBLINE_CONNECTIONS",
    }
}

/// The text is not repeated in the error: it may contain a secret by mistake.
fn parse_connections(text: &str) -> Result<Value, ConfigError> {
    match serde_json::from_str(text) {
        Ok(connections @ Value::Object(_)) => Ok(connections),
        _ => Err(Problem::new(
            "the environment",
            None,
            "PLUMBLINE_CONNECTIONS must be a JSON object like {\"neo4j\": {\"uri\": \"http://localhost:7474\"}}",
        )
        .into()),
    }
}

fn parse_iterations(text: &str) -> Result<u32, ConfigError> {
    match text.trim().parse() {
        Ok(number) if number > 0 => Ok(number),
        _ => Err(Problem::new(
            "the environment",
            None,
            format!("PLUMBLINE_MAX_ITERATIONS is `{text}`; set it to a whole number from 1 or leave it unset"),
        )
        .into()),
    }
}

//! Values from the environment for every job: the model, its endpoint and the iteration limit, if the job type leaves
//! them open; and connections.

use crate::{ConfigError, Listed, error::Problem, layers::with_switches, secrets};
use serde_json::{Map, Value, json};

/// Settings of the process, flags and environment variables already weighed (a flag wins over its variable). They
/// stand between `defaults` and the files of the job types: the environment fills what those leave open. Connections
/// alone stand over the files, for those who deploy without a folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModelEnv {
    /// `PLUMBLINE_MODEL`.
    pub model: Option<String>,
    /// `OPENAI_BASE_URL`.
    pub base_url: Option<String>,
    /// `PLUMBLINE_MAX_ITERATIONS`: most model calls of a job.
    pub max_iterations: Option<u32>,
    /// `PLUMBLINE_CONNECTIONS`: an object as `connections`.
    pub connections: Option<Value>,
    /// `PLUMBLINE_SECRETS`: variables that a configuration may name; those of the operator's files when unset.
    pub secrets: Option<Vec<Listed>>,
}

impl ModelEnv {
    /// Reads the variables through `lookup`, usually `|name| std::env::var(name).ok()`. Empty values count as unset.
    ///
    /// # Errors
    /// When `PLUMBLINE_MAX_ITERATIONS` is no whole number from 1, `PLUMBLINE_CONNECTIONS` no JSON
    /// object, or `PLUMBLINE_SECRETS` no list of variables.
    pub fn from_lookup(lookup: impl Fn(&str) -> Option<String>) -> Result<Self, ConfigError> {
        let read = |name: &str| lookup(name).filter(|value| !value.trim().is_empty());
        let max_iterations = read("PLUMBLINE_MAX_ITERATIONS").map(|text| parse_iterations(&text)).transpose()?;
        let connections = read("PLUMBLINE_CONNECTIONS").map(|text| parse_connections(&text)).transpose()?;
        let secrets = read("PLUMBLINE_SECRETS").map(|text| secrets::parse(&text)).transpose()?;
        let (model, base_url) = (read("PLUMBLINE_MODEL"), read("OPENAI_BASE_URL"));
        Ok(Self { model, base_url, max_iterations, connections, secrets })
    }

    /// What it fills, as a layer of configuration.
    pub(crate) fn layer(&self) -> Value {
        let mut llm = Map::new();
        if let Some(model) = &self.model {
            llm.insert("model".into(), json!(model));
        }
        if let Some(base_url) = &self.base_url {
            llm.insert("base_url".into(), json!(base_url));
        }
        let mut limits = Map::new();
        if let Some(max_iterations) = self.max_iterations {
            limits.insert("max_iterations".into(), json!(max_iterations));
        }
        json!({"llm": llm, "limits": limits})
    }

    /// What it puts over the files, as a layer of configuration.
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

/// The text is never repeated in the sentence: it may hold what should not stand there.
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

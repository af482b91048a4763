//! What the environment says about every job: the model, its endpoint and the iteration limit.

use super::{ConfigError, error::Problem};
use serde_json::{Map, Value, json};

/// Settings of the process, flags and environment variables already weighed (a flag wins over its variable). They
/// stand between the configuration files and the job's own `config`: the environment wins over files, and what a
/// user writes into one job's row is meant for just that job and wins over both.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModelEnv {
    /// `PLUMBLINE_MODEL`.
    pub model: Option<String>,
    /// `OPENAI_BASE_URL`.
    pub base_url: Option<String>,
    /// `PLUMBLINE_MAX_ITERATIONS`: most model calls of a job.
    pub max_iterations: Option<u32>,
}

impl ModelEnv {
    /// Reads the variables through `lookup`, usually `|name| std::env::var(name).ok()`. Empty values count as unset.
    ///
    /// # Errors
    /// When `PLUMBLINE_MAX_ITERATIONS` is no whole number from 1.
    pub fn from_lookup(lookup: impl Fn(&str) -> Option<String>) -> Result<Self, ConfigError> {
        let read = |name: &str| lookup(name).filter(|value| !value.trim().is_empty());
        let max_iterations = read("PLUMBLINE_MAX_ITERATIONS").map(|text| parse_iterations(&text)).transpose()?;
        Ok(Self { model: read("PLUMBLINE_MODEL"), base_url: read("OPENAI_BASE_URL"), max_iterations })
    }

    /// As a layer of configuration.
    pub(super) fn layer(&self) -> Value {
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

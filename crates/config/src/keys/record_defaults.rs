//! `record_defaults`: the values of a recorded requirement that the recording call omits.

use crate::{ConfigError, JobConfig, Resolved, error::Problem, rules::violation::RuleViolation};
use plumbline_documents::candidates::PatternError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Default values of a recorded requirement.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RecordDefaults {
    /// Its type.
    #[schemars(extend("enum" = ["functional", "non_functional", "compliance", "constraint"]))]
    pub r#type: String,
    /// Its confidence, 0 to 1.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub confidence: f64,
    /// Case-insensitive regular expressions, at most 100: a requirement whose text matches one of them is relevant to
    /// proper book-keeping. For `record_passage`.
    pub gobd: Vec<String>,
    /// The same for data protection.
    pub gdpr: Vec<String>,
}

impl Resolved {
    /// Default values of a record.
    ///
    /// # Errors
    /// If a pattern is invalid: the sentence.
    pub fn record_defaults(&self) -> Result<plumbline_tools::RecordDefaults, ConfigError> {
        let wrong = |(key, reason)| {
            let key = path(key);
            Problem::new(&key, None, sentence(&key, &reason))
        };
        compiled(&self.config.record_defaults).map_err(|error| wrong(error).into())
    }
}

fn compiled(settings: &RecordDefaults) -> Result<plumbline_tools::RecordDefaults, (&'static str, PatternError)> {
    let RecordDefaults { r#type, confidence, gobd, gdpr } = settings;
    plumbline_tools::RecordDefaults::new(r#type, *confidence, gobd, gdpr)
}

fn path(key: &str) -> String {
    format!("record_defaults.{key}")
}

fn sentence(key: &str, reason: &PatternError) -> String {
    format!("`{key}` cannot be used: {reason}")
}

/// Invalid patterns.
pub(crate) fn broken(config: &JobConfig) -> Option<RuleViolation> {
    let (key, reason) = compiled(&config.record_defaults).err()?;
    let key = path(key);
    Some(RuleViolation::new(&[&key], sentence(&key, &reason)))
}

//! `coverage`, `coverage_settings` and `documents`: what of a document has to be worked through, and who makes it ready.

use crate::{ConfigError, JobConfig, Resolved, error::Problem, rules::validate::RuleViolation};
use plumbline_documents::candidates::{self, PatternError, Scan};
use plumbline_engine::Prepare;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The one key here that is a list.
pub(crate) const PATTERNS: &str = "coverage_settings.patterns";

/// Whether a job answers for the passages of its documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Coverage {
    /// For each of them.
    Documents,
    /// For none.
    Off,
}

/// What of a document has to be worked through.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CoverageSettings {
    /// Least share of passages that must be answered, 0 to 1; below it the job fails as `not_covered`.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub minimum: f64,
    /// Largest share of the passages with candidate sentences that may be closed with fewer than a quarter of those cited, 0 to
    /// 1; above it the job fails as `not_covered`.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub max_closed: f64,
    /// Largest share of the requirements that may need a look, because their text says what their quotes do not, 0 to 1; above it
    /// the job fails as `not_supported`.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub unsupported: f64,
    /// Regular expressions, at most 100, without regard to capital letters: a sentence that one of them matches is a candidate
    /// for an obligation, besides those that the scan finds itself. `plumbline candidates FILE --type TYPE` shows them.
    pub patterns: Vec<String>,
    /// How the documents say that something has to be. `normative`: by words of obligation. `policy`: by the present passive
    /// as well ("access rights are reviewed every quarter"), which marks more sentences.
    pub style: Style,
}

/// How documents say that something has to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Style {
    /// By words of obligation: regulation, contracts, specifications.
    Normative,
    /// By the present passive as well.
    Policy,
}

/// How documents are made ready for the model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Documents {
    /// `start`: the system extracts and cuts them before the first request. `model`: the model does, in its first tactical
    /// phase; the system does what is left of it when that phase has ended.
    #[schemars(with = "String", extend("enum" = ["start", "model"]))]
    pub prepare: Prepare,
}

impl Resolved {
    /// The scan for candidates, with the style and the patterns of the configuration.
    ///
    /// # Errors
    /// When a pattern is none: the sentence.
    pub fn scan(&self) -> Result<Scan, ConfigError> {
        let wrong = |reason| Problem::new(PATTERNS, None, sentence(&reason));
        scan(&self.config.coverage_settings).map_err(|reason| wrong(reason).into())
    }
}

fn scan(settings: &CoverageSettings) -> Result<Scan, PatternError> {
    let style = match settings.style {
        Style::Normative => candidates::Style::Normative,
        Style::Policy => candidates::Style::Policy,
    };
    Scan::new(&settings.patterns, style)
}

fn sentence(reason: &PatternError) -> String {
    format!("`{PATTERNS}` cannot be used: {reason}")
}

/// Patterns that are none.
pub(crate) fn broken(config: &JobConfig) -> Option<RuleViolation> {
    let wrong = scan(&config.coverage_settings).err()?;
    Some(RuleViolation::new(&[PATTERNS], sentence(&wrong)))
}

/// The first pattern of the operator's that a row takes away: fewer patterns are fewer candidates.
pub(crate) fn taken_away(bound: &Value, row: &Value) -> Option<Value> {
    let left = row.as_array().map_or(&[][..], Vec::as_slice);
    bound.as_array()?.iter().find(|pattern| !left.contains(pattern)).cloned()
}

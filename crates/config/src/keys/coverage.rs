//! `coverage`, `coverage_settings` and `documents`: how much of the documents must be processed, and who prepares them.

use plumbline_engine::{DocumentStyle, Prepare};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Whether a job must answer the passages of its documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline, transform = plumbline_engine::plain_words)]
pub enum Coverage {
    /// Each passage must be answered.
    Documents,
    /// Passages need not be answered.
    Off,
}

/// How much of the documents must be processed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CoverageSettings {
    /// Minimum share of passages that must be answered, 0 to 1; below it the job fails as `not_covered`.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub minimum: f64,
    /// Maximum share of the passages with candidate sentences that may be closed with fewer than a quarter of those
    /// cited, 0 to 1; above it the job fails as `not_covered`.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub max_closed: f64,
    /// Maximum share of requirements with the tag `needs_look`, because their text says something that their quotes do
    /// not, 0 to 1; above it the job fails as `not_supported`.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub unsupported: f64,
    /// Case-insensitive regular expressions, at most 100: a sentence that matches one of them is a candidate for an
    /// obligation, in addition to those that the scan finds. `plumbline candidates FILE --type TYPE` shows them.
    pub patterns: Vec<String>,
    /// How the documents express obligations. `normative`: by normative words. `policy`: also by the present passive
    /// ("access rights are reviewed every quarter"), which marks more sentences.
    pub style: DocumentStyle,
}

/// How documents are prepared for the model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Documents {
    /// `start`: the system extracts and chunks them before the first request. `model`: the model does it in its first
    /// tactical phase; the system does the rest when that phase has ended.
    pub prepare: Prepare,
}

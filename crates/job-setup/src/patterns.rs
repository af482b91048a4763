//! Compiles the patterns of a configuration.

use plumbline_config::{CoverageSettings, JobConfig, RuleViolation};
use plumbline_documents::candidates::{PatternError, Scan};
use plumbline_tools::RecordDefaults;

/// The scan for candidates, with the style and the patterns of a configuration.
///
/// # Errors
/// If a pattern is invalid.
pub fn scan(config: &JobConfig) -> Result<Scan, RuleViolation> {
    let CoverageSettings { patterns, style, .. } = &config.coverage_settings;
    Scan::new(patterns, *style).map_err(|reason| unusable("coverage_settings.patterns", &reason))
}

/// Default values of a record.
///
/// # Errors
/// If a pattern is invalid.
pub fn record_defaults(config: &JobConfig) -> Result<RecordDefaults, RuleViolation> {
    let plumbline_config::RecordDefaults { r#type, confidence, gobd, gdpr } = &config.record_defaults;
    let made = RecordDefaults::new(r#type, *confidence, gobd, gdpr);
    made.map_err(|(key, reason)| unusable(&format!("record_defaults.{key}"), &reason))
}

fn unusable(key: &str, reason: &PatternError) -> RuleViolation {
    RuleViolation::new(&[key], format!("`{key}` cannot be used: {reason}"))
}

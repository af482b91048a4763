//! Rules of what lies above this crate: of the tools, and of the patterns and schemas that they compile.

use crate::{ConfigError, JobConfig, Resolved, RuleViolation};

/// The rules of the crates that act on a configuration; none of them by default.
#[derive(Clone, Copy, Debug)]
pub struct OuterRules {
    /// The contradictions in a configuration.
    pub broken: fn(&JobConfig) -> Vec<RuleViolation>,
    /// Its settings that are allowed but do not have the intended effect.
    pub warnings: fn(&JobConfig) -> Vec<RuleViolation>,
    /// Why no job can start with it.
    pub unusable: fn(&Resolved) -> Option<ConfigError>,
}

/// A process has one set of rules, so registries differ by their files alone.
impl PartialEq for OuterRules {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Default for OuterRules {
    fn default() -> Self {
        Self { broken: |_| Vec::new(), warnings: |_| Vec::new(), unusable: |_| None }
    }
}

//! Restrictions on a job that has read text from outside: documents, pages, results of foreign tools, and rows made of it.

use serde::{Deserialize, Serialize};
use std::{fmt, sync::Arc};

/// `untrusted` of the configuration.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline, transform = crate::plain_words)]
pub enum Untrusted {
    /// No restriction.
    #[default]
    Allow,
    /// Calls that reach beyond the job wait for a person's decision.
    Ask,
    /// Such calls are refused.
    Deny,
}

/// Whether a call (name, arguments as JSON text) reaches beyond the job, to a place that the operator has not allowed.
pub type Reach = Arc<dyn Fn(&str, &str) -> bool + Send + Sync>;

/// The rules for the engine.
#[derive(Clone)]
pub struct UntrustedRules {
    /// What happens to calls that reach out.
    pub mode: Untrusted,
    /// Which calls reach out; pure.
    pub reaches_out: Reach,
}

/// No restriction.
impl Default for UntrustedRules {
    fn default() -> Self {
        Self { mode: Untrusted::Allow, reaches_out: Arc::new(|_, _| false) }
    }
}

impl fmt::Debug for UntrustedRules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UntrustedRules").field("mode", &self.mode).finish_non_exhaustive()
    }
}

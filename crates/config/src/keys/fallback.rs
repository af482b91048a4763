//! `llm.fallback`: models that are used when the job's own fails.

use crate::{Llm, Resolved, keys::llm::SECTIONS, resolved};
use plumbline_engine::{FailureClass, Purpose};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A fallback model, and when it is used.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LlmFallback {
    /// Number of consecutive failures after which it is used; for `quota`, `unauthorized` and `permanent` the first is
    /// enough.
    #[schemars(range(min = 1, max = 100))]
    #[serde(default = "after")]
    pub after: u32,
    /// Failure classes: `transient`, `rate_limited`, `overloaded`, `quota`, `unauthorized`, `permanent` and so on.
    pub on: Vec<FailureClass>,
    /// Kinds of requests: `strategic`, `tactical`, `summary`; all when empty.
    #[serde(default)]
    pub purposes: Vec<Purpose>,
    /// Differences from `llm`. Another model inherits neither the profile of the job's own nor its prices and window.
    #[schemars(with = "Map<String, Value>")]
    pub llm: Map<String, Value>,
}

fn after() -> u32 {
    3
}

impl Resolved {
    /// The models of each entry of `llm.fallback`, by purpose, in the order of [`plumbline_engine::Fallback::models`].
    pub fn fallbacks(&self) -> Vec<[Llm; 3]> {
        let of = |entry: &LlmFallback| SECTIONS.map(|(_, purpose)| self.fallback(entry, purpose));
        self.config.llm.fallback.iter().map(of).collect()
    }

    fn fallback(&self, entry: &LlmFallback, purpose: Purpose) -> Llm {
        resolved::with_part(&self.llm(purpose), &entry.llm)
            .expect("the parts were merged and read once when the job was resolved")
    }
}

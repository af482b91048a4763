//! `withdraw_requirement`: withdraws a mistaken record.

use super::pending;
use crate::error::{Output, ToolResult};
use crate::tool::{Declared, ToolEnv};
use plumbline_engine::{Phases, Product, RequirementChange};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Map;

/// Takes back a requirement that this job recorded: a duplicate of another, a definition, something that obliges nobody. Its row
/// stays, as `withdrawn` and with the reason; no validator gets it, and no list that the system writes names it. Only while it
/// is `pending`. The same text may be recorded anew.
///
/// {arguments}
///
/// Example: `{"id": "req_1a2b3c4d5e6f", "reason": "says the same as req_0f1e2d3c4b5a, from the summary on page 2"}`
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct WithdrawRequirement {
    /// # Its id: r12 or req_…
    /// its id, `r12` or `req_…`, as add_requirement, record_passage and list_requirements give it
    #[schemars(length(min = 1, max = 100))]
    id: String,
    /// # Why, one sentence
    /// why, one sentence
    #[schemars(length(min = 3, max = 2000))]
    #[serde(deserialize_with = "crate::requirements::reason::reason")]
    reason: String,
}

impl Declared for WithdrawRequirement {
    const NAME: &str = "withdraw_requirement";
    const PHASES: Phases = Phases::Tactical;
    const DESCRIPTION: &str = "Take back a requirement that this job recorded, with the reason, while it is pending.";

    async fn run(self, env: &ToolEnv<'_>) -> ToolResult {
        let Self { id, reason } = self;
        let former = pending(env, &id).await?;
        let content = format!("withdrawn {}: {}", former.candidate_id, former.name);
        let change = RequirementChange { candidate_id: former.candidate_id, reason, becomes: None, fields: Map::new() };
        Ok(Output::with(content, Product::ChangeRequirement(Box::new(change))))
    }
}

//! `reject_requirement`: rejects a claimed requirement, with the reason.

use crate::error::{Output, ToolResult};
use crate::requirements::checks::claimed_rows::Checked;
use crate::requirements::checks::name_cache::GraphNames;
use crate::requirements::checks::relevance::Known;
use crate::requirements::checks::{fulfilment, of_call::held, word};
use crate::requirements::checks::{result, result::Assessed};
use crate::tool::{Declared, ToolEnv};
use plumbline_engine::HeldRequirement;
use plumbline_engine::{Judgement, Phases, Product, Verdict};
use schemars::JsonSchema;
use serde::Deserialize;

/// Marks a requirement that `next_requirement` gave as rejected. The reason is kept with the row, and so are the checks.
/// Faults that the checks found must be rejected; beyond them, reject what binds nobody, is no requirement, or contradicts its
/// quote.
///
/// {arguments}
///
/// Example: `{"id": "r12", "reason": "It repeats R-0007 in other words."}`
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RejectRequirement {
    /// # The requirement's id
    /// the requirement's id, as `next_requirement` shows it: `r12` or `req_…`; or that of its row
    id: String,
    /// # Why, one sentence
    /// why, one sentence for the person who reads the row
    #[schemars(length(min = 3, max = 2000))]
    #[serde(deserialize_with = "crate::requirements::reason::reason")]
    reason: String,
    /// true: it could not be judged, which is not its fault; counted as an error and not as a rejection
    #[serde(default)]
    failed: bool,
    /// what else was found, kept in the row's validation_result
    #[schemars(length(max = 10_000))]
    notes: Option<String>,
}

impl Declared for RejectRequirement {
    const NAME: &str = "reject_requirement";
    const PHASES: Phases = Phases::Tactical;
    const DESCRIPTION: &str = "\
        Mark a claimed requirement as rejected, with the reason, or as failed where it cannot be judged.";

    async fn run(self, env: &ToolEnv<'_>) -> ToolResult {
        let Self { id, reason, failed, notes } = self;
        let checked = held(env, &id).await?;
        let verdict = if failed { Verdict::Failed } else { Verdict::Rejected };
        let content = format!("{} {}: {reason}", word(verdict), env.rows.names().name(&checked.row));
        let judgement = reject(env, &checked, verdict, reason, notes).await;
        Ok(Output::with(content, Product::JudgeRequirement(Box::new(judgement))))
    }
}

/// The judgement of a row that is rejected or that failed.
pub(crate) async fn reject(
    env: &ToolEnv<'_>,
    Checked { row, findings }: &Checked,
    verdict: Verdict,
    reason: String,
    notes: Option<String>,
) -> Judgement {
    let assessed = Assessed {
        row,
        findings,
        known: known(env, row).await,
        links: &[],
        compliance_status: fulfilment::status(&[]),
        warnings: Vec::new(),
        integration: "none",
        notes,
        by_rule: false,
    };
    let validation_result = result::of(env.ctx.job_id, &assessed);
    Judgement { id: row.id, verdict, reason: Some(reason), graph_node_id: None, validation_result }
}

/// The graph's knowledge of the row, if the graph is reachable now: a rejection needs no graph and does not wait for
/// one.
async fn known(env: &ToolEnv<'_>, row: &HeldRequirement) -> Option<Known> {
    let client = env.ctx.graph.client().ok().flatten()?;
    let names = GraphNames::load(env.names, client).await.ok()?;
    Some(names.of(row).await.ok()?.known)
}

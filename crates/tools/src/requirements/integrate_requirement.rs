//! `integrate_requirement`: a requirement's node and relations in one graph transaction, and its status with it.
//!
//! The graph and the row cannot be written in one transaction. The graph comes first, under a key that makes writing it
//! again idempotent; the row follows with the step. A worker that dies in between leaves a row that is still claimed,
//! and the call is repeated.

use crate::documents::found_quote::citation_id;
use crate::error::{Output, ToolError, ToolResult};
use crate::graph::{End, GraphClient, PROPERTIES, RELATIONS, RequirementNode};
use crate::requirements::checks::claimed_rows::Checked;
use crate::requirements::checks::name_cache::GraphNames;
use crate::requirements::checks::{fulfilment, graph_error, node, of_call::held, word};
use crate::requirements::checks::{relations, relations::Wanted};
use crate::requirements::checks::{result, result::Assessed};
use crate::requirements::script::Script;
use crate::tool::{Declared, ToolEnv};
use chrono::{SecondsFormat, Utc};
use plumbline_engine::HeldRequirement;
use plumbline_engine::{Handler, Judgement, Phases, Product, Replay, Verdict};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};
use std::fmt::Write as _;
use uuid::Uuid;

/// Writes the node of a requirement that `next_requirement` gave, with its relations, in one graph transaction, and marks the
/// row integrated with the node's number (`R-0042`). The node's key is the row's id, so writing it again changes nothing. A
/// requirement with a fault is refused: reject it. Relations lead to nodes that exist, named by id or name; a like name is
/// taken from a similarity of 0.6 on.
///
/// Without a graph the checks are the same; the requirement is accepted, its statements are added to `output/insert.cypher` (and
/// to `output/insert_part_002.cypher` and so on when there are many), and its row stays pending until a validator with a graph
/// takes it.
///
/// {arguments}
///
/// Example: `{"id": "r12", "relations": [{"type": "IMPACTS_OBJECT", "target": "Invoice", "properties": {"rationale":
/// "sets its retention"}}]}`
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct IntegrateRequirement {
    /// # The requirement's id
    /// the requirement's id, as `next_requirement` shows it: `r12` or `req_…`; or that of its row
    id: String,
    /// list of `type`, `target` (id or name) and `properties` (keys below)
    #[schemars(length(max = 50))]
    #[serde(default)]
    relations: Vec<Wanted>,
    /// `open`, `partial` or `fulfilled` (default: what the relations say)
    #[schemars(extend("enum" = ["open", "partial", "fulfilled"]))]
    compliance_status: Option<String>,
    /// what else was found, kept in the row's validation_result
    #[schemars(length(max = 10_000))]
    notes: Option<String>,
}

impl Declared for IntegrateRequirement {
    const NAME: &str = "integrate_requirement";
    const PHASES: Phases = Phases::Tactical;
    const DESCRIPTION: &str = "\
        Write a claimed requirement into the graph with its relations, and mark it integrated. Safe to \
        repeat.";
    const HANDLER: Handler = Handler::External;
    const REPLAY: Replay = Replay::Keyed;

    fn documentation(said: String) -> String {
        format!("{said}\n\n{}", relations_documented())
    }

    async fn run(self, env: &ToolEnv<'_>) -> ToolResult {
        let Self { id, relations, compliance_status, notes } = self;
        let checked = held(env, &id).await?;
        let name = env.rows.names().name(&checked.row);
        let mut script = Script::over(|path| env.overlay.size(path));
        let Done { verdict, said, warnings, judgement } =
            integrate(env, &checked, IntegrationRequest { relations, compliance_status, notes }, &mut script).await?;
        let warned = if warnings.is_empty() { String::new() } else { format!(" ({})", warnings.join("; ")) };
        let mut products = script.into_products();
        products.push(Product::JudgeRequirement(Box::new(judgement)));
        Ok(Output::of(format!("{} {name}{said}{warned}", word(verdict)), products))
    }
}

/// The relations that a requirement may have, as a table, and their properties.
pub(crate) fn relations_documented() -> String {
    let mut text = String::from("| relation | says |\n|---|---|\n");
    for kind in RELATIONS {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "| {} → {} | {} |", kind.name, kind.end.label(), kind.meaning);
    }
    let _ = write!(text, "\nProperties of a relation: {}.", PROPERTIES.join(", "));
    text
}

/// The parameters of an integration.
#[derive(Debug, Default)]
pub(crate) struct IntegrationRequest {
    pub(crate) relations: Vec<Wanted>,
    pub(crate) compliance_status: Option<String>,
    pub(crate) notes: Option<String>,
}

/// The result of an integration.
pub(crate) struct Done {
    pub(crate) verdict: Verdict,
    /// The rest of the sentence that begins with the verdict and the requirement.
    pub(crate) said: String,
    /// Warnings about its relations.
    pub(crate) warnings: Vec<String>,
    pub(crate) judgement: Judgement,
}

/// Integrates a row that the job holds; without a graph it is accepted, and its statements are added to the script.
pub(crate) async fn integrate(
    env: &ToolEnv<'_>,
    checked: &Checked,
    IntegrationRequest { relations: wanted, compliance_status, notes }: IntegrationRequest,
    script: &mut Script<'_>,
) -> Result<Done, ToolError> {
    let Checked { row, findings } = checked;
    if !findings.faults.is_empty() {
        let (name, faults) = (env.rows.names().name(row), findings.faults.join("; "));
        return Err(ToolError::refused(format!("requirement {name} has to be rejected: {faults}")));
    }
    let client = env.ctx.graph.client()?;
    let known = match client {
        Some(client) => Some(GraphNames::load(env.names, client).await?.of(row).await?.known),
        None => None,
    };
    let links = relations::resolve(env, client, wanted).await?;
    let status = compliance_status.unwrap_or_else(|| fulfilment::status(&links).to_string());
    let node = node_of(row, &status);
    let assessed = Assessed {
        row,
        findings,
        known,
        links: &links,
        compliance_status: &status,
        // Without a graph relations are optional, so none is missing.
        warnings: match client.is_none() && links.is_empty() {
            true => Vec::new(),
            false => relations::warnings(row, &links, &status),
        },
        integration: "done",
        notes,
        by_rule: false,
    };
    match client {
        Some(client) => into_graph(env, client, &node, assessed).await,
        None => into_script(env.ctx.job_id, &node, assessed, script),
    }
}

/// The node of a row at the current time.
pub(crate) fn node_of(row: &HeldRequirement, status: &str) -> RequirementNode {
    let now = Utc::now().to_rfc3339_opts(SecondsFormat::Millis, true);
    node::of(row, status, citation_ids(row), &now)
}

/// The graph's transaction. If the graph permanently refuses it, the requirement fails; a transient failure is left to
/// a retry.
async fn into_graph(
    env: &ToolEnv<'_>,
    client: &GraphClient,
    node: &RequirementNode,
    assessed: Assessed<'_>,
) -> Result<Done, ToolError> {
    let integrated = match client.integrate(node, assessed.links).await {
        Ok(integrated) => integrated,
        Err(error) if error.is_permanent() => {
            let reason = error.to_string();
            let assessed = Assessed { integration: "failed", ..assessed };
            let said = format!(", it is not in the graph: {reason}");
            let judgement = judgement(env.ctx.job_id, &assessed, Verdict::Failed, Some(reason), None);
            return Ok(Done { verdict: Verdict::Failed, said, warnings: Vec::new(), judgement });
        }
        Err(error) => return Err(graph_error(&error)),
    };
    env.names.forget(&[End::Requirement]);
    let again = if integrated.existed { ", whose node was there already" } else { "" };
    let said = format!(" as {}{again}, {} relations", integrated.rid, assessed.links.len());
    let judgement = judgement(env.ctx.job_id, &assessed, Verdict::Integrated, None, Some(integrated.rid));
    Ok(Done { verdict: Verdict::Integrated, said, warnings: assessed.warnings, judgement })
}

/// Without a graph: writes the statements into a file and returns the row to those that wait for a graph.
fn into_script(
    job_id: Uuid,
    node: &RequirementNode,
    assessed: Assessed<'_>,
    script: &mut Script<'_>,
) -> Result<Done, ToolError> {
    let assessed = Assessed { integration: "switched off", ..assessed };
    let path = script.add(node, assessed.links)?;
    let said = format!("; integration is switched off, its statements are in {path}");
    let judgement = judgement(job_id, &assessed, Verdict::Accepted, None, None);
    Ok(Done { verdict: Verdict::Accepted, said, warnings: assessed.warnings, judgement })
}

pub(crate) fn judgement(
    job_id: Uuid,
    assessed: &Assessed<'_>,
    verdict: Verdict,
    reason: Option<String>,
    graph_node_id: Option<String>,
) -> Judgement {
    let validation_result = result::of(job_id, assessed);
    Judgement { id: assessed.row.id, verdict, reason, graph_node_id, validation_result }
}

/// The ids under which the row's citations are recorded with its job.
fn citation_ids(row: &HeldRequirement) -> Vec<String> {
    let id = |citation: &Map<String, Value>| {
        let text = |key: &str| citation.get(key).and_then(Value::as_str);
        let page = citation.get("page").and_then(Value::as_i64).and_then(|page| i32::try_from(page).ok());
        Some(citation_id(text("source")?, page, text("quote")?))
    };
    row.citations.as_array().into_iter().flatten().filter_map(Value::as_object).filter_map(id).collect()
}

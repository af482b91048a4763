//! `integrate_requirement`: a requirement's node and relations in one graph transaction, and its status with it.
//!
//! The graph and the row cannot be written together. The graph comes first, under a key that makes writing it again
//! harmless; the row follows with the step. A worker that dies in between leaves a row that is still held, and the call
//! is made again.

use crate::documents::citation_check::citation_id;
use crate::error::{Output, ToolError, ToolResult};
use crate::graph::{self, End, GraphClient, PROPERTIES, RELATIONS, RequirementNode};
use crate::requirements::checks::claimed_rows::Checked;
use crate::requirements::checks::name_cache::GraphNames;
use crate::requirements::checks::{fulfilment, graph_error, node, of_call::held};
use crate::requirements::checks::{relations, relations::Wanted};
use crate::requirements::checks::{result, result::Assessed};
use crate::requirements::validation_queue::HeldRequirement;
use crate::tool::{Declared, ToolEnv};
use crate::workspace::overlay::WorkspaceOverlay;
use chrono::{SecondsFormat, Utc};
use plumbline_engine::{Handler, Judgement, Phases, Product, Replay, Verdict};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};
use std::fmt::Write as _;

/// Where requirements go while there is no graph.
const SCRIPT: &str = "output/insert.cypher";
/// A part with so many bytes is full, and a further one is begun: whatever is added to a file stores the whole of it anew.
const FULL_BYTES: u64 = 256 * 1024;

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
/// Example: `{"id": "0199…", "relations": [{"type": "IMPACTS_OBJECT", "target": "Invoice", "properties": {"rationale":
/// "sets its retention"}}]}`
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct IntegrateRequirement {
    /// # The requirement's id, req_… or that of its row
    /// the requirement's id: `req_…`, or that of its row
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
        let mut text = format!("{said}\n\n| relation | says |\n|---|---|\n");
        for kind in RELATIONS {
            // Writing to a String cannot fail.
            let _ = writeln!(text, "| {} → {} | {} |", kind.name, kind.end.label(), kind.meaning);
        }
        let _ = write!(text, "\nProperties of a relation: {}.", PROPERTIES.join(", "));
        text
    }

    async fn run(self, env: &ToolEnv<'_>) -> ToolResult {
        let Self { id, relations: wanted, compliance_status, notes } = self;
        let checked = held(env, &id).await?;
        let Checked { row, findings } = &*checked;
        if !findings.faults.is_empty() {
            let faults = findings.faults.join("; ");
            return Err(ToolError::refused(format!("requirement {id} has to be rejected: {faults}")));
        }
        let client = env.ctx.graph.client()?;
        let known = match client {
            Some(client) => Some(GraphNames::load(env.names, client).await?.of(row).await?.known),
            None => None,
        };
        let links = relations::resolve(env, client, wanted).await?;
        let status = compliance_status.unwrap_or_else(|| fulfilment::status(&links).to_string());
        let now = Utc::now().to_rfc3339_opts(SecondsFormat::Millis, true);
        let node = node::of(row, &status, citation_ids(row), &now);
        let assessed = Assessed {
            row,
            findings,
            known,
            links: &links,
            compliance_status: &status,
            // Without a graph no relation has to be made, so none is missing.
            warnings: match client.is_none() && links.is_empty() {
                true => Vec::new(),
                false => relations::warnings(row, &links, &status),
            },
            integration: "done",
            notes,
        };
        match client {
            Some(client) => into_graph(env, client, &node, assessed).await,
            None => into_script(env, &node, assessed),
        }
    }
}

/// The graph's transaction. What it refuses for good fails the requirement; what may pass is left to another try.
async fn into_graph(
    env: &ToolEnv<'_>,
    client: &GraphClient,
    node: &RequirementNode,
    assessed: Assessed<'_>,
) -> ToolResult {
    let Assessed { row, links, .. } = assessed;
    let integrated = match client.integrate(node, links).await {
        Ok(integrated) => integrated,
        Err(error) if error.is_permanent() => {
            let reason = error.to_string();
            let content = format!("failed: requirement {} is not in the graph: {reason}", row.id);
            let assessed = Assessed { integration: "failed", ..assessed };
            return Ok(Output::with(content, judgement(env, &assessed, Verdict::Failed, Some(reason), None)));
        }
        Err(error) => return Err(graph_error(&error)),
    };
    env.names.forget(&[End::Requirement]);
    let rid = integrated.rid;
    let again = if integrated.existed { ", whose node was there already" } else { "" };
    let warned = warned(&assessed.warnings);
    let content = format!("integrated {} as {rid}{again}, {} relations{warned}", row.id, links.len());
    Ok(Output::with(content, judgement(env, &assessed, Verdict::Integrated, None, Some(rid))))
}

/// Without a graph: the statements into a file, and the row back to those that wait for one.
fn into_script(env: &ToolEnv<'_>, node: &RequirementNode, assessed: Assessed<'_>) -> ToolResult {
    let assessed = Assessed { integration: "switched off", ..assessed };
    let path = script(env.overlay);
    let head = if env.overlay.size(&path).is_none() { graph::script_head() } else { String::new() };
    let statements = graph::script_of(node, assessed.links).map_err(|error| ToolError::refused(error.to_string()))?;
    let text = head + &statements;
    let warned = warned(&assessed.warnings);
    let content =
        format!("accepted {}; integration is switched off, its statements are in {path}{warned}", assessed.row.id);
    let products = vec![Product::AppendFile { path, text }, judgement(env, &assessed, Verdict::Accepted, None, None)];
    Ok(Output::of(content, products))
}

/// The part that has room. Each stands for itself and may be run again; a relation to a requirement of a later part comes
/// with the second run.
fn script(overlay: &WorkspaceOverlay<'_>) -> String {
    let mut path = SCRIPT.to_string();
    let mut part = 1;
    while overlay.size(&path).is_some_and(|size| size >= FULL_BYTES) {
        part += 1;
        path = format!("output/insert_part_{part:03}.cypher");
    }
    path
}

fn judgement(
    env: &ToolEnv<'_>,
    assessed: &Assessed<'_>,
    verdict: Verdict,
    reason: Option<String>,
    graph_node_id: Option<String>,
) -> Product {
    let validation_result = result::of(env.ctx.job_id, assessed);
    let id = assessed.row.id;
    Product::JudgeRequirement(Box::new(Judgement { id, verdict, reason, graph_node_id, validation_result }))
}

fn warned(warnings: &[String]) -> String {
    if warnings.is_empty() { String::new() } else { format!(" ({})", warnings.join("; ")) }
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

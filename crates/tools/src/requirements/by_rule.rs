//! Judges by rule, without a graph and before a validator's first request: requirements without findings of the checks
//! are accepted, and the rest waits for the model.

use crate::error::ToolError;
use crate::graph::{Link, relation};
use crate::requirements::checks::claimed_rows::{Checked, check};
use crate::requirements::checks::result::Assessed;
use crate::requirements::checks::{fulfilment, relations};
use crate::requirements::integrate_requirement::{judgement, node_of};
use crate::requirements::script::Script;
use crate::requirements::validation_queue::ValidationQueue;
use crate::workspace::WorkspaceError;
use plumbline_engine::HeldRequirement;
use plumbline_engine::{Judgement, Product, Verdict};
use serde_json::{Map, Value};
use uuid::Uuid;

/// Rows per claim.
const AT_ONCE: u32 = 200;
/// Maximum rows that one job judges by rule: they are in memory, and in one commit. The rest is left to the model.
const MOST: usize = 5_000;

/// Accepts the waiting requirements of this job without faults, remarks and similar requirements; releases the rest.
/// The products are the judgements, and the statements for a graph that is configured later.
///
/// # Errors
/// The rows could not be read.
pub async fn accept_by_rule(
    validation_queue: &dyn ValidationQueue,
    job_id: Uuid,
) -> Result<Vec<Product>, WorkspaceError> {
    let mut script = Script::over(|_| None);
    let (mut judgements, mut looked_at): (Vec<Judgement>, Vec<Uuid>) = (Vec::new(), Vec::new());
    while looked_at.len() < MOST {
        let rows = validation_queue.claim(AT_ONCE, false, &looked_at).await?;
        if rows.is_empty() {
            break;
        }
        looked_at.extend(rows.iter().map(|row| row.id));
        for checked in check(validation_queue, rows).await.map_err(unread)? {
            judgements.extend(accepted(job_id, &checked, &mut script));
        }
    }
    let accepted: Vec<Uuid> = judgements.iter().map(|judgement| judgement.id).collect();
    validation_queue.release(&accepted).await?;
    let mut products = script.into_products();
    products.extend(judgements.into_iter().map(|judgement| Product::JudgeRequirement(Box::new(judgement))));
    Ok(products)
}

/// The judgement of a row without findings.
fn accepted(job_id: Uuid, Checked { row, findings }: &Checked, script: &mut Script<'_>) -> Option<Judgement> {
    if !(findings.faults.is_empty() && findings.remarks.is_empty() && findings.similar.is_empty()) {
        return None;
    }
    let links = mentioned(row);
    let status = fulfilment::status(&links);
    let warnings = if links.is_empty() { Vec::new() } else { relations::warnings(row, &links, status) };
    // If the script refuses it, the model must judge it.
    script.add(&node_of(row, status), &links).ok()?;
    let assessed = Assessed {
        row,
        findings,
        known: None,
        links: &links,
        compliance_status: status,
        warnings,
        integration: "switched off",
        notes: None,
        by_rule: true,
    };
    Some(judgement(job_id, &assessed, Verdict::Accepted, None, None))
}

/// Relations to the objects and messages that it mentions.
fn mentioned(row: &HeldRequirement) -> Vec<Link> {
    let mut links: Vec<Link> = Vec::new();
    for (name, mentioned) in
        [("RELATES_TO_OBJECT", &row.mentioned_objects), ("RELATES_TO_MESSAGE", &row.mentioned_messages)]
    {
        let Some(kind) = relation(name) else { continue };
        for target in mentioned.as_array().into_iter().flatten().filter_map(Value::as_str) {
            if links.iter().all(|link| link.kind != kind || link.target != target) {
                links.push(Link { kind, target: target.to_owned(), properties: Map::new() });
            }
        }
    }
    links
}

fn unread(error: ToolError) -> WorkspaceError {
    match error {
        ToolError::Workspace(error) => error,
        other => WorkspaceError(Box::new(other)),
    }
}

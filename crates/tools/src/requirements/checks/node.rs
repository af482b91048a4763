//! Maps a row to its node's properties.

use crate::graph::RequirementNode;
use plumbline_engine::HeldRequirement;
use serde_json::{Map, Value, json};

/// The name recorded as the node's creator and checker.
const ME: &str = "plumbline";

/// The node of a requirement. `now` is the time of validation, as text.
pub(crate) fn of(
    row: &HeldRequirement,
    compliance_status: &str,
    citation_ids: Vec<String>,
    now: &str,
) -> RequirementNode {
    let value = json!({
        "name": row.name,
        "text": row.text,
        "type": row.r#type,
        "priority": row.priority,
        "status": "active",
        "source": source(row),
        "goBDRelevant": row.gobd_relevant,
        "gdprRelevant": row.gdpr_relevant,
        "complianceStatus": compliance_status,
        "createdBy": ME,
        "validatedBy": ME,
        "validatedAt": now,
        "citationIds": citation_ids,
        "sourceJobId": row.job_id,
    });
    let properties = match value {
        Value::Object(properties) => properties,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => Map::new(),
    };
    RequirementNode { source_requirement_id: row.id, properties, now: now.to_string() }
}

/// Document and place on one line, e.g. `input/policy.pdf, page 4, section 3.1`.
fn source(row: &HeldRequirement) -> Option<String> {
    let mut source = row.source_document.clone()?;
    for part in ["page", "section", "article", "paragraph"] {
        match row.source_location.get(part) {
            Some(Value::String(text)) => source.push_str(&format!(", {part} {text}")),
            Some(Value::Number(number)) => source.push_str(&format!(", {part} {number}")),
            _ => {}
        }
    }
    Some(source)
}

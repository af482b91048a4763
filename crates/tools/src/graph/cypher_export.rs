//! `output/insert.cypher` and its further parts: what would be written, for `cypher-shell`, where no graph is configured.
//!
//! One statement a requirement, with its values as literals, safe to run again and again: like the integration itself
//! it finds the node by the id of its row and takes new numbers from the counter. Relations lead to the objects and
//! messages of the names given, as far as the graph has them.

use super::integration::{Link, RequirementNode, storable};
use crate::graph::schema::CONSTRAINTS;
use serde_json::{Map, Value};
use std::fmt::Write as _;

/// What the file begins with.
pub fn head() -> String {
    let mut text = String::from(
        "// Requirements that passed validation while no graph was configured.\n\
         // Run it with: cypher-shell -f FILE, and its further parts after it. Running it again changes nothing.\n\n",
    );
    for constraint in CONSTRAINTS {
        let _ = writeln!(text, "{constraint};");
    }
    text
}

/// The statements of one requirement.
pub fn append(node: &RequirementNode, links: &[Link]) -> String {
    let (id, now) = (string(&node.source_requirement_id.to_string()), string(&node.now));
    let mut text = format!(
        "\nMERGE (c:PlumblineCounter {{name: 'rid'}}) ON CREATE SET c.value = 0 SET c.takenFor = {id}\n\
         MERGE (r:Requirement {{sourceRequirementId: {id}}})\n\
         ON CREATE SET r.rid = 'R-' + CASE WHEN c.value + 1 < 10000 THEN right('000' + toString(c.value + 1), 4) \
         ELSE toString(c.value + 1) END, c.value = c.value + 1, r.createdAt = {now}\n\
         SET r += {}\nSET r.updatedAt = {now};\n",
        map(&storable(&node.properties))
    );
    for link in links {
        let (label, key, name) = (link.kind.end.label(), link.kind.end.id(), link.kind.name);
        let target = string(&link.target);
        let _ = writeln!(
            text,
            "MATCH (r:Requirement {{sourceRequirementId: {id}}}), (t:{label}) \
             WHERE t.{key} = {target} OR toLower(t.name) = toLower({target})\nMERGE (r)-[x:{name}]->(t) SET x += {};",
            map(&storable(&link.properties))
        );
    }
    text
}

fn map(properties: &Map<String, Value>) -> String {
    let members: Vec<String> =
        properties.iter().map(|(key, value)| format!("{}: {}", name(key), literal(value))).collect();
    format!("{{{}}}", members.join(", "))
}

/// A key in backticks; one inside is doubled.
fn name(key: &str) -> String {
    let plain =
        key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') && !key.starts_with(|c: char| c.is_ascii_digit());
    if plain && !key.is_empty() { key.to_string() } else { format!("`{}`", key.replace('`', "``")) }
}

fn literal(value: &Value) -> String {
    match value {
        Value::String(text) => string(text),
        Value::Array(items) => format!("[{}]", items.iter().map(literal).collect::<Vec<_>>().join(", ")),
        Value::Object(members) => map(members),
        Value::Null | Value::Bool(_) | Value::Number(_) => value.to_string(),
    }
}

/// A string literal on one line: a statement's end must not be found inside of one, and no sign may end it early.
/// Cypher resolves `\uXXXX` before it reads the text, so backslashes are doubled first.
fn string(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('\'');
    for character in text.chars() {
        match character {
            '\\' => out.push_str("\\\\"),
            '\'' => out.push_str("\\'"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            control if control.is_control() => {
                let _ = write!(out, "\\u{:04x}", u32::from(control));
            }
            other => out.push(other),
        }
    }
    out.push('\'');
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::schema::relation;
    use serde_json::json;
    use uuid::Uuid;

    fn node(text: &str) -> RequirementNode {
        let Value::Object(properties) =
            json!({"text": text, "citationIds": ["cit_1"], "gone": null, "odd key": {"a": 1}})
        else {
            unreachable!("json! of braces is an object")
        };
        RequirementNode { source_requirement_id: Uuid::nil(), properties, now: "2026-11-21T09:00:00Z".into() }
    }

    #[test]
    fn values_are_literals_that_cannot_end_early() {
        let text = append(&node("Don't'}) DETACH DELETE r; \\' //\n\u{1}"), &[]);
        assert!(text.contains(r"text: 'Don\'t\'}) DETACH DELETE r; \\\' //\n\u0001'"), "{text}");
        assert!(text.contains("citationIds: ['cit_1']") && text.contains("`odd key`: '{\"a\":1}'"), "{text}");
        assert!(!text.contains("gone"), "{text}");
        let outside: String = text.split('\'').step_by(2).collect();
        assert!(!outside.contains('`') || text.contains("`odd key`"));
    }

    #[test]
    fn relations_lead_to_nodes_by_name() {
        let link = Link { kind: relation("IMPACTS_OBJECT").unwrap(), target: "Invoice".into(), properties: Map::new() };
        let text = append(&node("Invoices must be kept."), &[link]);
        assert!(text.contains("toLower(t.name) = toLower('Invoice')") && text.contains("[x:IMPACTS_OBJECT]"), "{text}");
        assert_eq!(head().matches("IF NOT EXISTS").count(), 5);
    }
}

//! `output/insert.cypher` and its further parts: the statements for `cypher-shell`, if no graph is configured.
//!
//! One idempotent statement per requirement, with its values as literals: like the integration itself it finds the node
//! by the id of its row and takes new numbers from the counter. Relations lead to the objects and messages with the
//! given names, if the graph has them.

use super::integration::{Link, RequirementNode, storable};
use crate::graph::schema::CONSTRAINTS;
use serde_json::{Map, Value};
use std::fmt::Write as _;

/// The head of the file.
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

/// A key that is not a name in every version of Cypher, so that it is not written into a script.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("the property `{0}` cannot be written into a script; a key is made of letters of ASCII, digits and `_`")]
pub struct UnknownKey(String);

/// The statements of one requirement.
///
/// # Errors
/// [`UnknownKey`]: a property's key could be parsed differently.
pub fn append(node: &RequirementNode, links: &[Link]) -> Result<String, UnknownKey> {
    let (id, now) = (string(&node.source_requirement_id.to_string()), string(&node.now));
    let mut text = format!(
        "\nMERGE (c:PlumblineCounter {{name: 'rid'}}) ON CREATE SET c.value = 0 SET c.takenFor = {id}\n\
         MERGE (r:Requirement {{sourceRequirementId: {id}}})\n\
         ON CREATE SET r.createdAt = {now}\n\
         SET c.value = c.value + CASE WHEN r.rid IS NULL THEN 1 ELSE 0 END\n\
         SET r.rid = coalesce(r.rid, 'R-' + CASE WHEN c.value < 10000 THEN right('000' + toString(c.value), 4) \
         ELSE toString(c.value) END)\n\
         SET r += {}\nSET r.updatedAt = {now};\n",
        map(&storable(&node.properties))?
    );
    for link in links {
        let (label, key, name) = (link.kind.end.label(), link.kind.end.id(), link.kind.name);
        let target = string(&link.target);
        let _ = writeln!(
            text,
            "MATCH (r:Requirement {{sourceRequirementId: {id}}}), (t:{label}) \
             WHERE t.{key} = {target} OR toLower(t.name) = toLower({target})\nMERGE (r)-[x:{name}]->(t) SET x += {};",
            map(&storable(&link.properties))?
        );
    }
    Ok(text)
}

fn map(properties: &Map<String, Value>) -> Result<String, UnknownKey> {
    let member = |(key, value): (&String, &Value)| Ok(format!("{}: {}", name(key)?, literal(value)?));
    Ok(format!("{{{}}}", properties.iter().map(member).collect::<Result<Vec<_>, _>>()?.join(", ")))
}

/// A key, unquoted. Keys are never quoted: servers turn `\u0060` into a backtick before they parse a name in backticks.
fn name(key: &str) -> Result<&str, UnknownKey> {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
    match key.chars().all(plain) && !key.starts_with(|c: char| c.is_ascii_digit()) && !key.is_empty() {
        true => Ok(key),
        false => Err(UnknownKey(key.chars().take(40).flat_map(char::escape_default).collect())),
    }
}

fn literal(value: &Value) -> Result<String, UnknownKey> {
    Ok(match value {
        Value::String(text) => string(text),
        Value::Array(items) => format!("[{}]", items.iter().map(literal).collect::<Result<Vec<_>, _>>()?.join(", ")),
        Value::Object(members) => map(members)?,
        Value::Null | Value::Bool(_) | Value::Number(_) => value.to_string(),
    })
}

/// A string literal on one line: a program that splits the script into statements finds neither a statement's end nor a
/// comment inside it, and no character ends it early. Letters, digits and non-ASCII characters are written literally,
/// except possible line ends; everything else is escaped. Servers before 2025 resolve `\uXXXX` before they parse the
/// text, and count the backslashes before it.
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
            ';' | '`' | '"' | '\u{2028}' | '\u{2029}' | '\u{feff}' => escape(&mut out, character),
            control if control.is_control() => escape(&mut out, control),
            other => out.push(other),
        }
    }
    out.push('\'');
    out
}

/// All characters escaped in this way are below U+10000. Writing to a String cannot fail.
fn escape(out: &mut String, character: char) {
    let _ = write!(out, "\\u{:04x}", u32::from(character));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::schema::relation;
    use serde_json::json;
    use uuid::Uuid;

    fn node(text: &str) -> RequirementNode {
        let Value::Object(properties) =
            json!({"text": text, "citationIds": ["cit_1"], "gone": null, "oddKey": {"a": 1}})
        else {
            unreachable!("json! of braces is an object")
        };
        RequirementNode { source_requirement_id: Uuid::nil(), properties, now: "2026-11-21T09:00:00Z".into() }
    }

    #[test]
    fn values_are_literals_that_cannot_end_early() {
        let text = append(&node("Don't'}) DETACH DELETE r; \\' //\n\u{1}"), &[]).expect("known keys");
        assert!(text.contains(r"text: 'Don\'t\'}) DETACH DELETE r\u003b \\\' //\n\u0001'"), "{text}");
        assert!(text.contains("citationIds: ['cit_1']") && text.contains("oddKey: '{\\u0022a\\u0022:1}'"), "{text}");
        assert!(!text.contains("gone"), "{text}");
    }

    #[test]
    fn no_key_is_quoted() {
        for key in ["", "a b", "1a", "a`", "a\\u0060: 1} WITH r MATCH (n) DETACH DELETE n //", "größe"] {
            let properties = Map::from_iter([(key.to_owned(), json!(1))]);
            let link = Link { kind: relation("REFINES").unwrap(), target: "a".into(), properties };
            assert!(append(&node("a"), &[link]).is_err(), "{key}");
        }
    }

    #[test]
    fn relations_lead_to_nodes_by_name() {
        let link = Link { kind: relation("IMPACTS_OBJECT").unwrap(), target: "Invoice".into(), properties: Map::new() };
        let text = append(&node("Invoices must be kept."), &[link]).expect("known keys");
        assert!(text.contains("toLower(t.name) = toLower('Invoice')") && text.contains("[x:IMPACTS_OBJECT]"), "{text}");
        assert_eq!(head().matches("IF NOT EXISTS").count(), 5);
    }
}

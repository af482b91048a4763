//! Builds the row from validated arguments and verified citations.

use super::{AddRequirement, Location, MAX_NAME_CHARS, MIN_TEXT_CHARS, key};
use crate::documents::document_names::resolve;
use crate::error::ToolError;
use crate::tool::ToolEnv;
use plumbline_engine::{Citation, Requirement, Touched, candidate_id_of, one_line};
use serde_json::{Value, json};

/// Fills the row; omitted fields are derived from the text and the first citation.
pub(crate) async fn build(
    env: &ToolEnv<'_>,
    arguments: AddRequirement,
    text: String,
    content_key: Vec<u8>,
    citations: &[Citation],
) -> Result<Requirement, ToolError> {
    let text = text.trim().to_string();
    if key::normalized(&text).chars().count() < MIN_TEXT_CHARS {
        return Err(ToolError::refused(format!(
            "`text` has fewer than {MIN_TEXT_CHARS} characters besides white space"
        )));
    }
    let source_document = match &arguments.source_document {
        Some(name) => Some(resolve(env.overlay, name).await?.path.clone()),
        None => citations.first().map(|citation| citation.source.clone()),
    };
    let name = arguments.name.map(|name| name.trim().to_string()).filter(|name| !name.is_empty());
    Ok(Requirement {
        number: Some(env.overlay.next_number()),
        candidate_id: candidate_id_of(&content_key),
        content_key,
        name: name.unwrap_or_else(|| name_from(&text)),
        text,
        r#type: arguments.r#type.unwrap_or_else(|| env.ctx.record_defaults.r#type.clone()),
        priority: arguments.priority.unwrap_or_else(|| "medium".into()),
        source_document,
        source_location: location(arguments.source_location, citations),
        gobd_relevant: arguments.gobd_relevant,
        gdpr_relevant: arguments.gdpr_relevant,
        citations: citations.iter().map(evidence).collect(),
        mentioned_objects: distinct(arguments.mentioned_objects),
        mentioned_messages: distinct(arguments.mentioned_messages),
        reasoning: arguments.reasoning,
        research_notes: arguments.research_notes,
        confidence: arguments.confidence.unwrap_or(env.ctx.record_defaults.confidence),
        tags: distinct(arguments.tags),
    })
}

/// Names as they are looked up: trimmed, without duplicates regardless of case.
pub(crate) fn distinct(names: Vec<String>) -> Vec<String> {
    let mut kept: Vec<String> = Vec::with_capacity(names.len());
    for name in names {
        let name = name.trim();
        if !name.is_empty() && !kept.iter().any(|known| known.to_lowercase() == name.to_lowercase()) {
            kept.push(name.to_owned());
        }
    }
    kept
}

/// The given location; if it has no page, the page of the first citation.
fn location(mut given: Location, citations: &[Citation]) -> Value {
    let cited = citations.first().and_then(|citation| citation.page);
    given.page = given.page.or(cited.and_then(|page| u64::try_from(page).ok()));
    json!(given)
}

pub(crate) fn evidence(citation: &Citation) -> Value {
    let mut evidence = json!({
        "source": citation.source,
        "page": citation.page,
        "page_to": citation.page_to,
        "quote": citation.quote,
        "verified": citation.verified,
    });
    if let Some(Touched { passage, from, to }) = citation.place {
        evidence["passage"] = passage.into();
        evidence["from"] = from.into();
        evidence["to"] = to.into();
    }
    if !citation.continues.is_empty() {
        evidence["continues"] = json!(citation.continues);
    }
    evidence
}

/// The beginning of the text, cut at a word boundary.
pub(crate) fn name_from(text: &str) -> String {
    let line = one_line(text);
    if line.chars().count() <= MAX_NAME_CHARS {
        return line;
    }
    let room: String = line.chars().take(MAX_NAME_CHARS - 1).collect();
    let cut = room.rfind(' ').filter(|at| *at > room.len() / 2).unwrap_or(room.len());
    format!("{}…", room[..cut].trim_end_matches([',', ';', ':', ' ']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_is_given_twice_is_one() {
        let given = [" Invoice", "invoice", "", "Credit note", "  "].map(String::from);
        assert_eq!(distinct(given.to_vec()), ["Invoice", "Credit note"]);
    }

    #[test]
    fn a_derived_name_ends_between_words() {
        assert_eq!(name_from("Short  text\nhere"), "Short text here");
        let long = name_from(&"Every invoice, credit note and delivery note must be kept ".repeat(3));
        assert_eq!(long, "Every invoice, credit note and delivery note must be kept Every invoice…");
        let unbroken = name_from(&"x".repeat(300));
        assert_eq!(unbroken.chars().count(), MAX_NAME_CHARS);
    }
}

//! The requirements for people: one list by document and section, and one page per requirement.

use super::{citations, place};
use plumbline_engine::{Requirement, one_line};
use serde_json::Value;

/// The heading for requirements without a section.
const NO_SECTION: &str = "No section";

pub(super) fn list(standing: &[&Requirement]) -> String {
    let mut out = format!("# Requirements\n\n{} in all.\n", standing.len());
    for of_document in standing.chunk_by(|one, next| one.source_document == next.source_document) {
        let document = of_document.first().and_then(|first| first.source_document.as_deref());
        out.push_str(&format!("\n## {}\n", document.unwrap_or("No document")));
        for (section, members) in by_section(of_document) {
            out.push_str(&format!("\n### {section}\n"));
            for requirement in members {
                out.push_str(&format!("\n#### {} {}\n\n", requirement.candidate_id, one_line(&requirement.name)));
                out.push_str(&body(requirement));
            }
        }
    }
    out
}

/// The sections in order of first appearance.
fn by_section<'a>(of_document: &[&'a Requirement]) -> Vec<(String, Vec<&'a Requirement>)> {
    let mut sections: Vec<(String, Vec<&Requirement>)> = Vec::new();
    for requirement in of_document {
        let named = ["section", "article", "paragraph"].iter().find_map(|part| place(requirement, part));
        let section = one_line(&named.unwrap_or_else(|| NO_SECTION.to_owned()));
        match sections.iter_mut().find(|(known, _)| *known == section) {
            Some((_, members)) => members.push(requirement),
            None => sections.push((section, vec![requirement])),
        }
    }
    sections
}

pub(super) fn page(requirement: &Requirement) -> String {
    let mut out = format!("# {}\n\n`{}`\n\n", one_line(&requirement.name), requirement.candidate_id);
    out.push_str(&body(requirement));
    let more = [("Reasoning", &requirement.reasoning), ("Research", &requirement.research_notes)];
    for (heading, text) in more.iter().filter_map(|(heading, text)| Some((heading, text.as_ref()?))) {
        out.push_str(&format!("\n## {heading}\n\n{text}\n"));
    }
    let names = [
        ("Objects", &requirement.mentioned_objects),
        ("Messages", &requirement.mentioned_messages),
        ("Tags", &requirement.tags),
    ];
    for (heading, names) in names.iter().filter(|(_, names)| !names.is_empty()) {
        out.push_str(&format!("\n{heading}: {}\n", names.join(", ")));
    }
    out
}

fn body(requirement: &Requirement) -> String {
    let mut facts = vec![requirement.r#type.clone(), requirement.priority.clone()];
    facts.extend(place(requirement, "page").map(|page| format!("page {page}")));
    for (holds, word) in [(requirement.gobd_relevant, "GoBD"), (requirement.gdpr_relevant, "GDPR")] {
        facts.extend(holds.then(|| word.to_owned()));
    }
    facts.push(format!("confidence {}", requirement.confidence));
    let mut out = format!("{}\n\n{}\n", facts.join(" · "), requirement.text);
    for citation in citations(requirement) {
        let quote = one_line(citation["quote"].as_str().unwrap_or_default());
        out.push_str(&format!("\n> {quote}\n>\n> {}\n", source(citation)));
    }
    out
}

fn source(citation: &Value) -> String {
    let name = citation["source"].as_str().unwrap_or_default();
    match (citation["page"].as_u64(), citation["page_to"].as_u64()) {
        (Some(page), Some(last)) => format!("{name}, pages {page} to {last}"),
        (Some(page), None) => format!("{name}, page {page}"),
        (None, _) => name.to_owned(),
    }
}

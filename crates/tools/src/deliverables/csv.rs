//! The requirements as a table for spreadsheets: RFC 4180, with a header line.

use super::{citations, page, place};
use plumbline_engine::Requirement;

const COLUMNS: [&str; 14] = [
    "id",
    "name",
    "text",
    "type",
    "priority",
    "source_document",
    "page",
    "section",
    "quote",
    "citations",
    "gobd_relevant",
    "gdpr_relevant",
    "confidence",
    "tags",
];

pub(super) fn table(standing: &[&Requirement]) -> String {
    let mut out = COLUMNS.join(",") + "\r\n";
    for requirement in standing {
        let cells = cells(requirement).map(|text| cell(&text));
        out.push_str(&cells.join(","));
        out.push_str("\r\n");
    }
    out
}

fn cells(requirement: &Requirement) -> [String; COLUMNS.len()] {
    let Requirement { candidate_id, name, text, r#type, priority, source_document, confidence, tags, .. } = requirement;
    let page = page(requirement);
    let citations = citations(requirement);
    let quote = citations.first().and_then(|citation| citation["quote"].as_str()).unwrap_or_default();
    [
        candidate_id.clone(),
        name.clone(),
        text.clone(),
        r#type.clone(),
        priority.clone(),
        source_document.clone().unwrap_or_default(),
        if page > 0 { page.to_string() } else { String::new() },
        place(requirement, "section").unwrap_or_default(),
        quote.to_owned(),
        citations.len().to_string(),
        requirement.gobd_relevant.to_string(),
        requirement.gdpr_relevant.to_string(),
        confidence.to_string(),
        tags.join("; "),
    ]
}

/// A cell, quoted if its text needs it. The text comes from a document, and a spreadsheet would evaluate one that
/// begins like a formula: a leading apostrophe makes it text.
fn cell(text: &str) -> String {
    let is_formula = text.starts_with(['=', '+', '-', '@', '\t', '\r']) && text.parse::<f64>().is_err();
    let text = if is_formula { format!("'{text}") } else { text.to_owned() };
    match text.contains([',', '"', '\n', '\r']) || text != text.trim() {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::cell;

    #[test]
    fn a_cell_holds_whatever_a_document_says_and_is_never_a_formula() {
        assert_eq!(cell("Keep it"), "Keep it");
        assert_eq!(cell("a, \"b\"\nc"), "\"a, \"\"b\"\"\nc\"");
        assert_eq!(cell("=HYPERLINK(\"x\")"), "\"'=HYPERLINK(\"\"x\"\")\"");
        assert_eq!(cell("-1.5"), "-1.5");
    }
}

//! Reads the texts prepared by the system: the system prompt's sections and the phase's opening message.
//!
//! Everything else is opaque. A section's text may contain headings (the plan does, the prompt may), so a section ends
//! only at a known heading of another section.

use std::sync::LazyLock;

use plumbline_bounds::pattern;
use regex::Regex;
use serde_json::Value;

static DOCUMENT: LazyLock<Regex> =
    LazyLock::new(|| pattern::own(r"^\s*[-*]\s+`?(input/.+?)`?\s+\((?:(\d+) pages?,\s*)?(\d+) bytes\)"));

/// The marker before an unreadable document; the rehearsal model writes it to workspace.md and reads it in later
/// phases.
pub(crate) const UNREADABLE: &str = "- unreadable: ";

/// A document of the job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Document {
    /// Its path, beneath `input/`.
    pub(crate) path: String,
    /// How many pages it has, where that is known.
    pub(crate) pages: Option<u32>,
    /// Its size.
    pub(crate) bytes: u64,
}

impl Document {
    /// The line that describes it, in the shape of the opening's list.
    pub(crate) fn line(&self) -> String {
        match self.pages {
            Some(1) => format!("- {} (1 page, {} bytes)", self.path, self.bytes),
            Some(pages) => format!("- {} ({pages} pages, {} bytes)", self.path, self.bytes),
            None => format!("- {} ({} bytes)", self.path, self.bytes),
        }
    }
}

/// A deliverable of this job type.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Owed {
    /// Its path.
    pub(crate) path: String,
    /// Whether the job is incomplete without it.
    pub(crate) required: bool,
    /// Its schema.
    pub(crate) schema: Option<Value>,
}

static OWED: LazyLock<Regex> =
    LazyLock::new(|| pattern::own(r"^- `([^`]+)`(, if there is any)?(?:, JSON that meets this JSON Schema: `(.*)`)?$"));

/// The deliverables named in the instructions.
pub(crate) fn owed(system: &str) -> Vec<Owed> {
    let listed = section(system, "## What this job owes", &["## "]).unwrap_or_default();
    let owed = |found: regex::Captures<'_>| Owed {
        path: found[1].to_owned(),
        required: found.get(2).is_none(),
        schema: found.get(3).and_then(|schema| serde_json::from_str(schema.as_str()).ok()),
    };
    listed.lines().filter_map(|line| OWED.captures(line)).map(owed).collect()
}

/// The names of documents that nothing is quoted from, with `*` as a wildcard.
pub(crate) fn no_sources(system: &str) -> Vec<String> {
    let listed = system.lines().find_map(|line| line.strip_prefix("These documents are no sources, "));
    listed.into_iter().flat_map(|names| names.split('`').skip(1).step_by(2)).map(str::to_owned).collect()
}

/// The text of the section under the heading line `heading`, up to the first line that begins with one of `ends`.
/// `None` when there is no such heading.
pub(crate) fn section<'a>(text: &'a str, heading: &str, ends: &[&str]) -> Option<&'a str> {
    let mut start = None;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        match start {
            None if line.trim() == heading => start = Some(at + line.len()),
            Some(from) if ends.iter().any(|end| line.starts_with(end)) => return Some(text[from..at].trim()),
            _ => {}
        }
        at += line.len();
    }
    start.map(|from| text[from..].trim())
}

/// Whether a path is a document's: `context.json` is data for the agent.
pub(crate) fn is_document(path: &str) -> bool {
    path.starts_with("input/") && path != "input/context.json"
}

/// The documents listed in `text`, one line each.
pub(crate) fn documents(text: &str) -> Vec<Document> {
    let mut documents: Vec<Document> = Vec::new();
    for found in text.lines().filter_map(|line| DOCUMENT.captures(line)) {
        let path = found[1].to_owned();
        if !is_document(&path) || documents.iter().any(|known| known.path == path) {
            continue;
        }
        let pages = found.get(2).and_then(|pages| pages.as_str().parse().ok());
        documents.push(Document { path, pages, bytes: found[3].parse().unwrap_or_default() });
    }
    documents
}

/// The documents that an earlier turn noted as unreadable: path and reason.
pub(crate) fn unreadable(text: &str) -> Vec<(String, String)> {
    let mut all: Vec<(String, String)> = Vec::new();
    for line in text.lines().filter_map(|line| line.trim().strip_prefix(UNREADABLE)) {
        if let Some((path, reason)) = line.split_once(": ")
            && !all.iter().any(|(known, _)| known == path)
        {
            all.push((path.to_owned(), reason.to_owned()));
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::{Owed, documents, owed, section, unreadable};
    use serde_json::json;

    #[test]
    fn a_section_keeps_headings_that_do_not_end_it() {
        let text = "# Role\n## The job\nExtract\n\n## Scope\nall\n## workspace.md\n# Memory\n";
        assert_eq!(section(text, "## The job", &["## workspace.md"]), Some("Extract\n\n## Scope\nall"));
        assert_eq!(section(text, "## workspace.md", &["## The job"]), Some("# Memory"));
        assert_eq!(section(text, "## Other", &[]), None);
    }

    #[test]
    fn what_is_owed_is_read_with_its_schema() {
        let text = "## What this job owes\n\nThe job is complete when:\n\n- `output/a.md`\n- `output/b.json`, if there is any, JSON that \
                    meets this JSON Schema: `{\"type\":\"array\"}`\n\n## The job\n\n- `c`";
        let path = str::to_owned;
        let expected = [
            Owed { path: path("output/a.md"), required: true, schema: None },
            Owed { path: path("output/b.json"), required: false, schema: Some(json!({"type": "array"})) },
        ];
        assert_eq!(owed(text), expected);
    }

    #[test]
    fn documents_are_read_and_rendered_alike() {
        let list = "- input/policy.pdf (193 pages, 894395 bytes)\n- input/my notes.txt (1200 bytes)";
        let read = documents(&format!("### Documents\n{list}\n- input/context.json (20 bytes)\n"));
        let lines: Vec<String> = read.iter().map(super::Document::line).collect();
        assert_eq!(lines.join("\n"), list);
        assert_eq!(read[0].pages, Some(193));
    }

    #[test]
    fn notes_of_unreadable_documents_are_found_once() {
        let text = "- unreadable: input/a.pdf: Error: encrypted\n- other\n- unreadable: input/a.pdf: Error: encrypted";
        assert_eq!(unreadable(text), vec![("input/a.pdf".to_owned(), "Error: encrypted".to_owned())]);
    }
}

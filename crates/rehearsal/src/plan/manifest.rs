//! Reads `chunks/manifest.json`.
//!
//! It is read line by line rather than as JSON, so that a truncated manifest, or one with a duplicate line, can still
//! be used; it relies on the order of the keys `file`, `source`, `pages`, `headings`.

use std::sync::LazyLock;

use plumbline_bounds::pattern;
use regex::Regex;

use crate::call::Call;
use crate::request_view::RequestView;
use crate::request_view::pages::read_all;

/// The path of the manifest.
pub(crate) const PATH: &str = "chunks/manifest.json";

/// Lines per read: about thirty entries.
const LINES: usize = 400;

/// One chunk of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    /// The number in the chunk's file name.
    pub(crate) number: u32,
    /// Its document.
    pub(crate) source: String,
    /// The pages it covers.
    pub(crate) pages: Option<(u32, u32)>,
    /// The headings above it, outermost first.
    pub(crate) headings: Vec<String>,
}

static KEY: LazyLock<Regex> = LazyLock::new(|| pattern::own(r#"^\s*"(file|source|from|to|headings)":\s*(.*?),?\s*$"#));
static NUMBER: LazyLock<Regex> = LazyLock::new(|| pattern::own(r"(\d+)\.md"));

/// The file of chunk `number`.
pub(crate) fn chunk_file(number: u32) -> String {
    format!("chunks/chunk_{number:03}.md")
}

static COVERAGE: LazyLock<Regex> = LazyLock::new(|| pattern::own(r"^- (.+): (\d+) passages? \((\d+)-(\d+)\): "));

/// The prepared chunks: from the opening's list of passages, or else from the manifest, which may have to be read
/// first.
pub(crate) fn prepared(view: &RequestView<'_>) -> Result<Vec<Entry>, Call> {
    match view.opening("Coverage").and_then(of_coverage) {
        Some(entries) => Ok(entries),
        None => read(view),
    }
}

/// The passages of an opening's list; `None` if it is incomplete.
fn of_coverage(text: &str) -> Option<Vec<Entry>> {
    let mut entries: Vec<Entry> = Vec::new();
    for line in text.lines().take_while(|line| line.starts_with("- ")) {
        let found = COVERAGE.captures(line)?;
        let number = |group: usize| found[group].parse::<u32>().ok();
        let (count, first, last) = (number(2)?, number(3)?, number(4)?);
        if last.checked_sub(first)? + 1 != count {
            return None;
        }
        let entry = |number| Entry { number, source: found[1].to_owned(), pages: None, headings: Vec::new() };
        entries.extend((first..=last).map(entry));
    }
    entries.sort_by_key(|entry| entry.number);
    (!entries.is_empty()).then_some(entries)
}

/// The whole manifest, or the call that reads its next lines. A missing manifest is empty.
pub(crate) fn read(view: &RequestView<'_>) -> Result<Vec<Entry>, Call> {
    Ok(parse(&read_all(view, PATH, LINES)?))
}

fn parse(text: &str) -> Vec<Entry> {
    let mut entries: Vec<Entry> = Vec::new();
    let mut in_headings = false;
    for line in text.lines() {
        if let Some(found) = KEY.captures(line) {
            in_headings = &found[1] == "headings" && !found[2].contains(']');
            key(&mut entries, &found[1], &found[2]);
        } else if in_headings {
            match (string(line.trim().trim_end_matches(',')), entries.last_mut()) {
                (Some(heading), Some(entry)) if !entry.headings.contains(&heading) => entry.headings.push(heading),
                (Some(_), _) => {}
                (None, _) => in_headings = false,
            }
        }
    }
    entries
}

fn key(entries: &mut Vec<Entry>, key: &str, value: &str) {
    if key == "file" {
        let number = NUMBER.captures(value).and_then(|found| found[1].parse().ok());
        if let Some(number) = number.filter(|number| entries.iter().all(|entry| entry.number != *number)) {
            entries.push(Entry { number, source: String::new(), pages: None, headings: Vec::new() });
        }
        return;
    }
    let Some(entry) = entries.last_mut() else { return };
    match key {
        "source" => entry.source = string(value).unwrap_or_default(),
        "from" => entry.pages = value.parse().ok().map(|from| (from, from)),
        "to" => entry.pages = entry.pages.map(|(from, to)| (from, value.parse().unwrap_or(to))),
        _ => entry.headings.extend(serde_json::from_str::<Vec<String>>(value).unwrap_or_default()),
    }
}

fn string(value: &str) -> Option<String> {
    serde_json::from_str(value).ok()
}

#[cfg(test)]
mod tests {
    use super::{Entry, of_coverage, parse};
    use serde_json::json;

    fn entry(number: u32, pages: Option<(u32, u32)>, headings: &[&str]) -> Entry {
        let headings = headings.iter().map(|heading| (*heading).to_owned()).collect();
        Entry { number, source: "input/p \"1\".pdf".to_owned(), pages, headings }
    }

    #[test]
    fn a_line_that_comes_twice_does_no_harm() {
        let manifest = json!({"chunks": [
            {"file": "chunks/chunk_001.md", "source": "input/p \"1\".pdf", "pages": {"from": 1, "to": 2},
             "headings": ["1 Scope", "1.1 Who"], "tokens": 812},
            {"file": "chunks/chunk_002.md", "source": "input/p \"1\".pdf", "pages": null, "headings": [], "tokens": 3},
        ]});
        let text = serde_json::to_string_pretty(&manifest).unwrap();
        let expected = vec![entry(1, Some((1, 2)), &["1 Scope", "1.1 Who"]), entry(2, None, &[])];
        let lines: Vec<&str> = text.lines().collect();
        for cut in 1..lines.len() {
            let overlapping = format!("{}\n{}", lines[..=cut].join("\n"), lines[cut..].join("\n"));
            assert_eq!(parse(&overlapping), expected, "cut at {cut}");
        }
    }

    #[test]
    fn the_opening_has_the_passages_of_each_document() {
        let line =
            "- input/a: b.pdf: 2 passages (3-4): 2 unread, 0 read, 0 answered; 9 candidate sentences, 9 of them open";
        let found = of_coverage(&format!("{line}\n\nThe job fails"));
        let found: Option<Vec<(u32, String)>> =
            found.map(|all| all.into_iter().map(|entry| (entry.number, entry.source)).collect());
        let source = || "input/a: b.pdf".to_owned();
        assert_eq!(found, Some(vec![(3, source()), (4, source())]));
        assert_eq!(of_coverage("- input/a.pdf: 2 passages (1-4): 2 unread"), None, "others lie between them");
        assert_eq!(of_coverage("- input/a.pdf: 1 passages (1-1): 1 unread\n- … and 3 more documents"), None);
        assert_eq!(of_coverage("Each chunk is a passage of the ledger."), None);
    }
}

//! `chunks/manifest.json`: the list of chunks with the origin of each.

use super::Chunk;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// All chunks of a job, from all its documents.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// One entry per chunk file, in the order of their numbers.
    pub chunks: Vec<Entry>,
}

/// One chunk file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// Path in the workspace, `chunks/chunk_001.md`.
    pub file: String,
    /// The document it is a part of, `input/policy.pdf`.
    pub source: String,
    /// Its pages; null for a document without pages.
    pub pages: Option<PageSpan>,
    /// The headings above it, outermost first.
    pub headings: Vec<String>,
    /// Its size in tokens, without the line that names its source.
    pub tokens: u32,
}

/// First and last page, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PageSpan {
    /// The first page, from 1.
    pub from: u32,
    /// The last page.
    pub to: u32,
}

/// Number of an entry's file: `chunks/chunk_012.md` is 12.
fn number(file: &str) -> Option<u32> {
    file.strip_prefix("chunks/chunk_")?.strip_suffix(".md")?.parse().ok()
}

impl Manifest {
    /// Enters the chunks of a document and returns their files in order, and the files that are no longer needed.
    ///
    /// Chunking a document again replaces its entries: it reuses as many of its former numbers as it needs, then new
    /// ones after the highest of all documents; numbers it no longer needs are in the second list. Entries of other
    /// documents do not change. `taken` are numbers that are in use even if the list does not contain them, each with
    /// its document: the passages of the ledger.
    pub fn merge<'a>(
        &mut self,
        source: &str,
        chunks: &[Chunk],
        taken: impl IntoIterator<Item = (u32, &'a str)>,
    ) -> (Vec<String>, Vec<String>) {
        let (own, others): (Vec<Entry>, Vec<Entry>) =
            std::mem::take(&mut self.chunks).into_iter().partition(|entry| entry.source == source);
        let listed =
            |entries: &[Entry]| entries.iter().filter_map(|entry| number(&entry.file)).collect::<BTreeSet<u32>>();
        let (mut former, mut foreign) = (listed(&own), listed(&others));
        for (number, document) in taken {
            let numbers = if document == source { &mut former } else { &mut foreign };
            numbers.insert(number);
        }
        former.retain(|number| !foreign.contains(number));
        let highest = former.iter().chain(&foreign).max().copied().unwrap_or(0);
        let numbers = former.into_iter().chain(highest + 1..);
        let files: Vec<String> = numbers.take(chunks.len()).map(chunk_path).collect();
        let dropped = own.into_iter().map(|entry| entry.file).filter(|file| !files.contains(file)).collect();
        self.chunks = others;
        self.chunks.extend(files.iter().zip(chunks).map(|(file, chunk)| entry(file, source, chunk)));
        self.chunks.sort_by_key(|entry| number(&entry.file));
        (files, dropped)
    }
}

/// Where the workspace has the chunk of a number, which is that of its passage.
pub fn chunk_path(number: u32) -> String {
    format!("chunks/chunk_{number:03}.md")
}

fn entry(file: &str, source: &str, chunk: &Chunk) -> Entry {
    let pages = chunk.first_page.zip(chunk.last_page).map(|(from, to)| PageSpan { from, to });
    let headings = chunk.headings.clone();
    Entry { file: file.to_owned(), source: source.to_owned(), pages, headings, tokens: chunk.tokens }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chunks(count: u32) -> Vec<Chunk> {
        let chunk = |n| Chunk {
            text: format!("text {n}"),
            first_page: Some(n),
            last_page: Some(n + 1),
            headings: vec!["2 Scope".into(), "2.1 Records".into()],
            tokens: 812,
            repeats: false,
        };
        (1..=count).map(chunk).collect()
    }

    fn listing(manifest: &Manifest) -> Vec<(&str, &str)> {
        manifest.chunks.iter().map(|entry| (entry.file.as_str(), entry.source.as_str())).collect()
    }

    #[test]
    fn the_file_has_the_documented_form() {
        let mut manifest = Manifest::default();
        manifest.merge("input/policy.pdf", &chunks(1), []);
        let expected = serde_json::json!({"chunks": [{"file": "chunks/chunk_001.md", "source": "input/policy.pdf",
            "pages": {"from": 1, "to": 2}, "headings": ["2 Scope", "2.1 Records"], "tokens": 812}]});
        assert_eq!(serde_json::to_value(&manifest).expect("plain data"), expected);
        assert_eq!(serde_json::from_value::<Manifest>(expected).expect("the same form"), manifest);
    }

    #[test]
    fn a_document_keeps_its_numbers_and_others_continue_after_them() {
        let mut manifest = Manifest::default();
        assert_eq!(manifest.merge("a", &chunks(2), []).0, ["chunks/chunk_001.md", "chunks/chunk_002.md"]);
        assert_eq!(manifest.merge("b", &chunks(1), []).0, ["chunks/chunk_003.md"]);
        let (files, dropped) = manifest.merge("a", &chunks(3), []);
        assert_eq!(files, ["chunks/chunk_001.md", "chunks/chunk_002.md", "chunks/chunk_004.md"]);
        assert!(dropped.is_empty());
        let (_, dropped) = manifest.merge("a", &chunks(1), []);
        assert_eq!(dropped, ["chunks/chunk_002.md", "chunks/chunk_004.md"]);
        assert_eq!(listing(&manifest), [("chunks/chunk_001.md", "a"), ("chunks/chunk_003.md", "b")]);
    }

    #[test]
    fn a_number_of_the_ledger_is_taken_though_the_list_is_gone() {
        let taken = [(1, "a"), (2, "b"), (3, "a")];
        let (files, _) = Manifest::default().merge("a", &chunks(3), taken);
        assert_eq!(files, ["chunks/chunk_001.md", "chunks/chunk_003.md", "chunks/chunk_004.md"]);
        let (files, _) = Manifest::default().merge("c", &chunks(1), taken);
        assert_eq!(files, ["chunks/chunk_004.md"]);
    }
}

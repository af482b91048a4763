//! The page-marked text file: how extracted text keeps its page numbers as a file in the workspace.
//!
//! A paged document has a line `[page N]` before the text of each page, followed by a blank line; a document without
//! pages has no such lines. A line of the document that looks like a mark is escaped with a backslash, so that a
//! document cannot forge a page number.

use crate::{Extracted, Page};
use std::fmt::Write as _;

/// Separates the lines of a cell, if the author set them: a white space that keeps a row on one line of Markdown.
pub(crate) const LINE: &str = "\u{2028}";

/// The content of a page-marked text file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextFile {
    /// The pages in the order of the file; one page, number 1, if there are no marks.
    pub pages: Vec<Page>,
    /// Whether there were page marks.
    pub paged: bool,
}

/// The text of a document as a file with page marks.
pub fn to_text_file(document: &Extracted) -> String {
    let mut out = String::with_capacity(document.pages.iter().map(|page| page.text.len() + 16).sum());
    document.pages.iter().for_each(|page| push_page(&mut out, page, document.paged));
    out
}

/// Writes the next page to a file with page marks.
pub fn push_page(out: &mut String, page: &Page, paged: bool) {
    if paged {
        if !out.is_empty() {
            out.push('\n');
        }
        writeln!(out, "[page {}]\n", page.number).expect("writing to a string: it cannot fail");
    }
    for line in page.text.lines() {
        if page_mark(line.trim_start_matches('\\')).is_some() {
            out.push('\\');
        }
        out.push_str(line);
        out.push('\n');
    }
}

/// Reads a page-marked text file back. Text before the first mark belongs to the first marked page.
pub fn from_text_file(text: &str) -> TextFile {
    let mut pages: Vec<Page> = Vec::new();
    let mut preamble = String::new();
    for line in text.lines() {
        if let Some(number) = page_mark(line) {
            pages.push(Page { number, text: std::mem::take(&mut preamble) });
            continue;
        }
        let line = match line.strip_prefix('\\') {
            Some(rest) if page_mark(rest.trim_start_matches('\\')).is_some() => rest,
            _ => line,
        };
        let target = pages.last_mut().map_or(&mut preamble, |page| &mut page.text);
        target.push_str(line);
        target.push('\n');
    }
    let paged = !pages.is_empty();
    if !paged {
        pages.push(Page { number: 1, text: preamble });
    }
    for page in &mut pages {
        page.text = page.text.trim_matches('\n').to_owned();
    }
    TextFile { pages, paged }
}

/// The number of a line that is a page mark: only `[page 12]` and white space around it.
pub fn page_mark(line: &str) -> Option<u32> {
    let digits = line.trim().strip_prefix("[page ")?.strip_suffix(']')?;
    let plain = !digits.is_empty() && digits.len() <= 9 && digits.bytes().all(|byte| byte.is_ascii_digit());
    plain.then(|| digits.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Kind;

    fn document(paged: bool, texts: &[&str]) -> Extracted {
        let page = |(index, text): (usize, &&str)| Page { number: index as u32 + 3, text: (*text).to_owned() };
        let pages = texts.iter().enumerate().map(page).collect();
        Extracted { kind: Kind::Pdf, title: None, pages, paged, unread: Vec::new(), warnings: Vec::new() }
    }

    #[test]
    fn pages_survive_the_file() {
        let original = document(true, &["# One\n\nFirst page.", "", "Third page,\nsecond line."]);
        let file = to_text_file(&original);
        assert!(file.starts_with("[page 3]\n\n# One\n\nFirst page.\n\n[page 4]\n"), "{file}");
        assert_eq!(from_text_file(&file), TextFile { pages: original.pages, paged: true });
    }

    #[test]
    fn a_document_without_pages_has_no_marks() {
        let file = to_text_file(&document(false, &["Text\n\nmore"]));
        assert_eq!(file, "Text\n\nmore\n");
        let back = from_text_file(&file);
        assert_eq!((back.paged, back.pages.len(), back.pages[0].number), (false, 1, 1));
        assert_eq!(back.pages[0].text, "Text\n\nmore");
    }

    #[test]
    fn a_document_cannot_forge_a_page_mark() {
        let original = document(true, &["before\n[page 99]\n\\[page 5]\nafter"]);
        let back = from_text_file(&to_text_file(&original));
        assert_eq!(back.pages, original.pages);
    }

    #[test]
    fn only_exact_marks_count() {
        for line in ["[page 12]", "  [page 12]\r"] {
            assert_eq!(page_mark(line), Some(12));
        }
        for line in ["see [page 12]", "[page]", "[page -1]", "[page 1 2]", "[Page 12]", "[page 9999999999]"] {
            assert_eq!(page_mark(line), None, "{line}");
        }
    }
}

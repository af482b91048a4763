//! The pages of a document as one text, with the start of each page.

use crate::Page;
use std::fmt::Write as _;
use std::ops::Range;

/// Maximum tokens of a page mark with its blank line or line end.
const MARK_TOKENS: usize = 8;

/// One text for the whole document.
pub(super) struct Whole {
    /// The concatenated texts of the pages.
    pub(super) text: String,
    /// The start of each page, ascending; empty for a document without pages.
    starts: Vec<Start>,
}

struct Start {
    offset: usize,
    page: u32,
    /// Whether the page continues a sentence of the one before.
    mid_sentence: bool,
}

impl Whole {
    /// Joins pages: as separate paragraphs, or within one paragraph if a sentence continues.
    pub(super) fn of(pages: &[Page], paged: bool) -> Self {
        let mut whole = Self { text: String::new(), starts: Vec::new() };
        for page in pages {
            // The indent of a first line is part of the text.
            let text = page.text.trim_end().trim_start_matches(['\n', '\r']);
            if text.trim().is_empty() {
                continue;
            }
            let mid_sentence = runs_on(&whole.text, text);
            if !whole.text.is_empty() {
                whole.text.push_str(if mid_sentence { "\n" } else { "\n\n" });
            }
            if paged {
                whole.starts.push(Start { offset: whole.text.len(), page: page.number, mid_sentence });
            }
            whole.text.push_str(text);
        }
        whole
    }

    /// The page of the character at `offset`.
    pub(super) fn page_at(&self, offset: usize) -> Option<u32> {
        let after = self.starts.partition_point(|start| start.offset <= offset);
        self.starts.get(after.checked_sub(1)?).map(|start| start.page)
    }

    /// A piece of the text with its page marks: at the top, and at the beginning of each page inside it.
    pub(super) fn with_marks(&self, offset: usize, piece: &str) -> String {
        let Some(first) = self.page_at(offset) else { return piece.to_owned() };
        let mut out = String::with_capacity(piece.len() + 32);
        write!(out, "[page {first}]\n\n").expect("writing to a string: it cannot fail");
        let mut done = 0;
        for start in self.inside(offset, offset + piece.len()) {
            let at = start.offset - offset;
            out.push_str(piece[done..at].trim_end());
            let (before, after) = if start.mid_sentence { ("\n", "\n") } else { ("\n\n", "\n\n") };
            write!(out, "{before}[page {}]{after}", start.page).expect("writing to a string: it cannot fail");
            done = at;
        }
        out.push_str(&piece[done..]);
        out
    }

    /// Tokens that page marks may add to the part of the text from `offset` to `end`.
    pub(super) fn marks_tokens(&self, offset: usize, end: usize) -> usize {
        let top = usize::from(!self.starts.is_empty());
        (top + self.inside(offset, end).len()) * MARK_TOKENS
    }

    /// [`Whole::marks_tokens`] of a slice of the text.
    pub(super) fn marks_tokens_of(&self, piece: &str) -> usize {
        self.offset_of(piece).map_or(MARK_TOKENS, |offset| self.marks_tokens(offset, offset + piece.len()))
    }

    /// The offset of a slice of the text; none for a slice of another text.
    pub(super) fn offset_of(&self, piece: &str) -> Option<usize> {
        let offset = (piece.as_ptr() as usize).checked_sub(self.text.as_ptr() as usize)?;
        (offset + piece.len() <= self.text.len()).then_some(offset)
    }

    /// The text in parts of at least this many bytes, except the last; a part begins with a page, and not within a
    /// sentence.
    pub(super) fn parts(&self, bytes: usize) -> Vec<Range<usize>> {
        let mut parts = Vec::new();
        let mut begin = 0;
        for start in self.starts.iter().filter(|start| !start.mid_sentence) {
            if start.offset - begin >= bytes {
                parts.push(begin..start.offset);
                begin = start.offset;
            }
        }
        parts.push(begin..self.text.len());
        parts
    }

    /// The pages that begin after `offset` and before `end`.
    fn inside(&self, offset: usize, end: usize) -> &[Start] {
        let from = self.starts.partition_point(|start| start.offset <= offset);
        let to = self.starts.partition_point(|start| start.offset < end);
        &self.starts[from..to.max(from)]
    }
}

/// Whether `next` continues an unfinished sentence of `before`. In case of doubt it does not: two paragraphs stay
/// separate.
fn runs_on(before: &str, next: &str) -> bool {
    let last = before.rsplit('\n').next().unwrap_or_default().trim_end();
    let unfinished = last.ends_with(|c: char| c.is_alphanumeric() || ",;-–(".contains(c));
    let structural = |line: &str| line.starts_with(['#', '|', '>']);
    let goes_on = next.starts_with(|c: char| c.is_lowercase() || c.is_ascii_digit() || "(\u{201c}\"".contains(c));
    let numbered = next.split_whitespace().next().is_some_and(|word| word.ends_with(['.', ')']) && word.len() < 6);
    unfinished && goes_on && !numbered && !structural(last) && !structural(next)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whole(texts: &[&str]) -> Whole {
        let page = |(index, text): (usize, &&str)| Page { number: index as u32 + 1, text: (*text).to_owned() };
        Whole::of(&texts.iter().enumerate().map(page).collect::<Vec<_>>(), true)
    }

    #[test]
    fn a_sentence_may_run_over_the_end_of_a_page() {
        let whole = whole(&["The controller shall keep", "records for ten years.", "# Next"]);
        assert_eq!(whole.text, "The controller shall keep\nrecords for ten years.\n\n# Next");
        let marked = whole.with_marks(4, &whole.text[4..]);
        assert_eq!(marked, "[page 1]\n\ncontroller shall keep\n[page 2]\nrecords for ten years.\n\n[page 3]\n\n# Next");
        assert_eq!((whole.page_at(0), whole.page_at(26), whole.page_at(60)), (Some(1), Some(2), Some(3)));
    }

    #[test]
    fn parts_begin_with_pages_and_cover_everything() {
        let whole = whole(&["First page.", "Second page which", "goes on.", "Fourth.", "Fifth."]);
        let texts: Vec<&str> = whole.parts(10).into_iter().map(|part| &whole.text[part]).collect();
        assert_eq!(texts, ["First page.\n\n", "Second page which\ngoes on.\n\n", "Fourth.\n\nFifth."]);
        assert_eq!(whole.parts(usize::MAX), std::slice::from_ref(&(0..whole.text.len())));
    }

    #[test]
    fn pages_that_end_in_a_sentence_are_paragraphs() {
        for (before, next) in
            [("It ends.", "next"), ("## Heading", "text"), ("- item", "1. item"), ("a", "Upper"), ("| a |", "b")]
        {
            assert!(!runs_on(before, next), "{before} / {next}");
        }
        assert!(runs_on("keep records of the", "processing"));
    }
}

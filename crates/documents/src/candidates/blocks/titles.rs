//! Text with the layout of a title, and whether it is one.

use super::{Block, Kind, last_line};
use crate::candidates::wording::is_capitals;

/// The title of a line that begins with up to six `#`.
pub(super) fn heading(text: &str) -> Option<&str> {
    let rest = text.trim_start_matches('#');
    ((1..=6).contains(&(text.len() - rest.len())) && rest.starts_with([' ', '\t'])).then(|| rest.trim_start())
}

pub(super) fn words(marked: &str, block: &Block) -> usize {
    block.parts.iter().map(|(range, _)| marked[range.clone()].split_whitespace().count()).sum()
}

/// Whether a paragraph, so far, is a title in capitals.
pub(super) fn is_title(marked: &str, block: &Block) -> bool {
    block.kind == Kind::Paragraph
        && block.parts.iter().all(|(range, _)| is_capitals(&marked[range.clone()]))
        && !last_line(marked, block).ends_with(['.', ';', '!'])
}

/// A text with more words is not a title.
const MOST_TITLE_WORDS: usize = 10;

/// Whether a text that begins with a section number is the section's title.
pub(super) fn is_numbered_title(marked: &str, block: &Block) -> bool {
    matches!(block.kind, Kind::Item { mark, .. } if mark.is_section())
        && words(marked, block) <= MOST_TITLE_WORDS
        && last_line(marked, block).ends_with(|last: char| last.is_alphanumeric() || last == ')')
}

/// A heading with fewer words that the next line continues is a heading above a line of code.
const LEAST_OF_A_SENTENCE: usize = 4;

/// Words that do not end a title.
const JOINING: [&str; 32] = [
    "a", "an", "and", "are", "as", "at", "by", "for", "from", "in", "is", "of", "on", "or", "shall", "that", "the",
    "to", "which", "with", "und", "oder", "der", "die", "das", "den", "dem", "des", "von", "mit", "für", "zu",
];

/// Whether a sentence with the layout of a heading continues in the next line: `3.1.1 Limit access to users and`.
pub(super) fn heading_goes_on(marked: &str, heading: &Block, next: &str) -> bool {
    let last = last_line(marked, heading);
    let word = last.rsplit(char::is_whitespace).next().unwrap_or_default().to_lowercase();
    let cut = last.ends_with(',') || JOINING.contains(&word.as_str());
    let numbered = last_line(marked, heading).starts_with(|first: char| first.is_ascii_digit());
    let open = next.starts_with(|first: char| first.is_lowercase()) || (numbered && next.starts_with('('));
    heading.kind == Kind::Heading
        && words(marked, heading) >= LEAST_OF_A_SENTENCE
        && !is_capitals(last)
        && !last.ends_with(['.', '!', '?', ':', ';'])
        && (cut || open)
}

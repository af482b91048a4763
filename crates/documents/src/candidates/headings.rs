//! Headings that are sentences: rules in bold, numbered requirements.

use super::Scan;
use super::blocks::{Block, Kind};
use super::wording::is_capitals;
use plumbline_bounds::pattern;
use regex::Regex;
use std::sync::LazyLock;

/// A heading with fewer words is not a sentence.
const SENTENCE_WORDS: usize = 5;

/// Beginnings of titles: `What every operator must know`.
const TITLE_WORDS: [&str; 16] = [
    "what",
    "how",
    "why",
    "when",
    "who",
    "where",
    "which",
    "was",
    "wie",
    "warum",
    "wann",
    "wer",
    "wo",
    "welche",
    "things",
    "requirements",
];

/// The rule by which a heading is a candidate: titles only look like instructions, but a numbered heading that reads
/// like a sentence is one.
pub(super) fn reason(heading: &str, scan: &Scan) -> Option<&'static str> {
    let words = without_number(heading);
    if !is_sentence(words) {
        return None;
    }
    let numbered = words.len() < heading.len();
    if numbered || ends(words) { scan.reason(words, numbered) } else { scan.by_language(words) }
}

/// The rule by which the first sentence of a paragraph or an entry is a candidate: `3.1.1 Limit access …` is one in any
/// layout.
pub(super) fn reason_of_paragraph(block: &Block, text: &str, scan: &Scan) -> Option<&'static str> {
    let words = without_number(text);
    let numbered = words.len() < text.len() || matches!(block.kind, Kind::Item { mark, .. } if mark.is_section());
    scan.reason(text, false).or_else(|| scan.reason(words, true).filter(|_| numbered))
}

/// A heading without the number of its clause or requirement, also in bold type: `3.1.1 `, `AC-5 `, `**R-12:** `.
pub(super) fn without_number(heading: &str) -> &str {
    static NUMBER: LazyLock<Regex> = LazyLock::new(|| {
        pattern::own(
            r"^(?:\*\*|__)?(?:(?:[A-Z]{1,5}[.-]?)?\d{1,4}(?:[.-]\d{1,3})*(?:\(\d{1,3}\))?|[A-Z]{1,3}(?:[.-][A-Z0-9]{1,5}){1,3})[.:)]?(?:\*\*|__)?:? +",
        )
    });
    NUMBER.find(heading).map_or(heading, |number| &heading[number.end()..])
}

/// Whether it ends like a sentence, ignoring a footnote number.
fn ends(heading: &str) -> bool {
    heading.trim_end_matches(|sign: char| sign.is_ascii_digit() || matches!(sign, '*' | '_')).ends_with('.')
}

/// Whether a text with the layout of a heading reads like a sentence.
fn is_sentence(heading: &str) -> bool {
    let first = heading.split_whitespace().next().unwrap_or_default().to_lowercase();
    let enough = heading.split_whitespace().count() >= SENTENCE_WORDS;
    ends(heading) || (enough && !is_capitals(heading) && !TITLE_WORDS.contains(&first.as_str()))
}

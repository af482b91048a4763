//! Detects placeholders: files that only announce a deliverable.

use crate::vocabulary::without_comments;

/// Minimum characters of text, without headings, that a deliverable needs.
const MIN_SUBSTANCE: usize = 20;

/// Lines that replace missing content, compared in lower case without punctuation at either end.
const EMPTY_WORDS: [&str; 12] = [
    "todo",
    "tbd",
    "tba",
    "placeholder",
    "to be done",
    "to be determined",
    "to be added",
    "to be written",
    "content goes here",
    "coming soon",
    "work in progress",
    "lorem ipsum",
];

/// Whether there is no real content: empty, only headings and comments, or only placeholder words.
///
/// Content that is not UTF-8 text is never a placeholder unless it is empty.
pub fn is_placeholder(content: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(content) else {
        return content.is_empty();
    };
    let text = without_comments(text);
    // Counted only up to the minimum: most files are long.
    let substance = text.lines().map(str::trim).filter(|line| is_substance(line)).flat_map(letters);
    substance.take(MIN_SUBSTANCE).count() < MIN_SUBSTANCE
}

fn is_substance(line: &str) -> bool {
    !line.is_empty() && !line.starts_with('#') && !is_bracketed(line) && !is_placeholder_text(line)
}

/// A line of words all in brackets stands for text that is to come: `[Insert the findings here]`, `<rest of the report>`,
/// `... (content omitted) ...`. Data and markup have other characters in theirs.
fn is_bracketed(line: &str) -> bool {
    let bare = line.trim_matches(|c: char| c.is_whitespace() || matches!(c, '.' | '…' | '-' | '*' | '_'));
    let within = [('[', ']'), ('(', ')'), ('<', '>')]
        .into_iter()
        .find_map(|(open, close)| bare.strip_prefix(open).and_then(|rest| rest.strip_suffix(close)));
    let is_of_words = |c: char| c.is_alphanumeric() || c.is_whitespace() || ".,:;-–'’…".contains(c);
    within.is_some_and(|within| {
        within.chars().all(is_of_words)
            && within.split_whitespace().filter(|word| word.chars().any(char::is_alphabetic)).nth(1).is_some()
    })
}

fn is_placeholder_text(line: &str) -> bool {
    let bare = line.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    EMPTY_WORDS.iter().any(|word| bare == *word || (bare.starts_with(word) && bare.len() < word.len() + 24))
}

fn letters(line: &str) -> impl Iterator<Item = char> {
    line.chars().filter(|c| c.is_alphanumeric())
}

#[cfg(test)]
mod tests {
    use super::is_placeholder;

    #[test]
    fn lesson_11_headings_alone_are_no_deliverable() {
        for text in [
            "",
            "  \n",
            "# Report\n\n## Findings\n",
            "# Report\nTODO\n",
            "# R\n- TBD\n- [to be written]\n",
            "TODO: fill in later",
            "# Report\n\n[Insert the summary of the findings here]\n\n... (rest of the report omitted) ...\n",
            "# Report\n\n<!-- All requirements were extracted\nand checked. -->\n",
            "# Report\n\n<content omitted for brevity>\n",
        ] {
            assert!(is_placeholder(text.as_bytes()), "{text:?}");
        }
        for text in [
            "# Report\n\nInvoices must be kept for ten years.\n",
            "id,page\nreq_1,3\nreq_2,5\nreq_3,7\n",
            "[\"Invoices must be kept\", \"Letters too\"]",
            "<requirement id=\"1\" text=\"Invoices must be kept\"/>",
            "# R\n(See section 3.)\nThe board must keep invoices.",
        ] {
            assert!(!is_placeholder(text.as_bytes()), "{text:?}");
        }
        assert!(!is_placeholder(&[0xff, 0xd8, 0x00]));
    }
}

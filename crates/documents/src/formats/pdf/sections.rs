//! Titles of sections: their numbers, their measures, and their entries in a table of contents.

/// Longer blocks are text, in any size.
pub(super) const LONGEST: usize = 150;
/// Maximum distance between lines of one heading, in type sizes.
pub(super) const NEXT_LINE: f32 = 2.0;
/// Words that announce a division of a document, with its number or name in the next lines.
pub(super) const DIVISIONS: [&str; 8] = ["chapter", "part", "appendix", "annex", "kapitel", "teil", "anhang", "anlage"];

/// The number of parts of the section number at the beginning of a text: 2 for `5.6 Version`, 1 for `Annex A` and
/// `CHAPTER TWO`.
pub(super) fn section_depth(text: &str) -> Option<usize> {
    let (number, rest) = text.trim().split_once(char::is_whitespace)?;
    let upper = |word: &str| word.chars().all(|c| c.is_uppercase() || c.is_ascii_digit() || c.is_ascii_punctuation());
    if DIVISIONS.contains(&number.to_lowercase().as_str()) && rest.split_whitespace().next().is_some_and(upper) {
        return Some(1);
    }
    let parts: Vec<&str> = number.trim_end_matches('.').split('.').collect();
    let numbers =
        parts.iter().all(|part| !part.is_empty() && part.len() <= 3 && part.bytes().all(|b| b.is_ascii_digit()));
    (numbers && rest.chars().any(char::is_alphabetic)).then_some(parts.len())
}

/// Whether a line of dots leads to a page number.
pub(super) fn has_leader(text: &str) -> bool {
    text.contains(". . . .") || text.contains(".....") || text.contains(" \u{2026} ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn section_numbers_give_the_level() {
        for (text, depth) in [
            ("5 Control files", Some(1)),
            ("5.6.12 Version", Some(3)),
            ("2.1. Scope", Some(2)),
            ("Annex A Terms", Some(1)),
        ] {
            assert_eq!(section_depth(text), depth, "{text}");
        }
        for text in ["Annexed A", "Part of it", "2026 was", "10", "3.2", "1.a Text"] {
            assert_eq!(section_depth(text), None, "{text}");
        }
    }
}

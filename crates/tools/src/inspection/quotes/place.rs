//! The place that a file names beside a quote: a document and pages, in a sentence of its own or in keys.

/// Delimiters before the source at the end of a quote or behind it: a dash, or a parenthesis.
const BEFORE_SOURCE: [&str; 7] = ["— ", "—", "– ", "-- ", "- ", "(", "["];
/// Maximum characters of a source.
const LONGEST_SOURCE: usize = 120;
/// Beginnings of a source that does not name its document.
const PLACES: [&str; 12] =
    ["p.", "pp.", "page", "pages", "§", "section", "clause", "article", "art.", "annex", "source:", "seite"];
/// Words before a page's number.
const PAGE_WORDS: [&str; 8] = ["p", "pp", "page", "pages", "seite", "seiten", "pg", "pgs"];
/// A shorter name occurs in any sentence.
const LEAST_NAME: usize = 4;
/// Pages of a longer range are represented by its ends.
const LONGEST_RANGE: u32 = 8;

/// A document as a file names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SaidDocument {
    /// The name of a document, and nothing else.
    Name(String),
    /// Words that may name one.
    Words(String),
}

/// The place that a file gives for a quote.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SaidPlace {
    pub(crate) document: Option<SaidDocument>,
    /// Any of these.
    pub(crate) pages: Vec<u32>,
}

impl SaidPlace {
    /// The same for quotes in inner objects: the outer `document` may be the file's own subject.
    pub(super) fn seen_from_below(mut self) -> Self {
        if let Some(SaidDocument::Name(name)) = self.document {
            self.document = Some(SaidDocument::Words(name));
        }
        self
    }

    /// Words beside the quote, which may be its source.
    pub(super) fn is_beside(&mut self, words: Option<&str>) {
        if let (None, Some(words)) = (&self.document, words) {
            self.document = Some(SaidDocument::Words(words.trim().to_owned()));
        }
    }
}

/// The line behind a block quote if it begins with a dash.
pub(super) fn behind_dash(line: &str) -> Option<&str> {
    let dashes = &BEFORE_SOURCE[..BEFORE_SOURCE.len() - 2];
    short(dashes.iter().find_map(|dash| line.strip_prefix(dash))?)
}

/// The words in parentheses or behind a dash that follow a quotation mark, up to the end of the line.
pub(super) fn behind_quote(rest: &str) -> Option<&str> {
    let rest = rest.trim_start_matches(['.', ',', ' ', '\n', '*', '_']);
    let before = BEFORE_SOURCE.iter().find(|before| rest.starts_with(**before))?;
    let said = &rest[before.len()..];
    let end = match *before {
        "(" => said.find(')'),
        "[" => said.find(']'),
        _ => said.find(['\n', '"', '“', '„', '«', ';']),
    };
    short(&said[..end.unwrap_or(said.len())])
}

fn short(said: &str) -> Option<&str> {
    (said.chars().count() <= LONGEST_SOURCE).then_some(said)
}

/// A quote without the source at its end, `— policy.md, page 3` or `(policy.md, page 3)`, and that source.
pub(super) fn parted<'a>(quote: &'a str, documents: &[&str]) -> Option<(&'a str, &'a str)> {
    let ends = BEFORE_SOURCE.iter().filter(|before| **before != "- ");
    let mut ends: Vec<(usize, usize)> = ends.filter_map(|before| Some((quote.rfind(before)?, before.len()))).collect();
    ends.sort_unstable();
    let (at, before) = ends.into_iter().find(|(at, before)| is_source(&quote[at + before..], documents))?;
    Some((quote[..at].trim_end().trim_end_matches(is_mark).trim_end(), &quote[at + before..]))
}

pub(super) fn is_mark(c: char) -> bool {
    matches!(c, '"' | '“' | '”' | '„' | '«' | '»')
}

/// Whether a text is the source of a quote: it names a document or another file, or begins with a place.
pub(crate) fn is_source(said: &str, documents: &[&str]) -> bool {
    let lower = said.trim().to_lowercase();
    let is_place = |place: &str| lower.strip_prefix(place).is_some_and(|rest| !rest.starts_with(char::is_alphabetic));
    said.trim().chars().count() <= LONGEST_SOURCE
        && (PLACES.iter().any(|place| is_place(place))
            || documents.iter().any(|name| is_named(name, &lower))
            || file_name_in(said).is_some())
}

/// Whether lower-case words contain a document's name.
pub(crate) fn is_named(name: &str, words: &str) -> bool {
    name.chars().count() >= LEAST_NAME && words.contains(&name.to_lowercase())
}

/// The first word that is the name of a file of a kind that documents have.
pub(crate) fn file_name_in(words: &str) -> Option<&str> {
    let is_file = |word: &&str| {
        word.rsplit_once('.').is_some_and(|(stem, extension)| {
            stem.chars().any(char::is_alphanumeric) && plumbline_documents::Kind::from_extension(extension).is_some()
        })
    };
    let words = words.split(|c: char| c.is_whitespace() || matches!(c, ',' | ';' | '(' | ')' | '[' | ']' | '`' | '*'));
    words.map(|word| word.trim_end_matches(['.', ':', '!', '?'])).filter(|word| !word.contains("://")).find(is_file)
}

/// The pages in words: `12`, `p. 12`, `policy.md, pages 3–4`. A number alone is a page if there is nothing else.
pub(crate) fn pages(words: &str) -> Vec<u32> {
    let is_separator = |c: char| !c.is_alphanumeric() && c != '-' && c != '–';
    let mut words = words.split(is_separator).filter(|word| !word.is_empty()).peekable();
    let bare = words.peek().is_some_and(|word| word.starts_with(|c: char| c.is_ascii_digit()));
    let mut pages = Vec::new();
    let mut follows = bare;
    for word in words {
        match range(word) {
            Some((from, to)) if follows => match to.checked_sub(from) {
                Some(length) if length <= LONGEST_RANGE => pages.extend(from..=to),
                _ => pages.extend([from, to]),
            },
            _ if follows && matches!(word, "and" | "und" | "-" | "–" | "to") => {}
            _ if bare => return Vec::new(),
            _ if !pages.is_empty() => break,
            _ => follows = PAGE_WORDS.contains(&word.to_lowercase().as_str()),
        }
    }
    pages
}

/// `3`, `3-4`, `3–4`.
fn range(word: &str) -> Option<(u32, u32)> {
    let (from, to) = word.split_once(['-', '–']).unwrap_or((word, word));
    Some((from.parse().ok()?, to.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::{behind_dash, behind_quote, file_name_in, pages};

    #[test]
    fn pages_are_read_from_words() {
        for (words, expected) in [
            ("12", vec![12]),
            ("12-13", vec![12, 13]),
            ("3, 4", vec![3, 4]),
            ("p. 12", vec![12]),
            ("policy.md, pages 3–5", vec![3, 4, 5]),
            ("policy.md, page 3, section 7", vec![3]),
            ("pp. 3 and 9", vec![3, 9]),
            ("pages 1-400", vec![1, 400]),
            ("section 7.2", vec![]),
            ("12 months", vec![]),
            ("Seite 4", vec![4]),
        ] {
            assert_eq!(pages(words), expected, "{words}");
        }
    }

    #[test]
    fn what_follows_a_quote_may_be_its_source() {
        assert_eq!(behind_quote(" (policy.md, page 3) and more"), Some("policy.md, page 3"));
        assert_eq!(behind_quote(" — policy.md, page 3\n- next"), Some("policy.md, page 3"));
        assert_eq!(behind_quote(" is the rule (policy.md)"), None);
        assert_eq!(behind_dash("— policy.md, page 3"), Some("policy.md, page 3"));
        assert_eq!(behind_dash("—policy.md, page 3"), Some("policy.md, page 3"));
        assert_eq!(behind_dash("Policy, page 3"), None);
    }

    #[test]
    fn a_file_is_recognized_by_its_ending() {
        assert_eq!(file_name_in("see annual-report-2019.pdf, page 3"), Some("annual-report-2019.pdf"));
        for words in ["e.g. this", "section 7.2", "https://example.com/a.pdf", "the end.And more", ".pdf"] {
            assert_eq!(file_name_in(words), None, "{words}");
        }
    }
}

//! Content of a document that is missing from its text, one sentence each.

use crate::Page;
use crate::child::Parsed;
use crate::child::protocol::Failure;
use plumbline_engine::{beginning, one_line};

/// Maximum characters of a passage in a warning.
const SHOWN: usize = 80;
/// Maximum number of sentences; the others are counted.
const MOST: usize = 200;
/// Maximum number of sentences that say why a document has no text.
const MOST_REASONS: usize = 5;

/// The first words of a text, in quotation marks.
pub(crate) fn first_words(text: &str) -> String {
    format!("\u{ab}{}\u{bb}", beginning(&one_line(text), SHOWN))
}

/// `page 3`, `pages 3, 7-9`.
pub(crate) fn pages(numbers: &[u32]) -> String {
    let runs = numbers.chunk_by(|left, right| left + 1 == *right);
    let word = |run: &[u32]| match run {
        [only] => only.to_string(),
        _ => format!("{}-{}", run[0], run[run.len() - 1]),
    };
    let list = runs.map(word).collect::<Vec<_>>().join(", ");
    if numbers.len() == 1 { format!("page {list}") } else { format!("pages {list}") }
}

/// The same as the beginning of a sentence.
pub(crate) fn pages_first(numbers: &[u32]) -> String {
    pages(numbers).replacen('p', "P", 1)
}

/// A sentence about pictures without a description; none if there are none.
pub(crate) fn pictures(count: usize, first: Option<&str>) -> Option<String> {
    let which = match (count, first.filter(|name| !name.trim().is_empty())) {
        (0, _) => return None,
        (1, None) => "a picture".to_owned(),
        (1, Some(name)) => format!("a picture, {}", first_words(name)),
        (count, None) => format!("{count} pictures"),
        (count, Some(name)) => format!("{count} pictures, the first {}", first_words(name)),
    };
    Some(format!("Not in the text: {which}."))
}

/// Post-processing for all formats: characters in composed form (NFC), so that equal-looking texts are equal, and each
/// warning once.
pub(crate) fn settle(parsed: Parsed) -> Parsed {
    let (pages, mut trailer) = parsed.map_err(|failure| match failure {
        Failure::NoText { pages, first, unread, why } => {
            let why =
                why.into_iter().take(MOST_REASONS).map(|line| line.replace(char::is_control, "\u{fffd}")).collect();
            Failure::NoText { pages, first, unread, why }
        }
        other => other,
    })?;
    let pages = pages.into_iter().map(|Page { number, text }| Page { number, text: composed(text) }).collect();
    trailer.title = trailer.title.map(composed);
    let mut said = std::collections::HashSet::new();
    let one_line = |text: String| composed(text).replace(char::is_control, "\u{fffd}");
    trailer.warnings = trailer.warnings.into_iter().map(one_line).filter(|line| said.insert(line.clone())).collect();
    if let Some(more) = trailer.warnings.len().checked_sub(MOST + 1) {
        trailer.warnings.truncate(MOST);
        trailer.warnings.push(format!("There are {} more things of this kind that are not in the text.", more + 1));
    }
    Ok((pages, trailer))
}

fn composed(text: String) -> String {
    match crate::composed(&text) {
        std::borrow::Cow::Borrowed(_) => text,
        std::borrow::Cow::Owned(composed) => composed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::child::protocol::Trailer;

    #[test]
    fn a_warning_shows_the_first_words_and_where() {
        assert_eq!(first_words(" The \n operator "), "\u{ab}The operator\u{bb}");
        let long = first_words(&"word ".repeat(40));
        assert!(long.chars().count() <= SHOWN + 3 && long.ends_with("\u{2026}\u{bb}"), "{long}");
        assert_eq!((pages(&[3]), pages_first(&[3, 7, 8, 9])), ("page 3".to_owned(), "Pages 3, 7-9".to_owned()));
    }

    #[test]
    fn texts_are_composed_and_warnings_given_once_and_bounded() {
        let page = Page { number: 1, text: "Bu\u{308}cher mu\u{308}ssen".to_owned() };
        let mut warnings = vec!["again".to_owned(), "again".to_owned()];
        warnings.extend((0..MOST + 5).map(|number| number.to_string()));
        let (pages, trailer) = settle(Ok((vec![page], Trailer { warnings, ..Trailer::default() }))).expect("a text");
        assert_eq!(pages[0].text, "B\u{fc}cher m\u{fc}ssen");
        assert_eq!(trailer.warnings.len(), MOST + 1);
        assert_eq!(trailer.warnings[MOST], "There are 6 more things of this kind that are not in the text.");
    }
}

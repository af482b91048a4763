//! Which numbers of a line at a page's edge may be the page number. A number that increases with the pages proves
//! nothing if it is part of a name or of a sentence: `R-1 Login` on page 1, `R-2 Lockout` on page 2, `… kept for 3
//! years` on page 3.

use std::ops::Range;

/// Words before a page number.
const PAGE: [&str; 12] =
    ["page", "pages", "pg", "p", "seite", "s", "blatt", "sheet", "slide", "folie", "página", "pagina"];
/// Words between a page number and the total.
const OF: [&str; 5] = ["of", "von", "de", "sur", "/"];
/// Words before a part's number.
const PARTS: [&str; 38] = [
    "article",
    "art",
    "section",
    "sec",
    "rule",
    "clause",
    "chapter",
    "annex",
    "appendix",
    "requirement",
    "req",
    "control",
    "step",
    "table",
    "figure",
    "fig",
    "form",
    "item",
    "question",
    "schedule",
    "paragraph",
    "part",
    "no",
    "artikel",
    "abschnitt",
    "kapitel",
    "anlage",
    "anhang",
    "regel",
    "anforderung",
    "nr",
    "tabelle",
    "abbildung",
    "absatz",
    "ziffer",
    "teil",
    "punkt",
    "formular",
];

/// The numbers of a line that may be the page number: at its beginning or end, or beside a word such as `page`.
pub(crate) fn own_numbers(line: &str) -> Vec<(Range<usize>, i64)> {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(start) = line[from..].find(|c: char| c.is_ascii_digit()).map(|at| from + at) {
        let end = line[start..].find(|c: char| !c.is_ascii_digit()).map_or(line.len(), |length| start + length);
        let number = line[start..end].parse().ok().filter(|_| is_own(&line[..start], &line[end..]));
        found.extend(number.map(|number| (start..end, number)));
        from = end;
    }
    found
}

fn is_own(before: &str, after: &str) -> bool {
    let Some(before) = without_prefix(before, after) else { return false };
    if is_glued_behind(after) {
        return false;
    }
    let (word, next) = (last_word(before), after.trim_start());
    let is_any = |words: &[&str]| words.contains(&word.as_str());
    let counts_all = OF.iter().any(|of| {
        let rest = next.strip_prefix(of).map(str::trim_start);
        rest.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
    });
    let has_words = |text: &str| text.contains(char::is_alphanumeric);
    let is_list_mark = next.starts_with([')', '.', ':']) && has_words(next);
    match (has_words(before), has_words(after)) {
        _ if is_any(&PARTS) || before.trim_end().ends_with('\u{a7}') => false,
        _ if is_any(&PAGE) || counts_all => true,
        (false, true) => !is_list_mark,
        (_, after) => !after,
    }
}

/// The text before a number, without the letter of an annex in `A-3`; none if the number is part of a name or of a
/// larger number.
fn without_prefix<'a>(before: &'a str, after: &str) -> Option<&'a str> {
    let bare = before.trim_end_matches(['-', '.', '\u{2013}', '_', '/', ',', ':']);
    let glued = before.ends_with(|c: char| c.is_alphanumeric() || c == '_')
        || bare.len() < before.len() && bare.ends_with(char::is_alphanumeric);
    if !glued {
        return Some(before);
    }
    let outer = bare.trim_end_matches(char::is_alphanumeric);
    let is_annex = before.ends_with(['-', '\u{2013}'])
        && !after.contains(char::is_alphanumeric)
        && bare[outer.len()..].chars().count() <= 2;
    (is_annex && (outer.trim().is_empty() || PAGE.contains(&last_word(outer).as_str()))).then_some(outer)
}

/// Whether a number continues after its digits: `3a`, `3.1`, `3-7`, `3 %`.
fn is_glued_behind(after: &str) -> bool {
    let mut signs = after.chars();
    match signs.next() {
        Some(sign) if sign.is_alphanumeric() || matches!(sign, '_' | '%') => true,
        Some('.' | ',' | '-' | '\u{2013}' | ':') => signs.next().is_some_and(char::is_alphanumeric),
        _ => after.trim_start().starts_with('%'),
    }
}

fn last_word(text: &str) -> String {
    let word = text.trim_end_matches(|c: char| !c.is_alphanumeric()).rsplit(|c: char| !c.is_alphanumeric()).next();
    word.unwrap_or_default().to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::own_numbers;

    #[test]
    fn a_pages_own_number_is_at_an_end_or_next_to_its_word() {
        let numbers = |line: &str| own_numbers(line).into_iter().map(|(_, number)| number).collect::<Vec<_>>();
        for line in ["7", "- 7 -", "Page 7 of 9 and more", "Doe      [Page 7]", "The policy | 7", "7 The policy", "7/9"]
        {
            assert!(numbers(line).contains(&7), "{line}");
        }
        for line in ["A-7", "ANNEX A   PAGE A-7", "Rev. 2, Seite 7", "Manual 7 of 9"] {
            assert!(numbers(line).contains(&7), "{line}");
        }
        for line in [
            "R-7 Login",
            "REQ_7",
            "TOK7 is kept",
            "Forms are kept for 7 years.",
            "Article 7",
            "\u{a7} 7",
            "7. Keep the logs",
            "7) Keep the logs",
            "3.7",
            "7.1 Logs",
            "7 % of it",
            "Rule 7: keep it",
            "Policy 4.7",
        ] {
            assert_eq!(numbers(line), [0_i64; 0], "{line}");
        }
    }
}

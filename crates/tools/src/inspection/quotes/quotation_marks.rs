//! Text in quotation marks, with the words behind it that may name its source.

use super::{Quoted, place};

/// Opening quotation marks, each with its possible closing ones.
const MARKS: [(char, &[char]); 5] =
    [('"', &['"']), ('“', &['”']), ('„', &['“', '”', '"']), ('«', &['»']), ('»', &['«'])];

/// The quotes in quotation marks.
pub(super) fn in_marks(paragraph: &str, found: &mut Vec<Quoted>) {
    let mut rest = paragraph;
    while let Some((at, open)) = rest.char_indices().find(|(_, c)| MARKS.iter().any(|(mark, _)| mark == c)) {
        if let Some(link) = rest[..at].find("](")
            && let Some(behind) = behind_address(&rest[link + 2..])
        {
            rest = behind;
            continue;
        }
        let inner = &rest[at + open.len_utf8()..];
        let closing = MARKS.iter().find(|(mark, _)| *mark == open).map_or(&[][..], |(_, closing)| closing);
        let Some(end) = inner.find(|c| closing.contains(&c)) else { return };
        rest = inner[end..].char_indices().nth(1).map_or("", |(next, _)| &inner[end + next..]);
        let mut quote = Quoted::in_text(inner[..end].trim());
        quote.place.is_beside(place::behind_quote(rest));
        found.push(quote);
    }
}

/// The text after a link's address and title, `address "title")`; none if the link is never closed.
fn behind_address(link: &str) -> Option<&str> {
    let (mut depth, mut in_title) = (1, false);
    for (at, c) in link.char_indices() {
        match c {
            '"' => in_title = !in_title,
            '(' if !in_title => depth += 1,
            ')' if !in_title => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(&link[at + 1..]);
        }
    }
    None
}

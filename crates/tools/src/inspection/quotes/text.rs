//! Quotes in running text: block quotes, and text in quotation marks, each with the words beside it that may name its
//! source.

use super::{Quoted, counts, is_heading, place, place::is_mark};

/// Opening quotation marks, each with its possible closing ones.
const MARKS: [(char, &[char]); 5] =
    [('"', &['"']), ('“', &['”']), ('„', &['“', '”', '"']), ('«', &['»']), ('»', &['«'])];

/// Paragraph by paragraph: an unclosed quotation mark ends with its paragraph.
pub(super) fn quotes_of(text: &str, found: &mut Vec<Quoted>) {
    let (mut block, mut paragraph) = (String::new(), String::new());
    let mut in_code = false;
    // The quotes of the last block, until another text follows: a line with a dash may name their source.
    let mut of_block = 0..0;
    for line in text.lines().chain([""]) {
        let line = line.trim();
        in_code ^= line.starts_with("```");
        match line.strip_prefix('>') {
            Some(quoted) if !in_code => join(&mut block, quoted.trim()),
            _ => {
                if !block.is_empty() {
                    let before = found.len();
                    end_of_block(&mut block, found);
                    of_block = before..found.len();
                }
                if !line.is_empty() {
                    for quote in &mut found[std::mem::take(&mut of_block)] {
                        quote.place.is_beside(place::behind_dash(line));
                    }
                }
                let ends = line.is_empty() || in_code || is_definition(line) || is_heading(line);
                match ends {
                    true => in_marks(&std::mem::take(&mut paragraph), found),
                    false => join(&mut paragraph, line),
                }
            }
        }
    }
}

/// Lines stay apart: a source beside a quote ends with its line.
fn join(text: &mut String, line: &str) {
    if !text.is_empty() {
        text.push('\n');
    }
    text.push_str(line);
}

/// `[name]: address "title"`, a link reference definition.
fn is_definition(line: &str) -> bool {
    line.starts_with('[') && line.contains("]: ")
}

/// A block quote is one quote, unless it begins with a quotation mark: then the quotes are in quotation marks, and the
/// rest is the source.
fn end_of_block(block: &mut String, found: &mut Vec<Quoted>) {
    let whole = std::mem::take(block);
    let whole = whole.trim();
    let before = found.len();
    if whole.starts_with(is_mark) {
        in_marks(whole, found);
        if found[before..].iter().any(|quote| counts(&quote.text)) {
            return;
        }
        found.truncate(before);
    }
    let bare = whole.trim_matches(is_mark);
    if !bare.is_empty() {
        found.push(Quoted::in_text(bare));
    }
}

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

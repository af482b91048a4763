//! Quotes in running text: block quotes, and text in quotation marks, each with the words beside it that may name its
//! source.

use super::quotation_marks::in_marks;
use super::{Quoted, counts, is_heading, place, place::is_mark, table};

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
                    true => table::of_paragraph(&std::mem::take(&mut paragraph), found),
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

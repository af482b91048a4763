//! Notes at the end of a page, below a sentence that continues on the next page. They would be read as a part of it, so
//! they are put before its paragraph, on the same page.

use super::clauses::begins_clause;
use super::page_layout::{Placed, Sheet};
use super::sections::has_leader;
use crate::formats::blocks::Block;

/// Notes are at most this large, as a share of the text's size.
const MOST_SIZE: f32 = 0.95;
/// A page has at most this many blocks of notes.
const MOST: usize = 24;
/// Fewer words at the end of a page are unlikely to begin a sentence.
const LEAST_WORDS: usize = 3;
/// Signs that words of a note may begin with.
const QUOTES: [char; 7] = ['(', '"', '\'', '\u{201c}', '\u{201e}', '\u{2018}', '\u{ab}'];
/// Signs of notes that have no number.
const SIGNS: [char; 5] = ['*', '\u{2020}', '\u{2021}', '\u{a7}', '\u{b6}'];

/// Puts notes that interrupt a sentence before it.
pub(super) fn set_aside(sheets: &mut [Sheet]) {
    for at in 1..sheets.len() {
        let [sheet, next] = &mut sheets[at - 1..=at] else { continue };
        let goes_on = sheet.number + 1 == next.number && next.blocks.first().is_some_and(may_go_on);
        if goes_on && let Some((begins, notes)) = interrupted(&sheet.blocks) {
            sheet.blocks[begins..].rotate_left(notes - begins);
        }
    }
}

/// Whether a block may continue the last sentence of the page before it.
fn may_go_on(placed: &Placed) -> bool {
    matches!(&placed.block, Block::Paragraph(text) if !begins_clause(":", text))
}

/// Where the text that is interrupted begins, and the notes behind it.
fn interrupted(blocks: &[Placed]) -> Option<(usize, usize)> {
    let ends = 1..blocks.len();
    let notes = ends.rev().take(MOST).find(|at| {
        let (text, notes) = (&blocks[at - 1], &blocks[*at..]);
        is_open(&text.block) && !text.aside && are_notes(notes, text)
    })?;
    let goes_on = |placed: &Placed| match &placed.block {
        Block::Item { .. } => true,
        Block::Paragraph(text) => text.starts_with(char::is_lowercase) || begins_clause(":", text),
        _ => false,
    };
    // A list stays together, with the line that announces it.
    let entries = blocks[..notes].iter().rev().take_while(|placed| goes_on(placed)).count();
    Some((notes.saturating_sub(entries + 1), notes))
}

/// Whether a text ends within a sentence.
fn is_open(block: &Block) -> bool {
    let (Block::Paragraph(text) | Block::Item { text, .. }) = block else { return false };
    let text = text.trim_end_matches(|sign: char| sign.is_whitespace() || ")\"\u{201d}\u{2019}\u{bb}".contains(sign));
    !text.ends_with(['.', '!', '?', ':', ';']) && text.split_whitespace().count() >= LEAST_WORDS
}

/// Whether blocks are notes below a text: smaller, and the first one begins with a mark.
fn are_notes(blocks: &[Placed], text: &Placed) -> bool {
    let smaller = |placed: &Placed| {
        let sizes = placed.first.zip(text.first);
        placed.aside || sizes.is_some_and(|(note, text)| note.size <= text.size * MOST_SIZE)
    };
    let first = blocks.iter().find(|placed| !placed.aside);
    blocks.iter().all(smaller) && first.is_none_or(|placed| is_marked(&placed.block))
}

/// Whether a text begins with the mark of a note: a number, a raised letter, a sign.
fn is_marked(block: &Block) -> bool {
    match block {
        Block::Item { .. } => true,
        Block::Paragraph(text) => {
            let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
            let number = word.trim_matches(['(', ')', '[', ']', '.']);
            let is_number = (1..=3).contains(&number.len()) && number.bytes().all(|digit| digit.is_ascii_digit());
            // Lines of a program and entries of a table of contents have numbers, too.
            let says = rest.starts_with(|sign: char| sign.is_alphabetic() || QUOTES.contains(&sign));
            (is_number && says && !has_leader(rest))
                || word.starts_with(SIGNS)
                || word.starts_with(crate::formats::raised::is_raised)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::super::lines::Line;
    use super::*;

    fn placed(text: &str, size: f32) -> Placed {
        Placed { block: Block::Paragraph(text.to_owned()), first: Some(Line::at(100.0, size)), lines: 1, aside: false }
    }

    fn sheets(first: &[(&str, f32)], next: &str) -> Vec<Sheet> {
        let sheet = |number, blocks| Sheet { number, blocks, ..Sheet::default() };
        let first = first.iter().map(|(text, size)| placed(text, *size)).collect();
        vec![sheet(1, first), sheet(2, vec![placed(next, 10.0)])]
    }

    fn texts(sheet: &Sheet) -> Vec<&str> {
        sheet.blocks.iter().map(|placed| placed.block.text()).collect()
    }

    #[test]
    fn notes_leave_a_sentence_over_the_end_of_a_page_together() {
        let text = "Of systems that hold data of customers the";
        for notes in [["7 The term is defined.", "A second part."], ["\u{2077} The term.", "\u{2078} As above."]] {
            let mut pages = sheets(&[("Before.", 10.0), (text, 10.0), (notes[0], 8.0), (notes[1], 8.0)], "register");
            set_aside(&mut pages);
            assert_eq!(texts(&pages[0]), ["Before.", notes[0], notes[1], text]);
        }
        let mut list = sheets(
            &[("Before.", 10.0), ("It shall:", 10.0), ("(a) be;", 10.0), ("(b) have the", 10.0), ("* A note.", 8.0)],
            "register",
        );
        set_aside(&mut list);
        assert_eq!(texts(&list[0]), ["Before.", "* A note.", "It shall:", "(a) be;", "(b) have the"]);
    }

    #[test]
    fn other_blocks_stay() {
        let text = "Of systems that hold data of customers the";
        for (blocks, next) in [
            ([("It is kept in the register.", 10.0), ("7 The term is defined.", 8.0)], "The owner"),
            ([(text, 10.0), ("7 The term is defined.", 10.0)], "register"),
            ([(text, 10.0), ("The term is defined.", 8.0)], "register"),
            ([(text, 10.0), ("7 The term is defined.", 8.0)], "(a) register"),
        ] {
            let mut pages = sheets(&blocks, next);
            set_aside(&mut pages);
            assert_eq!(texts(&pages[0]), [blocks[0].0, blocks[1].0], "{next}");
        }
    }
}

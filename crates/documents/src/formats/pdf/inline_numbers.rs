//! Numbers within a sentence: `2)` at the beginning of a line continues the sentence that has `1)` in its middle.

use super::page_layout::{Placed, Sheet};
use crate::formats::blocks::Block;

/// Joins such a line, which looks like the entry of a list, with its sentence.
pub(super) fn join(sheets: &mut [Sheet]) {
    for sheet in sheets {
        let mut joined: Vec<Placed> = Vec::with_capacity(sheet.blocks.len());
        for placed in sheet.blocks.drain(..) {
            match (joined.last_mut().map(|above| &mut above.block), &placed.block) {
                (Some(Block::Paragraph(before)), Block::Item { marker, text, .. }) if goes_on(before, marker) => {
                    before.push_str(&format!("\n{marker} {text}"));
                }
                _ => joined.push(placed),
            }
        }
        sheet.blocks = joined;
    }
}

/// Whether a text has the number before a mark within its last sentence, which does not end.
fn goes_on(before: &str, mark: &str) -> bool {
    let digits = mark.trim_matches(['(', ')']);
    let (Ok(number), true) = (digits.parse::<u32>(), mark.ends_with(')')) else { return false };
    let before = before.trim_end();
    let last = format!(" {}", mark.replace(digits, &number.saturating_sub(1).to_string()));
    let is_open = !before.ends_with(['.', ':', ';', '!', '?']);
    is_open && before.rfind(&last).is_some_and(|at| !before[at + last.len()..].contains(". "))
}

#[cfg(test)]
mod tests {
    use super::goes_on;

    #[test]
    fn a_number_continues_the_sentence_of_the_one_before() {
        for (before, mark, expected) in [
            ("It shall ensure 1) the start of an audit, and then", "2)", true),
            ("It shall ensure (1) the start and", "(2)", true),
            ("It shall ensure 1) the start.", "2)", false),
            ("It shall ensure 1) the start. It shall then", "2)", false),
            ("It shall ensure the start and", "2)", false),
            ("It shall ensure 1) the start and", "2.", false),
            ("It shall ensure 1) the start and", "-", false),
        ] {
            assert_eq!(goes_on(before, mark), expected, "{before} {mark}");
        }
    }
}

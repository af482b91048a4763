//! Sentences that continue at the top of the next column.

use super::lines::Line;
use super::page_layout::{Placed, Sheet};
use crate::formats::blocks::Block;

/// Joins their two parts.
pub(super) fn join(sheets: &mut [Sheet]) {
    for sheet in sheets {
        let lines: Vec<Line> = sheet.blocks.iter().filter_map(|placed| placed.first).collect();
        let mut joined: Vec<Placed> = Vec::with_capacity(sheet.blocks.len());
        for placed in sheet.blocks.drain(..) {
            match (joined.last_mut(), &placed.block) {
                (Some(before), Block::Paragraph(text)) if goes_on(before, &placed, text) && is_last(before, &lines) => {
                    append(before, text)
                }
                _ => joined.push(placed),
            }
        }
        sheet.blocks = joined;
    }
}

fn append(before: &mut Placed, text: &str) {
    if let Block::Paragraph(own) | Block::Item { text: own, .. } = &mut before.block {
        own.push('\n');
        own.push_str(text);
    }
}

/// Whether nothing in its type is below a paragraph in its column: it would be what continues the paragraph.
fn is_last(before: &Placed, lines: &[Line]) -> bool {
    let is_below = |line: &Line, own: &Line| own.is_above(line) && own.is_alike(line);
    before.first.is_some_and(|own| !lines.iter().any(|line| is_below(line, &own)))
}

/// Whether a paragraph is higher up than the one before it, beside it, in the same type, and within its sentence. At one
/// height, where the cells of a row are, only if a word is parted.
fn goes_on(before: &Placed, placed: &Placed, text: &str) -> bool {
    let (Block::Paragraph(own) | Block::Item { text: own, .. }) = &before.block else { return false };
    let (Some(upper), Some(lower)) = (placed.first, before.first) else { return false };
    let own = own.trim_end();
    let lowest = if own.ends_with(['-', '\u{2010}']) { lower.y - 1.0 } else { lower.y + lower.size };
    let next_column = upper.y > lowest && !upper.shares_column(&lower);
    let open = !own.ends_with(['.', '!', '?', ':', ';']);
    upper.is_alike(&lower) && next_column && open && text.trim_start().starts_with(char::is_lowercase)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_continues_in_the_next_column_if_nothing_is_below_it() {
        let placed = |(text, y, left): (&str, f32, f32)| {
            let first = Some(Line::placed(y, 10.0, (left, left + 200.0)));
            Placed { block: Block::Paragraph(text.to_owned()), first, lines: 1, aside: false }
        };
        let (open, rest, below) = (("It shall keep", 100.0, 50.0), ("the log.", 700.0, 300.0), ("Text.", 80.0, 50.0));
        for (blocks, count) in [
            (vec![open, rest], 1),
            (vec![open, rest, below], 3),
            (vec![open, ("the log.", 100.0, 300.0)], 2),
            (vec![("It shall keep it.", 100.0, 50.0), rest], 2),
            (vec![("It shall re-", 700.0, 50.0), ("main.", 700.0, 300.0)], 1),
        ] {
            let mut sheets = [Sheet { blocks: blocks.into_iter().map(placed).collect(), ..Sheet::default() }];
            join(&mut sheets);
            assert_eq!(sheets[0].blocks.len(), count, "{:?}", sheets[0].blocks);
        }
    }
}

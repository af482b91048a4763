//! Sentences that continue at the top of the next column.

use super::page_layout::{Placed, Sheet};
use crate::formats::blocks::Block;

/// Joins their two parts.
pub(super) fn join(sheets: &mut [Sheet]) {
    for sheet in sheets {
        let mut joined: Vec<Placed> = Vec::with_capacity(sheet.blocks.len());
        for placed in sheet.blocks.drain(..) {
            match (joined.last_mut(), &placed.block) {
                (Some(before), Block::Paragraph(text)) if goes_on(before, &placed, text) => append(before, text),
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

/// Whether a paragraph is higher up than the one before it, beside it, in the same type, and within its sentence. At one
/// height, where the cells of a row are, only if a word is parted.
fn goes_on(before: &Placed, placed: &Placed, text: &str) -> bool {
    let (Block::Paragraph(own) | Block::Item { text: own, .. }) = &before.block else { return false };
    let (Some(upper), Some(lower)) = (placed.first, before.first) else { return false };
    let alike = (upper.size - lower.size).abs() < 0.5 && upper.bold == lower.bold;
    let own = own.trim_end();
    let lowest = if own.ends_with(['-', '\u{2010}']) { lower.y - 1.0 } else { lower.y + lower.size };
    let next_column = upper.y > lowest && !upper.shares_column(&lower);
    let open = !own.ends_with(['.', '!', '?', ':', ';']);
    alike && next_column && open && text.trim_start().starts_with(char::is_lowercase)
}

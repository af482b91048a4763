//! Raised numbers of a page: powers and marks of notes. Their digits are none of the number before them.
//!
//! What is raised is decided as the parser decides it for the pages that it reads as a whole: the texts of a page and its
//! lines must be equal.

use crate::formats::raised::raised;
use unpdf::model::InlineContent;
use unpdf::parser::{TextLine, TextSpan};
use unpdf::{Block, Page, Paragraph};

/// The largest size of a script, as a share of its line's.
const MOST_SIZE: f32 = 0.9;
/// How far a raised script is above the line's base, as a share of the line's size.
const RISE: std::ops::RangeInclusive<f32> = 1.0 / 7.0..=0.6;

/// Writes the raised numbers of lines as superscript digits.
pub(super) fn raise(lines: &mut [TextLine]) {
    for line in lines {
        let (size, base) = (line.font_size, base(line));
        for span in &mut line.spans {
            let is_script = !span.is_rotated() && span.font_size <= size * MOST_SIZE;
            if is_script && RISE.contains(&((span.y - base) / size)) {
                raise_text(&mut span.text);
                // Links are ranges of the text as it was.
                span.links.clear();
            }
        }
    }
}

/// The height of the line's text without its scripts.
fn base(line: &TextLine) -> f32 {
    let is_text = |span: &&TextSpan| !span.is_rotated() && span.font_size > line.font_size * MOST_SIZE;
    let longest = line.spans.iter().filter(is_text).max_by_key(|span| span.text.trim().chars().count());
    longest.map_or(line.y, |span| span.y)
}

/// The same for a page that the parser has read as a whole.
pub(super) fn raise_page(page: &mut Page) {
    for block in &mut page.elements {
        match block {
            Block::Paragraph(paragraph) => raise_paragraph(paragraph),
            Block::Table(table) => {
                let cells = table.rows.iter_mut().flat_map(|row| &mut row.cells);
                cells.flat_map(|cell| &mut cell.content).for_each(raise_paragraph);
            }
            _ => {}
        }
    }
}

fn raise_paragraph(paragraph: &mut Paragraph) {
    for content in &mut paragraph.content {
        match content {
            InlineContent::Text(run) if run.style.superscript => raise_text(&mut run.text),
            InlineContent::Link { text, style, .. } if style.superscript => raise_text(text),
            _ => {}
        }
    }
}

fn raise_text(text: &mut String) {
    let number = text.trim();
    if let Some(high) = raised(number) {
        *text = text.replace(number, &high);
    }
}

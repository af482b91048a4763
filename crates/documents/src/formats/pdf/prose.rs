//! Paragraphs in a larger size than most of a document's text, such as the text between long lists in small type. Each
//! of their lines looks like a heading.

use super::clauses::begins_clause;
use super::page_layout::Placed;
use super::sections::{LONGEST, NEXT_LINE, section_depth};
use crate::formats::blocks::Block;

/// Joins the lines of such paragraphs. Headings of several lines are shorter, and no sentences.
pub(super) fn join(blocks: &mut Vec<Placed>) {
    let mut joined: Vec<Placed> = Vec::with_capacity(blocks.len());
    let mut run: Vec<Placed> = Vec::new();
    for placed in blocks.drain(..) {
        if !run.last().is_some_and(|above| goes_on(above, &placed, run.len() > 1)) {
            end(&mut run, &mut joined);
        }
        run.push(placed);
    }
    end(&mut run, &mut joined);
    *blocks = joined;
}

/// Whether a block continues the sentence of the one above it.
fn goes_on(above: &Placed, below: &Placed, in_prose: bool) -> bool {
    let (Some(before), Some(text)) = (text(above), text(below)) else { return false };
    let before = before.trim_end();
    let open = !before.ends_with(['.', '!', '?', ':', ';']) && !begins_clause(":", text);
    let goes_on = text.trim_start().starts_with(char::is_lowercase) || before.ends_with([',', '-']);
    open && (goes_on || in_prose) && is_next_line(above, below).unwrap_or(goes_on)
}

/// Whether a block is directly below another, in the same type; unknown without their positions.
fn is_next_line(above: &Placed, below: &Placed) -> Option<bool> {
    let (upper, lower) = (above.first?, below.first?);
    let most = upper.size * NEXT_LINE * above.lines.max(1) as f32;
    Some(upper.is_alike(&lower) && (0.0..=most).contains(&(upper.y - lower.y)))
}

fn text(placed: &Placed) -> Option<&str> {
    match &placed.block {
        Block::Heading(_, text) | Block::Paragraph(text) => Some(text),
        _ => None,
    }
}

/// Ends a run of lines: a paragraph if it is a sentence or long.
fn end(run: &mut Vec<Placed>, joined: &mut Vec<Placed>) {
    let texts: Vec<&str> = run.iter().filter_map(text).collect();
    let whole = texts.join("\n");
    let has_heading = run.iter().any(|placed| matches!(placed.block, Block::Heading(..)));
    let is_prose = whole.trim_end().ends_with(['.', ';']) || (whole.len() > LONGEST && section_depth(&whole).is_none());
    if run.len() > 1 && has_heading && is_prose {
        let (first, lines) = (run[0].first, run.iter().map(|placed| placed.lines).sum());
        joined.push(Placed { block: Block::Paragraph(whole), first, lines, aside: false });
        run.clear();
    }
    joined.append(run);
}

#[cfg(test)]
mod tests {
    use super::super::lines::Line;
    use super::*;

    fn heading(text: &str, y: f32) -> Placed {
        let first = Some(Line::at(y, 8.0));
        Placed { block: Block::Heading(1, text.to_owned()), first, lines: 1, aside: false }
    }

    fn joined(lines: &[&str]) -> Vec<String> {
        let mut blocks: Vec<Placed> =
            lines.iter().zip(0u8..).map(|(text, at)| heading(text, 700.0 - 10.0 * f32::from(at))).collect();
        join(&mut blocks);
        let kind = |placed: &Placed| if matches!(placed.block, Block::Paragraph(_)) { "" } else { "# " };
        blocks.iter().map(|placed| kind(placed).to_owned() + placed.block.text()).collect()
    }

    #[test]
    fn lines_of_a_sentence_are_a_paragraph_and_titles_stay() {
        let lines = [
            "(c) Derivatives. Unless listed in an-",
            "other schedule, any of the",
            "Opium derivatives shall",
            "be kept.",
        ];
        assert_eq!(joined(&lines), [lines.join("\n")]);
        let (first, second) = (["(c) Unless listed in", "another one."], ["(d) Any material", "of it."]);
        assert_eq!(joined(&[first, second].concat()), [first.join("\n"), second.join("\n")]);
        for title in [["Guidelines for", "the protection of data"], ["Part One", "Scope"]] {
            assert_eq!(joined(&title), title.map(|line| format!("# {line}")));
        }
    }
}

//! Heading levels, determined over the whole document.
//!
//! The parser judges each page separately, so the same kind of heading is level 1 on one page, 3 on the next, and plain
//! text on a third. Over the whole document, type size is a reliable sign, and a section number an even better one.

use super::page_layout::{Placed, Sheet};
use super::prose;
use super::sections::{DIVISIONS, LONGEST, NEXT_LINE, has_leader, section_depth};
use crate::formats::blocks::Block;
use std::collections::BTreeMap;

/// Headings are larger than the text by at least this factor.
const LARGER: f32 = 1.1;
/// Minimum number of entries with leaders on a table of contents page.
const CONTENTS_ENTRIES: usize = 4;

/// Assigns every heading its level, and turns false headings into text.
pub(crate) fn settle(sheets: &mut [Sheet]) {
    let Some(body) = body_size(sheets) else { return };
    for sheet in &mut *sheets {
        choose(&mut sheet.blocks, body);
        prose::join(&mut sheet.blocks);
        join_split(&mut sheet.blocks);
    }
    let scale = Scale::of(placed(sheets).filter(|placed| matches!(placed.block, Block::Heading(..))));
    for placed in sheets.iter_mut().flat_map(|sheet| &mut sheet.blocks) {
        let size = half_points(placed);
        if let Block::Heading(level, text) = &mut placed.block {
            *level = scale.level(text, size);
        }
    }
}

/// Corrects which blocks are headings; entries of a table of contents in particular are text.
fn choose(blocks: &mut [Placed], body: f32) {
    let contents = blocks.iter().filter(|placed| has_leader(placed.block.text())).count() >= CONTENTS_ENTRIES;
    for placed in blocks {
        let entry = contents && placed.block.text().trim_end().ends_with(|c: char| c.is_ascii_digit());
        let heading = is_heading(placed, body) && !entry;
        let text = if entry { with_leader(placed.block.text()) } else { placed.block.text().to_owned() };
        match &mut placed.block {
            block @ Block::Paragraph(_) if heading => *block = Block::Heading(1, text),
            block @ Block::Heading(..) if !heading => *block = Block::Paragraph(text),
            Block::Paragraph(old) => *old = text,
            _ => {}
        }
    }
}

/// Joins headings of several lines: lines of one size, and "CHAPTER", "ONE" and the chapter's name.
fn join_split(blocks: &mut Vec<Placed>) {
    let mut joined: Vec<Placed> = Vec::with_capacity(blocks.len());
    for placed in blocks.drain(..) {
        match joined.last_mut() {
            Some(above) if continues(above, &placed) => {
                let text = format!("{} {}", above.block.text().trim(), placed.block.text().trim());
                // The larger type size of the two is the heading's.
                let larger = half_points(&placed) > half_points(above);
                above.first = if larger { placed.first } else { above.first };
                above.block = Block::Heading(1, text);
            }
            _ => joined.push(placed),
        }
    }
    *blocks = joined;
}

fn continues(above: &Placed, below: &Placed) -> bool {
    let (
        Placed { block: Block::Heading(..), first: Some(upper), .. },
        Placed { block: Block::Heading(..), first: Some(lower), .. },
    ) = (above, below)
    else {
        return false;
    };
    let words: Vec<String> = above.block.text().split_whitespace().map(str::to_lowercase).collect();
    let announces = words.len() <= 2 && words.first().is_some_and(|word| DIVISIONS.contains(&word.as_str()));
    let next_line = half_points(above) == half_points(below) && upper.y - lower.y <= upper.size * NEXT_LINE;
    let length = above.block.text().len() + below.block.text().len();
    length <= LONGEST && section_depth(below.block.text()).is_none() && (announces || next_line)
}

fn placed(sheets: &[Sheet]) -> impl Iterator<Item = &Placed> {
    sheets.iter().flat_map(|sheet| &sheet.blocks)
}

/// The type size of most of the text.
fn body_size(sheets: &[Sheet]) -> Option<f32> {
    let mut letters = BTreeMap::<u32, usize>::new();
    for placed in placed(sheets) {
        if let Some(size) = half_points(placed) {
            *letters.entry(size).or_default() += placed.block.text().len();
        }
    }
    letters.into_iter().max_by_key(|(_, count)| *count).map(|(size, _)| size as f32 / 2.0)
}

fn half_points(placed: &Placed) -> Option<u32> {
    placed.first.map(|line| (line.size * 2.0).round() as u32)
}

fn is_heading(placed: &Placed, body: f32) -> bool {
    let text = placed.block.text().trim();
    let short = text.len() <= LONGEST && placed.lines <= 3 && text.chars().any(char::is_alphabetic);
    let sentence = text.ends_with(['.', ',', ';']) && section_depth(text).is_none();
    let Some(line) = placed.first else { return matches!(placed.block, Block::Heading(..)) && short && !sentence };
    let set_apart = line.size >= body * LARGER || (line.bold && line.size >= body && section_depth(text).is_some());
    match placed.block {
        Block::Heading(..) => short && (set_apart || line.bold) && !sentence,
        Block::Paragraph(_) => short && set_apart && !sentence,
        Block::Item { .. } | Block::Table(_) | Block::Verbatim(_) => false,
    }
}

/// The type sizes of headings.
struct Scale {
    /// All of them, largest first.
    sizes: Vec<u32>,
    /// The size of numbered headings by the depth of their number.
    numbered: BTreeMap<usize, u32>,
}

impl Scale {
    fn of<'a>(headings: impl Iterator<Item = &'a Placed>) -> Self {
        let (mut sizes, mut numbered) = (Vec::new(), BTreeMap::new());
        for heading in headings {
            let Some(size) = half_points(heading) else { continue };
            sizes.push(size);
            if let Some(depth) = section_depth(heading.block.text()) {
                numbered.entry(depth).or_insert(size);
            }
        }
        sizes.sort_unstable_by(|left, right| right.cmp(left));
        sizes.dedup();
        Self { sizes, numbered }
    }

    /// Level 1 is the title. A section number determines the level by its parts; a heading without one has the level of
    /// the numbered ones of its size, or above smaller ones, or below all of them.
    fn level(&self, text: &str, size: Option<u32>) -> u8 {
        let rank = size.and_then(|size| self.sizes.iter().position(|other| *other == size));
        let level = match (section_depth(text), size, rank) {
            (Some(depth), ..) => depth + 1,
            (None, _, Some(0)) => 1,
            (None, Some(size), Some(rank)) => {
                let beside = self.numbered.iter().find(|(_, other)| **other == size).map(|(depth, _)| depth + 1);
                let above = || self.numbered.iter().find(|(_, other)| **other < size).map(|(depth, _)| *depth);
                beside.or_else(above).unwrap_or_else(|| self.numbered.keys().max().map_or(rank + 1, |depth| depth + 2))
            }
            (None, ..) => self.numbered.keys().max().map_or(2, |depth| depth + 2),
        };
        u8::try_from(level.max(1)).unwrap_or(6).min(6)
    }
}

/// An entry of a table of contents with a leader to its page. Many books print chapter entries without a leader, which
/// makes them look like headings.
fn with_leader(entry: &str) -> String {
    let page = entry.trim_end().rsplit_once(' ').filter(|(_, page)| page.bytes().all(|byte| byte.is_ascii_digit()));
    match page {
        Some((name, page)) if section_depth(name).is_some() && !has_leader(entry) && !entry.contains('\n') => {
            format!("{} \u{2026} {page}", name.trim_end())
        }
        _ => entry.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::lines::Line;
    use super::*;

    fn heading(text: &str, y: f32, size: f32) -> Placed {
        Placed { block: Block::Heading(1, text.to_owned()), first: Some(Line::at(y, size)), lines: 1, aside: false }
    }

    #[test]
    fn a_heading_of_several_lines_is_one() {
        let mut blocks = vec![
            heading("CHAPTER", 700.0, 12.0),
            heading("SIX", 670.0, 17.0),
            heading("MAINTAINER SCRIPTS AND", 600.0, 20.0),
            heading("PROCEDURE", 576.0, 20.0),
            heading("6.1 Introduction", 540.0, 14.0),
        ];
        join_split(&mut blocks);
        let texts: Vec<&str> = blocks.iter().map(|placed| placed.block.text()).collect();
        assert_eq!(texts, ["CHAPTER SIX MAINTAINER SCRIPTS AND PROCEDURE", "6.1 Introduction"]);
        assert_eq!(half_points(&blocks[0]), Some(40));
    }

    #[test]
    fn entries_of_a_table_of_contents_are_no_headings_and_lead_to_their_page() {
        let entry = |text: &str| heading(text, 700.0, 14.0);
        let texts =
            ["1 Scope 3", "1.1 Aim . . . . 3", "1.2 Terms ..... 4", "1.3 Use ....... 4", "1.4 End ..... 5", "Contents"];
        let mut blocks: Vec<Placed> = texts.into_iter().map(entry).collect();
        choose(&mut blocks, 10.0);
        let is_heading: Vec<bool> = blocks.iter().map(|placed| matches!(placed.block, Block::Heading(..))).collect();
        assert_eq!(is_heading, [false, false, false, false, false, true]);
        assert_eq!(blocks[0].block.text(), "1 Scope \u{2026} 3");
        assert_eq!(blocks[1].block.text(), "1.1 Aim . . . . 3");
        let mut few = vec![entry("1 Scope of ISO 9001")];
        choose(&mut few, 10.0);
        assert!(matches!(&few[0].block, Block::Heading(_, text) if text == "1 Scope of ISO 9001"));
    }

    #[test]
    fn unnumbered_headings_find_their_place_among_the_numbered() {
        let scale = Scale { sizes: vec![50, 40, 32, 26, 22], numbered: [(1, 32), (2, 26)].into() };
        for (text, size, level) in [
            ("Policy", 50, 1),
            ("Overview", 40, 1),
            ("1 Scope", 32, 2),
            ("Terms", 32, 2),
            ("1.1 Aim", 26, 3),
            ("Note", 22, 4),
        ] {
            assert_eq!(scale.level(text, Some(size)), level, "{text}");
        }
    }
}

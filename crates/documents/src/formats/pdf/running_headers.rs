//! Running headers, footers and page numbers: what repeats at the edges of most pages and belongs to none.
//!
//! They cut sentences in two and would be cited as text. What is removed must be certain. There are three proofs, all
//! of short blocks in the outer part of the page: the same words, numbers aside, on many pages; a bare number that
//! counts along with the pages; and a single line that ends like a title, whatever it says, at the very height at which most pages have one
//! apart from their text and none has text: the first line of a page is where it is by the margin, too.

use super::page_layout::{Placed, Sheet};
use std::collections::{HashMap, HashSet};

/// How many blocks from the top and from the bottom can be furniture when their place is not known.
const EDGE: usize = 3;
/// The outer part of the page in which furniture stands, of its height.
const MARGIN: f32 = 0.12;
/// Fewer pages than this prove no repetition.
const FEWEST_PAGES: usize = 4;
/// Longer blocks are text, however often they repeat.
const LONGEST: usize = 200;
/// Pages on which a number that counts along is a page number.
const COUNTING_PAGES: usize = 3;
/// What stands at its height as furniture keeps this many lines' distance from the text.
const APART: f32 = 1.6;

/// Removes the furniture from all pages.
pub(crate) fn remove(sheets: &mut [Sheet]) {
    let pages = sheets.iter().filter(|sheet| !sheet.blocks.is_empty()).count();
    if pages < FEWEST_PAGES {
        return;
    }
    // Books set odd and even pages differently, so that the same words come on a good third of the pages.
    let enough = |key: &Key| match key {
        Key::Words(_) => (pages * 2).div_ceil(5).max(3),
        Key::Counter(..) => COUNTING_PAGES,
        Key::Height(_) => (pages * 3).div_ceil(5),
    };
    let mut seen: HashMap<Key, usize> = HashMap::new();
    for sheet in sheets.iter() {
        let mut keys: Vec<Key> = (0..sheet.blocks.len()).flat_map(|index| keys(sheet, index)).collect();
        keys.sort_unstable();
        keys.dedup();
        for key in keys {
            *seen.entry(key).or_default() += 1;
        }
    }
    let text = heights_of_text(sheets);
    let is_text = |key: &Key| matches!(key, Key::Height(height) if text.contains(height));
    seen.retain(|key, count| *count >= enough(key) && !is_text(key));
    for sheet in sheets {
        let found = |index: &usize| keys(sheet, *index).iter().any(|key| seen.contains_key(key));
        let found: Vec<usize> = (0..sheet.blocks.len()).filter(found).collect();
        for index in found.into_iter().rev() {
            sheet.blocks.remove(index);
        }
    }
}

/// The heights at which paragraphs of several lines begin and end, in points, and those of the last line of one that began
/// on another page.
fn heights_of_text(sheets: &[Sheet]) -> HashSet<i32> {
    let goes_on = |text: &str| text.starts_with(char::is_lowercase) && text.ends_with(['.', ',', ';', ':']);
    let is_text = |placed: &&Placed| placed.lines > 1 || goes_on(placed.block.text().trim());
    let paragraphs = sheets.iter().flat_map(|sheet| &sheet.blocks).filter(is_text);
    let heights = paragraphs.flat_map(|placed| placed.first.map(|line| line.y).into_iter().chain(placed.last));
    heights.map(|height| height.round() as i32).collect()
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Key {
    /// Words, with every number written as `#`.
    Words(String),
    /// A number alone, by what it adds to the page's position, and whether it is a Roman one.
    Counter(i64, bool),
    /// A single line apart from the text, by its height in points.
    Height(i32),
}

/// What could prove that a block is furniture.
fn keys(sheet: &Sheet, index: usize) -> Vec<Key> {
    let placed = &sheet.blocks[index];
    let text = placed.block.text().trim();
    if text.is_empty() || text.len() > LONGEST || !at_the_edge(sheet, index) {
        return Vec::new();
    }
    let bare = text.trim_matches(|c: char| !c.is_alphanumeric());
    let position = i64::from(sheet.number);
    if let Ok(number) = bare.parse::<i64>() {
        return vec![Key::Counter(number - position, false)];
    }
    if let Some(number) = roman(bare) {
        return vec![Key::Counter(number - position, true)];
    }
    // Notes stand at one height as well, and are sentences.
    let is_sentence = text.ends_with(['.', ';', '!', '?']);
    let height = placed
        .first
        .filter(|_| !is_sentence && stands_apart(sheet, index))
        .map(|line| Key::Height(line.y.round() as i32));
    [Key::Words(words(text))].into_iter().chain(height).collect()
}

/// In the margins where the place is known, else among the first and last blocks.
fn at_the_edge(sheet: &Sheet, index: usize) -> bool {
    match sheet.blocks[index].first {
        Some(line) if sheet.height > 0.0 => {
            let margin = sheet.height * MARGIN;
            line.y < margin || line.y > sheet.height - margin
        }
        _ => index < EDGE || index + EDGE >= sheet.blocks.len(),
    }
}

/// Whether a block is one line, the outermost on its page, with a clear distance from everything else.
fn stands_apart(sheet: &Sheet, index: usize) -> bool {
    let Placed { first: Some(own), lines: 1, .. } = &sheet.blocks[index] else { return false };
    let others = sheet.blocks.iter().enumerate().filter(|(other, _)| *other != index);
    let heights: Vec<f32> = others.filter_map(|(_, placed)| placed.first).map(|line| line.y - own.y).collect();
    let same_side = heights.iter().all(|distance| *distance >= -1.0) || heights.iter().all(|distance| *distance <= 1.0);
    let apart = |distance: &f32| distance.abs() <= 1.0 || distance.abs() >= own.size * APART;
    !heights.is_empty() && same_side && heights.iter().all(apart)
}

fn words(text: &str) -> String {
    let mut words = String::with_capacity(text.len());
    for character in text.chars().filter(|c| !c.is_whitespace()) {
        match character {
            _ if !character.is_ascii_digit() => words.push(character),
            _ if words.ends_with('#') => {}
            _ => words.push('#'),
        }
    }
    words
}

/// The value of a number in small Roman numerals below a hundred, as front matter is numbered.
fn roman(text: &str) -> Option<i64> {
    let value = |numeral: char| match numeral {
        'i' => Some(1),
        'v' => Some(5),
        'x' => Some(10),
        'l' => Some(50),
        _ => None,
    };
    let values: Vec<i64> = text.chars().map(value).collect::<Option<_>>()?;
    let signed = |(index, value): (usize, &i64)| {
        if values.get(index + 1).is_some_and(|next| next > value) { -value } else { *value }
    };
    (!values.is_empty()).then(|| values.iter().enumerate().map(signed).sum())
}

#[cfg(test)]
mod tests {
    use super::super::lines::Line;
    use super::*;
    use crate::formats::blocks::Block;

    fn sheets(pages: &[&[&str]]) -> Vec<Sheet> {
        let placed =
            |line: &&str| Placed { block: Block::Paragraph((*line).to_owned()), first: None, last: None, lines: 0 };
        let sheet = |(index, lines): (usize, &&[&str])| Sheet {
            number: index as u32 + 1,
            height: 800.0,
            blocks: lines.iter().map(placed).collect(),
            silent: false,
            as_set: String::new(),
        };
        pages.iter().enumerate().map(sheet).collect()
    }

    fn texts(sheets: &[Sheet]) -> Vec<Vec<&str>> {
        sheets.iter().map(|sheet| sheet.blocks.iter().map(|placed| placed.block.text()).collect()).collect()
    }

    #[test]
    fn what_repeats_at_the_edges_goes() {
        let mut pages = sheets(&[
            &["Policy 4.1", "First", "Page 1 of 5"],
            &["Policy 4.1", "Second", "Page 2 of 5"],
            &["Policy 4.1", "Third", "Page 3 of 5"],
            &["Policy 4.1", "Fourth", "Page 4 of 5"],
            &["Title alone"],
        ]);
        remove(&mut pages);
        assert_eq!(texts(&pages), [["First"], ["Second"], ["Third"], ["Fourth"], ["Title alone"]]);
    }

    #[test]
    fn a_number_goes_only_when_it_counts_along() {
        let mut pages = sheets(&[&["a", "11"], &["b", "12"], &["c", "13"], &["d", "2019"], &["e", "15"]]);
        remove(&mut pages);
        assert_eq!(texts(&pages), [vec!["a"], vec!["b"], vec!["c"], vec!["d", "2019"], vec!["e"]]);
    }

    #[test]
    fn the_first_line_of_the_text_is_no_header() {
        // Each page begins with one line apart from the rest, at the height of the margin.
        let page = |(index, lines): (usize, &usize)| {
            let placed = |text: &str, y, lines| {
                let first = Some(Line::at(y, 10.0));
                Placed { block: Block::Paragraph(text.to_owned()), first, last: first.map(|line| line.y), lines }
            };
            let blocks = vec![placed("A clause", 770.0, *lines), placed("of the text", 740.0, 3)];
            Sheet { number: index as u32 + 1, height: 842.0, blocks, silent: false, as_set: String::new() }
        };
        for (lines, left) in [([1, 1, 1, 1], 1), ([1, 1, 2, 1], 2)] {
            let mut pages: Vec<Sheet> = lines.iter().enumerate().map(page).collect();
            pages
                .iter_mut()
                .enumerate()
                .for_each(|(n, page)| page.blocks[0].block = Block::Paragraph(["A", "B", "C", "D"][n].into()));
            remove(&mut pages);
            assert!(pages.iter().all(|page| page.blocks.len() == left), "{lines:?}");
        }
    }

    #[test]
    fn few_pages_prove_nothing() {
        let mut pages = sheets(&[&["Same", "a"], &["Same", "b"], &["Same", "c"]]);
        remove(&mut pages);
        assert_eq!(texts(&pages), [["Same", "a"], ["Same", "b"], ["Same", "c"]]);
    }

    #[test]
    fn roman_numbers() {
        for (text, value) in [("i", 1), ("iv", 4), ("vii", 7), ("xlix", 49)] {
            assert_eq!(roman(text), Some(value));
        }
        assert_eq!((roman(""), roman("vim")), (None, None));
    }
}

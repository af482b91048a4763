//! Running headers, footers and page numbers: text that repeats at the edges of most pages.
//!
//! They interrupt sentences and would be cited as text. They are removed only if certain: the outermost block at an
//! edge of a page that is identical on many pages, where a number counts as identical only if it is the page number;
//! and a bare number that increases with the pages. Text in larger or bolder type than the body, and the only text of a
//! page, are never removed. A sentence that may state an obligation is kept at its first occurrence. Each wording is
//! reported once, with its pages.

use super::page_layout::{Placed, Sheet};
use crate::formats::page_numbers::own_numbers;
use crate::formats::repeated;
use crate::formats::warnings::{first_words, pages_first};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;

/// The outer share of the page's height that may contain running headers and footers.
const MARGIN: f32 = 0.12;
/// Fewer pages than this prove no repetition.
const FEWEST_PAGES: usize = 4;
/// Longer blocks are text, even if they repeat; white space and rules do not count.
const LONGEST: usize = 200;
/// Minimum number of pages on which an increasing number is a page number.
const COUNTING_PAGES: usize = 3;
/// Maximum numbers of a block that are tried as the page number.
const MOST_NUMBERS: usize = 4;
/// Text larger than the body by this factor is a title.
const LARGER: f32 = 1.1;
/// Blocks at most this far apart, in points, are on one line.
const ONE_LINE: f32 = 1.0;

/// An edge of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Edge {
    Top,
    Bottom,
    /// The margins to the left and right, or all of the page.
    Side,
}

/// Evidence that a block is a running header or footer.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Key {
    /// Its words.
    Words(String),
    /// Its words, with one number as an offset to the page's position.
    Counted(String),
    /// A bare number, as an offset to the page's position, and whether it is Roman.
    Counter(i64, bool),
}

/// A block at an edge: the index of its page, and its index on the page.
type Place = (usize, usize);

/// Removes running headers and footers from all pages, and reports them.
pub(crate) fn remove(sheets: &mut [Sheet]) -> Vec<String> {
    let pages = sheets.iter().filter(|sheet| !sheet.blocks.is_empty()).count();
    if pages < FEWEST_PAGES {
        return Vec::new();
    }
    let text = Type::of(sheets);
    let mut seen: BTreeMap<(Edge, Key), Vec<Place>> = BTreeMap::new();
    for (at, sheet) in sheets.iter().enumerate() {
        for (edge, block) in outermost(sheet, &text) {
            for key in keys(sheet.blocks[block].block.text(), sheet.number) {
                seen.entry((edge, key)).or_default().push((at, block));
            }
        }
    }
    seen.retain(|(_, key), places| places.len() >= enough(key, pages));
    let mut removed: BTreeSet<Place> = BTreeSet::new();
    let mut told = Vec::new();
    for ((_, key), places) in seen {
        let first = sheets[places[0].0].blocks[places[0].1].block.text();
        let obliges = repeated::obliges(first);
        // Two sentences with different numbers are different sentences.
        if obliges && matches!(key, Key::Counted(_)) {
            continue;
        }
        let kept = |place: &Place| {
            !removed.contains(place) && !is_all_of_its_page(&sheets[place.0], place.1, &removed, place.0)
        };
        let places: Vec<Place> = places.into_iter().skip(usize::from(obliges)).filter(kept).collect();
        told.extend(said(sheets, &places, first));
        removed.extend(places);
    }
    for (sheet, block) in removed.into_iter().rev() {
        sheets[sheet].blocks.remove(block);
    }
    told
}

/// The number of pages on which a running header must occur. Books have different headers on odd and even pages, so the
/// same words occur on a good third of the pages.
fn enough(key: &Key, pages: usize) -> usize {
    match key {
        Key::Words(_) | Key::Counted(_) => (pages * 2).div_ceil(5).max(3),
        Key::Counter(..) => COUNTING_PAGES,
    }
}

/// Bare page numbers are not reported.
fn said(sheets: &[Sheet], places: &[Place], words: &str) -> Option<String> {
    let numbers: Vec<u32> = places.iter().map(|(sheet, _)| sheets[*sheet].number).collect();
    let letters = words.chars().filter(|c| c.is_alphabetic()).count();
    let says_something = letters > 1 || (letters > 0 && words.contains(|c: char| c.is_ascii_digit()));
    (says_something && !numbers.is_empty())
        .then(|| format!("{}: left out as a running header or footer: {}.", pages_first(&numbers), first_words(words)))
}

/// The typography of a document's body text.
struct Type {
    size: f32,
    bold: bool,
}

impl Type {
    /// By the typography of most of its letters.
    fn of(sheets: &[Sheet]) -> Self {
        let mut letters: HashMap<(u32, bool), usize> = HashMap::new();
        for placed in sheets.iter().flat_map(|sheet| &sheet.blocks) {
            if let Some(line) = placed.first {
                *letters.entry(((line.size * 2.0).round() as u32, line.bold)).or_default() += placed.block.text().len();
            }
        }
        let most = letters.into_iter().max_by_key(|(key, count)| (*count, *key)).map(|(key, _)| key);
        most.map_or(Self { size: f32::MAX, bold: true }, |(half, bold)| Self { size: half as f32 / 2.0, bold })
    }

    /// Whether a block has the typography of a title.
    fn is_below(&self, placed: &Placed) -> bool {
        placed.first.is_some_and(|line| line.size > self.size * LARGER || (line.bold && !self.bold))
    }
}

/// The blocks at the edges of a page that may be running headers or footers: the outermost of each edge, with blocks on
/// the same line, and all that run in another direction.
fn outermost(sheet: &Sheet, text: &Type) -> Vec<(Edge, usize)> {
    let has_words = |index: &usize| sheet.blocks[*index].block.text().contains(char::is_alphanumeric);
    let with_words = (0..sheet.blocks.len()).filter(has_words);
    let (aside, all): (Vec<usize>, Vec<usize>) = with_words.partition(|index| sheet.blocks[*index].aside);
    let mut found: Vec<(Edge, usize)> = aside.into_iter().map(|index| (Edge::Side, index)).collect();
    for edge in [Edge::Top, Edge::Bottom] {
        let outer =
            all.iter().copied().reduce(|one, other| if is_outer(sheet, edge, other, one) { other } else { one });
        let Some(outer) = outer else { continue };
        let beside = |index: &&usize| **index == outer || on_one_line(sheet, **index, outer);
        let line: Vec<usize> = all.iter().filter(beside).copied().collect();
        let may_go = |index: &usize| is_in_margin(sheet, edge, *index) && !text.is_below(&sheet.blocks[*index]);
        found.extend(line.into_iter().filter(may_go).map(|index| (edge, index)));
    }
    found
}

/// Whether a block is further out than another; by their order if their positions are unknown.
fn is_outer(sheet: &Sheet, edge: Edge, one: usize, other: usize) -> bool {
    match (sheet.blocks[one].first, sheet.blocks[other].first, edge) {
        (Some(one), Some(other), Edge::Top) => one.y > other.y,
        (Some(one), Some(other), Edge::Bottom) => one.y < other.y,
        (_, _, Edge::Bottom) => true,
        (_, _, Edge::Top | Edge::Side) => false,
    }
}

fn on_one_line(sheet: &Sheet, one: usize, other: usize) -> bool {
    let places = sheet.blocks[one].first.zip(sheet.blocks[other].first);
    places.is_some_and(|(one, other)| (one.y - other.y).abs() <= ONE_LINE)
}

/// In the margin if the position is known; else the outermost block is at the edge.
fn is_in_margin(sheet: &Sheet, edge: Edge, index: usize) -> bool {
    let margin = sheet.height * MARGIN;
    match (sheet.blocks[index].first, edge) {
        (Some(line), Edge::Top) if sheet.height > 0.0 => line.y > sheet.height - margin,
        (Some(line), Edge::Bottom) if sheet.height > 0.0 => line.y < margin,
        _ => true,
    }
}

/// Whether this block has all the words of a page.
fn is_all_of_its_page(sheet: &Sheet, block: usize, removed: &BTreeSet<Place>, at: usize) -> bool {
    let others = (0..sheet.blocks.len()).filter(|other| *other != block && !removed.contains(&(at, *other)));
    !others.into_iter().any(|other| !sheet.blocks[other].block.is_empty() && has_letters(&sheet.blocks[other]))
}

fn has_letters(placed: &Placed) -> bool {
    match &placed.block {
        crate::formats::blocks::Block::Table(_) => true,
        block => block.text().contains(char::is_alphanumeric),
    }
}

/// Evidence that a text on a page is a running header or footer.
fn keys(text: &str, page: u32) -> Vec<Key> {
    let words = words(text);
    if words.is_empty() || words.len() > LONGEST {
        return Vec::new();
    }
    let bare = text.trim().trim_matches(|c: char| !c.is_alphanumeric());
    let position = i64::from(page);
    if let Ok(number) = bare.parse::<i64>() {
        return vec![Key::Counter(number - position, false)];
    }
    if let Some(number) = roman(bare) {
        return vec![Key::Counter(number - position, true)];
    }
    let counted = counted(text, position);
    std::iter::once(Key::Words(words)).chain(counted.into_iter().map(Key::Counted)).collect()
}

/// The words, with each possible page number in turn as an offset to the page's position.
fn counted(text: &str, position: i64) -> Vec<String> {
    let as_offset = |(place, number): (Range<usize>, i64)| {
        words(&format!("{}#{:+}{}", &text[..place.start], number - position, &text[place.end..]))
    };
    own_numbers(text).into_iter().take(MOST_NUMBERS).map(as_offset).collect()
}

/// Characters used to draw rules.
const RULES: [char; 9] = ['_', '-', '=', '.', '*', '~', '\u{2014}', '\u{2500}', '\u{2026}'];

/// The text without white space and without rules: three equal characters in a row count as a rule.
fn words(text: &str) -> String {
    let signs: Vec<char> = text.chars().filter(|c| !c.is_whitespace()).collect();
    let runs = signs.chunk_by(|one, other| one == other);
    runs.filter(|run| run.len() < 3 || !RULES.contains(&run[0])).flatten().collect()
}

/// The value of a lower-case Roman numeral below a hundred, as in the numbering of front matter.
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
            |line: &&str| Placed { block: Block::Paragraph((*line).to_owned()), first: None, lines: 0, aside: false };
        let sheet = |(index, lines): (usize, &&[&str])| Sheet {
            number: index as u32 + 1,
            height: 800.0,
            blocks: lines.iter().map(placed).collect(),
            ..Sheet::default()
        };
        pages.iter().enumerate().map(sheet).collect()
    }

    fn texts(sheets: &[Sheet]) -> Vec<Vec<&str>> {
        sheets.iter().map(|sheet| sheet.blocks.iter().map(|placed| placed.block.text()).collect()).collect()
    }

    #[test]
    fn what_repeats_at_the_edges_goes_and_is_named() {
        let mut pages = sheets(&[
            &["Policy 4.1", "First", "Page 1 of 5"],
            &["Policy 4.1", "Second", "Page 2 of 5"],
            &["Policy 4.1", "Third", "Page 3 of 5"],
            &["Policy 4.1", "Fourth", "Page 4 of 5"],
            &["Title alone"],
        ]);
        let told = remove(&mut pages);
        assert_eq!(texts(&pages), [["First"], ["Second"], ["Third"], ["Fourth"], ["Title alone"]]);
        assert_eq!(
            told,
            [
                "Pages 1-4: left out as a running header or footer: \u{ab}Policy 4.1\u{bb}.",
                "Pages 1-4: left out as a running header or footer: \u{ab}Page 1 of 5\u{bb}."
            ]
        );
    }

    #[test]
    fn a_number_goes_only_when_it_counts_along() {
        let mut pages = sheets(&[&["a", "11"], &["b", "12"], &["c", "13"], &["d", "2019"], &["e", "15"]]);
        assert_eq!(remove(&mut pages), Vec::<String>::new(), "no words are gone");
        assert_eq!(texts(&pages), [vec!["a"], vec!["b"], vec!["c"], vec!["d", "2019"], vec!["e"]]);
    }

    #[test]
    fn rules_that_differ_in_their_numbers_are_text() {
        let page = |n: usize| {
            [format!("The owner must sign form {n} before release."), format!("Form {n} shall be kept for {n} years.")]
        };
        // Their numbers do not increase with the pages, and if they do, the block is the only text of the page.
        for offset in [0, 7] {
            let written: Vec<[String; 2]> = (1..=12).map(|n| page(n * 3 + offset)).collect();
            let lines: Vec<Vec<&str>> = written.iter().map(|page| page.iter().map(String::as_str).collect()).collect();
            let mut pages = sheets(&lines.iter().map(Vec::as_slice).collect::<Vec<_>>());
            let before: Vec<Vec<String>> = written.iter().map(|page| page.to_vec()).collect();
            remove(&mut pages);
            assert_eq!(texts(&pages), before);
        }
    }

    #[test]
    fn a_sentence_that_repeats_goes_and_one_that_obliges_stays_where_it_first_appears() {
        let lines = ["Copies must be destroyed.", "This copy is not controlled."];
        let page: &[&str] = &[lines[0], "Text of it.", lines[1]];
        let mut pages = sheets(&[page; 5]);
        let told = remove(&mut pages);
        let rest = vec!["Text of it."];
        assert_eq!(texts(&pages), [vec![lines[0], "Text of it."], rest.clone(), rest.clone(), rest.clone(), rest]);
        assert_eq!(
            told[0],
            "Pages 2-5: left out as a running header or footer: \u{ab}Copies must be destroyed.\u{bb}."
        );
        assert_eq!(told.len(), 2);
    }

    #[test]
    fn one_block_an_edge_goes_and_never_all_of_a_page() {
        let mut pages = sheets(&[
            &["Head", "Rule one.", "Text."],
            &["Head", "Rule one.", "More."],
            &["Head", "Rule one.", "Last."],
            &["Head", "Rule one.", "End."],
        ]);
        remove(&mut pages);
        assert_eq!(texts(&pages)[1], ["Rule one.", "More."]);
        let mut alone = sheets(&[&["Keep it."], &["Keep it."], &["Keep it."], &["Keep it."]]);
        remove(&mut alone);
        assert_eq!(texts(&alone), [["Keep it."]; 4]);
    }

    #[test]
    fn titles_stay_however_often_they_repeat() {
        let line = |y, size, bold| {
            let mut line = Line::at(y, size);
            line.bold = bold;
            Some(line)
        };
        let sheet = |(number, size, bold): (u32, f32, bool)| {
            let placed =
                |text: &str, first| Placed { block: Block::Paragraph(text.to_owned()), first, lines: 1, aside: false };
            let blocks = vec![
                placed("Data sheet", line(780.0, size, bold)),
                placed("Text that is long enough.", line(600.0, 11.0, false)),
            ];
            Sheet { number, height: 842.0, blocks, ..Sheet::default() }
        };
        for (size, bold, left) in [(14.0, false, 2), (11.0, true, 2), (11.0, false, 1), (7.0, false, 1)] {
            let mut pages: Vec<Sheet> = (1..=6).map(|number| sheet((number, size, bold))).collect();
            remove(&mut pages);
            assert!(pages.iter().all(|page| page.blocks.len() == left), "{size} {bold}");
        }
    }

    #[test]
    fn a_long_header_is_measured_without_spaces_and_rules() {
        let long = format!("SP 1-17{}PROTECTING{}", " ".repeat(200), "_".repeat(97));
        let mut pages = sheets(&[&[&long, "a text"], &[&long, "b text"], &[&long, "c text"], &[&long, "d text"]]);
        remove(&mut pages);
        assert_eq!(texts(&pages), [["a text"], ["b text"], ["c text"], ["d text"]]);
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

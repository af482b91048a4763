//! A page of running text, read by the parser's parts one by one.
//!
//! The parser's own path from a page to its blocks reads the page twice, and a third time for the positions of its
//! lines. Most pages have no tables: one reading gives lines, headings and blocks. A page that may have a table is left
//! to the parser, because its knowledge of ruled tables is private. Undecodable characters, struck-out words and the
//! lines of program code are known only here: the parser's page events do not have them.

use super::aside;
use super::cached_backend::{StringCache, View};
use super::columns;
use super::fonts::Fonts;
use super::lines::Lines;
use super::page_layout::{Place, Seen, Sheet, rows};
use super::painted_twice;
use super::ruling_lines::has_columns;
use super::scripts;
use super::turned::Turn;
use crate::formats::blocks::Block;
use parking_lot::Mutex;
use std::ops::Range;
use unpdf::parser::backend::{PageId, PdfBackend as _, RawBackend};
use unpdf::parser::{
    BlockType, DetectedTable, LayoutAnalyzer, PageFacts, TableDetector, TextBlock, TextLine, TextSpan,
};

/// The result of examining a page.
pub(crate) enum Found {
    /// Running text.
    Text(Sheet),
    /// It may have tables, or could not be read this way; with its lines and other findings.
    Other(Lines, Seen),
}

impl Default for Found {
    fn default() -> Self {
        Self::Other(Lines::default(), Seen::default())
    }
}

/// Reads a page, if it is one of running text.
pub(crate) fn read(document: &RawBackend, fonts: &Fonts, memory: &Mutex<StringCache>, page: (u32, PageId)) -> Found {
    let found = |turn| read_turned(&View::new(document, fonts, memory, page, turn), page, turn);
    found(None).unwrap_or_else(|turn| found(Some(turn)).unwrap_or_default())
}

/// Reads a page after a turn, or says which turn it needs.
fn read_turned(view: &View<'_>, (number, id): (u32, PageId), turn: Option<Turn>) -> Result<Found, Turn> {
    let mut analyzer = LayoutAnalyzer::new(view);
    let Ok(mut spans) = analyzer.extract_page_spans(number) else { return Ok(Found::default()) };
    if turn.is_none()
        && let Some(turn) = Turn::of(&spans)
    {
        return Err(turn);
    }
    let seen = Seen {
        lost: view.lost(),
        senseless: analyzer.ocr_text_suppressed(),
        damaged: analyzer.undecodable_content_streams() > 0,
        struck: struck(&spans),
        meant: view.meant(),
        pictured: is_picture(analyzer.page_facts()),
        illustrated: is_illustrated(analyzer.page_facts()),
        ..Seen::default()
    };
    analyzer.filter_spans_for_page(&mut spans, number);
    painted_twice::remove(&mut spans);
    let aside = aside::take(&mut spans);
    let height = view.page_box(id).height();
    let facts = analyzer.page_facts();
    let columns = has_columns(spans.iter());
    let ruled = columns && (facts.ruled_grids > 0 || view.may_have_ruled_table(height, &spans));
    for span in &spans {
        analyzer.font_stats_mut().add_text(span.font_size, &span.text);
    }
    analyzer.font_stats_mut().analyze();
    let mut lines = columns::lines(&analyzer, spans);
    scripts::raise(&mut lines);
    let paragraphs = aside::paragraphs(&aside);
    let turned = analyzer.group_spans_into_lines_pub(aside);
    let mut places = Lines::of(lines.iter().chain(&turned));
    let (tables, rest) = if columns { tables(&lines) } else { Default::default() };
    // The parser does not turn a page.
    if turn.is_none() && (ruled || !tables.is_empty()) {
        places.drawn = view.drawn_between_rows();
        return Ok(Found::Other(places, seen));
    }
    if !tables.is_empty() {
        lines = columns::lines(&analyzer, rest);
    }
    let blocks = analyzer.group_lines_into_blocks_pub(analyzer.detect_headings_pub(lines));
    let blocks = blocks.iter().filter(|block| !block.is_empty()).map(block).chain(tables);
    let counts = analyzer.page_op_counts();
    let place = Place { number, height, text: counts.text, images: counts.image, fills: facts.fill_op_count };
    Ok(Found::Text(Sheet::new(place, blocks, places, seen).with_aside(paragraphs)))
}

/// The parser's own least confidence in a table.
const SURE: f32 = 0.4;

/// A picture that covers this share of a page is the page, usually a scan.
const WHOLE_PAGE: f32 = 0.7;
/// A page with fewer characters outside its margins has a stamp at most; hidden ones are the text of a scan.
const STAMP: u32 = 40;

/// Whether a page is a picture with little text beside it.
fn is_picture(facts: PageFacts) -> bool {
    let within = facts.painted_text_chars.saturating_sub(facts.margin_text_chars) + facts.invisible_text_chars;
    facts.image_coverage >= WHOLE_PAGE && within < STAMP
}

/// Pictures that cover a smaller share of a page are logos and signs.
const PICTURE: f32 = 0.15;

/// Whether a page shows pictures beside its text that may say something: no background, and no scan with its text.
fn is_illustrated(facts: PageFacts) -> bool {
    (PICTURE..WHOLE_PAGE).contains(&facts.image_coverage) && facts.invisible_text_chars < STAMP
}

/// Struck-out words of a page. A rule through a word may be accidental, so the word stays in the text.
fn struck(spans: &[TextSpan]) -> Option<String> {
    let words: Vec<&str> = spans.iter().filter(|span| span.is_struck).map(|span| span.text.as_str()).collect();
    let words = words.join(" ");
    words.contains(char::is_alphanumeric).then_some(words)
}

/// The columns that look like tables, and the other text.
fn tables(lines: &[TextLine]) -> (Vec<Block>, Vec<TextSpan>) {
    let runs = lines.iter().flat_map(|line| line.spans.iter().cloned()).collect();
    let detector = TableDetector::new();
    let (tables, mut rest) = detector.detect(runs);
    let mut table = |table: DetectedTable| {
        let cells = rows(&detector.to_table_model(&table));
        let is_sure = table.confidence >= SURE && table.rows.len() == cells.len();
        let inner = if is_sure { without_text_around(&cells) } else { 0..0 };
        let outer = table.rows.into_iter().enumerate().filter(|(at, _)| !inner.contains(at));
        rest.extend(outer.flat_map(|(_, row)| row.spans));
        Block::Table(cells[inner.clone()].to_vec())
    };
    (tables.into_iter().map(&mut table).collect(), rest)
}

/// The rows of a table without those at its beginning and end that have text in the first column only, such as its
/// title.
fn without_text_around(cells: &[Vec<String>]) -> Range<usize> {
    let is_row = |row: &Vec<String>| row.iter().skip(1).any(|cell| !cell.trim().is_empty());
    let first = cells.iter().position(is_row).unwrap_or(0);
    first..cells.iter().rposition(is_row).map_or(0, |last| last + 1)
}

fn block(block: &TextBlock) -> Block {
    match block.block_type {
        BlockType::Heading => Block::Heading(block.heading_level.clamp(1, 6), block.text()),
        _ if block.lines.iter().all(is_monospaced) => Block::Verbatim(program(&block.lines)),
        BlockType::Paragraph | BlockType::Unknown => Block::Paragraph(block.text()),
        BlockType::ListItem => {
            let marker = block.list_item_number.map_or_else(|| "-".to_owned(), |number| mark(&block.text(), number));
            Block::Item { depth: 0, marker, text: block.list_item_text() }
        }
    }
}

/// The mark of an entry as the page has it: `2)`.
fn mark(text: &str, number: u32) -> String {
    let own = text.split_whitespace().next().filter(|sign| sign.trim_matches(['(', ')', '.']) == number.to_string());
    own.map_or_else(|| format!("{number}."), str::to_owned)
}

/// Whether a line is in a monospaced font, like program code.
fn is_monospaced(line: &TextLine) -> bool {
    let mut spans = line.spans.iter().filter(|span| !span.text.trim().is_empty()).peekable();
    spans.peek().is_some() && spans.all(|span| span.is_monospace)
}

/// The lines of program code with their indents, and blank lines for larger gaps.
fn program(lines: &[TextLine]) -> String {
    let left = lines.iter().map(|line| line.x).fold(f32::INFINITY, f32::min);
    let gaps = lines.windows(2).map(|pair| (pair[0].y - pair[1].y).abs());
    let size = lines.first().map_or(0.0, |line| line.font_size.abs()).max(f32::EPSILON);
    let pitch = gaps.clone().filter(|gap| *gap > 0.0).fold(f32::INFINITY, f32::min).clamp(size, size * 1.5);
    let blank = std::iter::once(0).chain(gaps.map(|gap| ((gap / pitch).round() as usize).saturating_sub(1).min(2)));
    let mut out = String::new();
    for (line, blank) in lines.iter().zip(blank) {
        let indent = ((line.x - left) / advance(line)).round().clamp(0.0, 256.0) as usize;
        out.extend(std::iter::repeat_n('\n', blank + usize::from(!out.is_empty())));
        out.extend(std::iter::repeat_n(' ', indent));
        out.push_str(&line.text());
    }
    out
}

/// The width of a character.
fn advance(line: &TextLine) -> f32 {
    let spans = line.spans.iter().filter(|span| !span.text.is_empty() && span.width > 0.0);
    let mut advances = spans.map(|span| span.width / span.text.chars().count() as f32);
    advances.next().unwrap_or(line.font_size.abs() * 0.6).max(f32::EPSILON)
}

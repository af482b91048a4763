//! An intermediate form of a page: blocks with their positions.

use super::lines::{Line, Lines, Part};
use crate::formats::blocks::Block;

/// A page as blocks.
#[derive(Debug, Default)]
pub(crate) struct Sheet {
    /// Position in the document, from 1.
    pub(crate) number: u32,
    /// Height in points.
    pub(crate) height: f32,
    /// Its text, in reading order.
    pub(crate) blocks: Vec<Placed>,
    /// Whether it has visible content and no words, usually a scan.
    pub(crate) silent: bool,
    /// Its text with the printed line ends, independent of the blocks.
    pub(crate) as_set: String,
    /// Findings outside its text.
    pub(crate) seen: Seen,
}

/// Findings of the first pass over a page, outside its text.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    /// Visible characters that no encoding of its fonts maps to text.
    pub(crate) lost: usize,
    /// Whether its text layer, made by OCR, was not a language.
    pub(crate) senseless: bool,
    /// Whether a part of it could not be unpacked.
    pub(crate) damaged: bool,
    /// Whether it could not be read at all, which was reported.
    pub(crate) failed: bool,
    /// Struck-out words, which are in its text nevertheless.
    pub(crate) struck: Option<String>,
    /// Texts that the file states for parts of it, in place of what their characters are.
    pub(crate) meant: Vec<String>,
    /// Whether it is a picture with little text beside it, such as a scan with a stamp.
    pub(crate) pictured: bool,
    /// Whether it shows pictures of some size beside its text.
    pub(crate) illustrated: bool,
}

impl Seen {
    /// Whether none of it explains why a page has no text.
    pub(crate) fn says_nothing(&self) -> bool {
        self.lost == 0 && !self.senseless && !self.damaged && !self.failed
    }
}

/// A block and its position.
#[derive(Debug)]
pub(crate) struct Placed {
    /// The text; a line end in it is a line end on the page.
    pub(crate) block: Block,
    /// The first line on the page, if the block could be traced to its lines.
    pub(crate) first: Option<Line>,
    /// How many lines it was traced to.
    pub(crate) lines: usize,
    /// Whether it runs in another direction than the lines of its page.
    pub(crate) aside: bool,
}

/// A page, and its painting operations.
pub(crate) struct Place {
    /// Position in the document, from 1.
    pub(crate) number: u32,
    /// Height in points.
    pub(crate) height: f32,
    /// How many times it shows text.
    pub(crate) text: u32,
    /// How many images it shows.
    pub(crate) images: u32,
    /// How many areas it fills.
    pub(crate) fills: u32,
}

impl Sheet {
    /// A page of blocks, split into the paragraphs that its lines show.
    pub(crate) fn new(page: Place, blocks: impl Iterator<Item = Block>, mut lines: Lines, seen: Seen) -> Self {
        let blocks = blocks.filter(|block| !block.is_empty());
        let mut blocks: Vec<Placed> = blocks.flat_map(|block| place(block, &mut lines)).collect();
        order_tables(&mut blocks, &mut lines);
        // A page that paints nothing, or only a few rules, is intentionally blank.
        let blank = page.text == 0 && page.images == 0 && page.fills < 20 && !seen.damaged;
        let silent = blocks.is_empty() && !blank;
        let as_set = lines.as_set().to_owned();
        Self { number: page.number, height: page.height, silent, blocks, as_set, seen }
    }

    /// The page with paragraphs that run in another direction, at its end.
    pub(crate) fn with_aside(mut self, paragraphs: Vec<String>) -> Self {
        self.silent &= paragraphs.is_empty();
        let placed = |text| Placed { block: Block::Paragraph(text), first: None, lines: 0, aside: true };
        self.blocks.extend(paragraphs.into_iter().map(placed));
        self
    }

    /// A page that could not be read.
    pub(crate) fn unread(number: u32) -> Self {
        Self { number, silent: true, seen: Seen { failed: true, ..Seen::default() }, ..Self::default() }
    }

    /// Whether most of its visible content is missing from its text.
    pub(crate) fn is_unread(&self) -> bool {
        let read = || self.blocks.iter().map(|placed| letters(&placed.block)).sum::<usize>();
        self.silent || self.seen.lost > read()
    }

    /// A page that the parser has read as a whole.
    pub(crate) fn of(page: &unpdf::Page, lines: Lines, seen: Seen) -> Self {
        let place = Place {
            number: page.number,
            height: page.height,
            text: page.text_op_count,
            images: page.image_op_count,
            fills: page.fill_op_count,
        };
        Self::new(place, page.elements.iter().filter_map(block), lines, seen)
    }
}

fn letters(block: &Block) -> usize {
    let count = |text: &str| text.chars().filter(|c| !c.is_whitespace()).count();
    match block {
        Block::Table(rows) => rows.iter().flatten().map(|cell| count(cell)).sum(),
        block => count(block.text()),
    }
}

/// Puts each table at its position: the parser places it by the paragraphs around it, which it may have joined.
fn order_tables(blocks: &mut Vec<Placed>, lines: &mut Lines) {
    for placed in blocks.iter_mut() {
        if let Block::Table(rows) = &mut placed.block {
            placed.first = lines.take_table(rows);
        }
    }
    let mut tables = Vec::new();
    for placed in std::mem::take(blocks) {
        match (&placed.block, placed.first) {
            (Block::Table(_), Some(line)) => tables.push((blocks.len(), line, placed)),
            _ => blocks.push(placed),
        }
    }
    // From last to first, so that of two with the same position the upper one comes first.
    for (index, line, table) in tables.into_iter().rev() {
        let at = standing(blocks, &line).unwrap_or(index);
        blocks.insert(at, table);
    }
}

/// Before the first block below the table in its column, or else after the last block of the column.
fn standing(blocks: &[Placed], table: &Line) -> Option<usize> {
    let mut lines = blocks.iter().map(|placed| placed.first);
    let below = lines.clone().position(|line| line.is_some_and(|line| table.is_above(&line)));
    below.or_else(|| Some(lines.rposition(|line| line.is_some_and(|line| line.shares_column(table)))? + 1))
}

fn place(block: Block, lines: &mut Lines) -> Vec<Placed> {
    let unplaced = |block| Placed { block, first: None, lines: 0, aside: false };
    match block {
        Block::Paragraph(text) => parts(&text, lines, |_, text| Block::Paragraph(text)),
        Block::Heading(level, text) => parts(&text, lines, |_, text| Block::Heading(level, text)),
        Block::Item { depth, marker, text } => parts(&text, lines, |index, text| match index {
            0 => Block::Item { depth, marker: marker.clone(), text },
            _ => Block::Paragraph(text),
        }),
        Block::Table(_) | Block::Verbatim(_) => vec![unplaced(block)],
    }
}

fn parts(text: &str, lines: &mut Lines, make: impl Fn(usize, String) -> Block) -> Vec<Placed> {
    let parts = lines.take(text).into_iter().enumerate();
    let placed = |(index, part): (usize, Part)| {
        let Part { text, first, lines, .. } = part;
        Placed { block: make(index, text), first, lines, aside: false }
    };
    parts.map(placed).collect()
}

fn block(block: &unpdf::Block) -> Option<Block> {
    match block {
        unpdf::Block::Paragraph(paragraph) => Some(paragraph_block(paragraph)),
        unpdf::Block::Table(table) => Some(Block::Table(rows(table))),
        unpdf::Block::Code { content } | unpdf::Block::Raw { content } => Some(Block::Verbatim(content.clone())),
        unpdf::Block::Image { .. }
        | unpdf::Block::HorizontalRule
        | unpdf::Block::PageBreak
        | unpdf::Block::SectionBreak => None,
    }
}

fn paragraph_block(paragraph: &unpdf::Paragraph) -> Block {
    let Some(list) = &paragraph.style.list_info else {
        let text = paragraph.plain_text();
        return match paragraph.heading_level() {
            Some(level) => Block::Heading(level, text),
            None => Block::Paragraph(text),
        };
    };
    // The marker in unpdf's form is the difference between the text with and without the list.
    let with_marker = paragraph.plain_text();
    let mut bare = paragraph.clone();
    bare.style.list_info = None;
    let text = bare.plain_text();
    let marker = with_marker.strip_suffix(&text).unwrap_or_default().trim();
    let marker = if marker.chars().any(char::is_alphanumeric) { marker } else { "-" };
    Block::Item { depth: usize::from(list.level), marker: marker.to_owned(), text }
}

/// The table's cells, each in its column.
pub(super) fn rows(table: &unpdf::Table) -> Vec<Vec<String>> {
    let width = table.column_count();
    let place = |(row, columns): (&unpdf::TableRow, Vec<usize>)| {
        let mut cells = vec![String::new(); width];
        for (cell, column) in row.cells.iter().zip(columns) {
            if let Some(target) = cells.get_mut(column) {
                *target = cell.plain_text();
            }
        }
        cells
    };
    table.rows.iter().zip(table.cell_columns()).map(place).collect()
}

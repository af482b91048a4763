//! DOCX. Runs in the parser child only.

mod beside;
mod copied;
mod fields;
mod joined;
mod labels;
mod markup;
mod numbering;
mod outline;
mod package;
mod prefixes;
mod properties;
mod relations;
mod shown;
mod symbols;

use super::blocks::{Block, LINE, label_of_rows, to_markdown};
use super::warnings::first_words;
use crate::Page;
use crate::candidates::is_mark;
use crate::child::Parsed;
use crate::child::protocol::{Failure, Trailer};
use undoc::model::{Block as Part, Cell, ListType, Paragraph, RevisionType, Table};

/// The text of the document as one page; tracked changes as if accepted, headers and footers left out.
pub(crate) fn extract(bytes: &[u8]) -> Parsed {
    // The parser reports files that are not archives better, such as a document with a password.
    let (document, mut told, chunks, charts) = match bytes.starts_with(ZIP) {
        true => {
            let package = package::open(bytes)?;
            (parse(&package.bytes)?, package.told, package.chunks, package.charts)
        }
        false => (parse(bytes)?, Vec::new(), Vec::new(), Vec::new()),
    };
    let mut blocks = Vec::new();
    for part in document.sections.iter().flat_map(|section| &section.content) {
        push(&mut blocks, part);
    }
    number(&mut blocks);
    let text = with_chunks(to_markdown(&blocks), &chunks);
    let of_charts = charts.iter().filter(|label| !text.contains(label.trim()));
    told.extend(of_charts.map(|label| format!("Not in the text: a chart, {}.", first_words(label))));
    if text.is_empty() {
        return Err(Failure::no_text(told));
    }
    let title = document.metadata.title.map(|title| title.trim().to_owned()).filter(|title| !title.is_empty());
    Ok((vec![Page { number: 1, text }], Trailer { title, warnings: told, ..Trailer::default() }))
}

const ZIP: &[u8] = b"PK\x03\x04";

fn parse(bytes: &[u8]) -> Result<undoc::model::Document, Failure> {
    undoc::parse_bytes(bytes).map_err(|error| match error {
        undoc::Error::Encrypted => Failure::Encrypted,
        other => Failure::damaged(other),
    })
}

/// Inserts the texts of pieces of other documents, which are already Markdown, at their places.
fn with_chunks(text: String, chunks: &[String]) -> String {
    let placed =
        |text: String, (number, chunk): (usize, &String)| text.replace(&markup::chunk_mark(number), chunk.trim());
    chunks.iter().enumerate().fold(text, placed)
}

fn push(blocks: &mut Vec<Block>, part: &Part) {
    match part {
        Part::Paragraph(paragraph) => blocks.push(paragraph_block(paragraph)),
        Part::Table(table) => blocks.push(Block::Table(rows(table))),
        Part::Note { label, content } => {
            let text = content.iter().map(plain_text).collect::<Vec<_>>().join(" ");
            blocks.push(Block::Paragraph(format!("[^{label}]: {text}")));
        }
        Part::PageBreak | Part::SectionBreak | Part::Image { .. } => {}
    }
}

fn paragraph_block(paragraph: &Paragraph) -> Block {
    let (level, text) = outline::take(&marked_text(paragraph));
    let heading = Some(level.unwrap_or(paragraph.heading.level())).filter(|level| *level > 0);
    let (label, text) = labels::split(&text);
    if let Some(label) = label {
        return match label.glued && !is_mark(&label.sign) && !text.trim().is_empty() {
            true => Block::labelled(heading, label.level, "", label.sign + &text),
            false => Block::labelled(heading, label.level, &label.sign, text),
        };
    }
    if let Some(level) = heading {
        return Block::Heading(level, text);
    }
    match &paragraph.list_info {
        Some(list) if list.list_type != ListType::None => {
            let marker = list.number.map_or_else(|| "-".to_owned(), |number| format!("{number}."));
            Block::Item { depth: usize::from(list.level), marker, text }
        }
        _ => styled(paragraph, text),
    }
}

/// Word's built-in list styles define bullets and numbers in the style, which the parser does not read.
fn styled(paragraph: &Paragraph, text: String) -> Block {
    let style = paragraph.style_name.as_deref().unwrap_or_default().to_ascii_lowercase();
    let depth = style.chars().next_back().and_then(|c| c.to_digit(10)).map_or(0, |level| level.saturating_sub(1));
    let marker = match style {
        _ if style.starts_with("list bullet") => "-",
        _ if style.starts_with("list number") => NUMBERED,
        _ => return Block::Paragraph(text),
    };
    Block::Item { depth: depth as usize, marker: marker.to_owned(), text }
}

/// Placeholder for a number that depends on the position in the list.
const NUMBERED: &str = "#.";

/// Counts the entries of numbered lists, each depth by itself, from 1 after anything that is no entry.
fn number(blocks: &mut [Block]) {
    let mut counts: Vec<u32> = Vec::new();
    for block in blocks.iter_mut() {
        let Block::Item { depth, marker, .. } = block else {
            counts.clear();
            continue;
        };
        counts.resize(*depth + 1, 0);
        if marker == NUMBERED {
            counts[*depth] += 1;
            *marker = format!("{}.", counts[*depth]);
        }
    }
}

/// A paragraph's words, its label before them.
fn plain_text(paragraph: &Paragraph) -> String {
    let (label, text) = labels::split(&outline::take(&marked_text(paragraph)).1);
    match label {
        Some(label) if !label.sign.is_empty() && !text.trim().is_empty() => {
            format!("{} {}", label.sign, text.trim_start())
        }
        _ => text,
    }
}

/// The words without tracked deletions, with the marks of level and label; a line break is kept, a page break becomes a
/// space.
fn marked_text(paragraph: &Paragraph) -> String {
    let mut text = String::new();
    for run in paragraph.runs.iter().filter(|run| run.revision != RevisionType::Deleted) {
        text.push_str(&run.text);
        if let Some(label) = &run.note {
            text.push_str(&format!("[^{label}]"));
        }
        if run.line_break || run.page_break {
            text.push('\n');
        }
    }
    text
}

/// The table's cells, each in its column, and labels in each row that they span.
fn rows(table: &Table) -> Vec<Vec<String>> {
    let mut rows = vec![vec![String::new(); table.column_count()]; table.rows.len()];
    for (index, (row, columns)) in table.rows.iter().zip(table.cell_columns()).enumerate() {
        for (cell, column) in row.cells.iter().zip(columns) {
            let text = cell_text(cell);
            let below = std::iter::repeat_n(label_of_rows(&text), (cell.row_span as usize).saturating_sub(1));
            for (row, text) in rows.iter_mut().skip(index).zip(std::iter::once(text.as_str()).chain(below)) {
                if let Some(target) = row.get_mut(column) {
                    target.push_str(text);
                }
            }
        }
    }
    rows
}

/// A cell's paragraphs, among them those of the tables in it: see [`markup`].
fn cell_text(cell: &Cell) -> String {
    let lines = cell.content.iter().map(|paragraph| plain_text(paragraph).replace('\n', LINE));
    lines.filter(|text| !text.trim().is_empty()).collect::<Vec<_>>().join(LINE)
}

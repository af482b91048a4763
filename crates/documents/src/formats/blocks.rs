//! Blocks of text, the common representation of structured formats, and their Markdown form.
//!
//! Emphasis is omitted on purpose: a citation quotes words, and asterisks between them would make a correct quote fail.
//! For the same reason nothing is escaped.

use crate::candidates::is_mark;
pub(crate) use crate::page_marks::LINE;
use plumbline_engine::one_line;

/// A self-contained part of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Block {
    /// A heading, level 1 to 6.
    Heading(u8, String),
    /// Running text.
    Paragraph(String),
    /// One entry of a list.
    Item {
        /// Nesting, 0 for the outermost list.
        depth: usize,
        /// The number of a numbered entry with its punctuation, `-` otherwise.
        marker: String,
        /// The entry's text.
        text: String,
    },
    /// Rows of cells; the first is the header. The lines of a cell are separated by [`LINE`].
    Table(Vec<Vec<String>>),
    /// Text with significant line ends and indents.
    Verbatim(String),
}

impl Block {
    /// A paragraph or heading with the label that a word processor shows. The entry of a list is one whose label is a
    /// mark of entries for the candidate scan.
    pub(crate) fn labelled(heading: Option<u8>, depth: usize, sign: &str, text: String) -> Self {
        let whole = match sign {
            _ if text.trim().is_empty() => String::new(),
            "" => text,
            sign if heading.is_none() && is_mark(sign) => {
                return Self::Item { depth, marker: sign.to_owned(), text };
            }
            sign => format!("{sign} {}", text.trim_start()),
        };
        match heading {
            Some(level) => Self::Heading(level, whole),
            None => Self::Paragraph(whole),
        }
    }

    /// The block's words, for comparison with others; a table has none, because tables do not repeat on other pages.
    pub(crate) fn text(&self) -> &str {
        match self {
            Self::Heading(_, text) | Self::Paragraph(text) | Self::Item { text, .. } | Self::Verbatim(text) => text,
            Self::Table(_) => "",
        }
    }

    /// Whether it is empty.
    pub(crate) fn is_empty(&self) -> bool {
        match self {
            Self::Table(rows) => rows.iter().flatten().all(|cell| cell.trim().is_empty()),
            _ => self.text().trim().is_empty(),
        }
    }
}

/// Words of a cell that is a label of its rows.
const MOST_OF_A_LABEL: usize = 3;

/// The text of a cell in the further rows that it spans: a label, such as a number, names each of them; a sentence counts
/// once.
pub(crate) fn label_of_rows(cell: &str) -> &str {
    let is_label =
        cell.split_whitespace().count() <= MOST_OF_A_LABEL && !cell.trim_end().ends_with(['.', ';', '!', '?']);
    if is_label { cell } else { "" }
}

/// The blocks as Markdown: a blank line between blocks, none between the entries of a list.
pub(crate) fn to_markdown(blocks: &[Block]) -> String {
    let mut out = String::new();
    let mut in_list = false;
    for block in blocks.iter().filter(|block| !block.is_empty()) {
        let is_item = matches!(block, Block::Item { .. });
        if !out.is_empty() {
            out.push_str(if in_list && is_item { "\n" } else { "\n\n" });
        }
        in_list = is_item;
        write_block(&mut out, block);
    }
    out
}

fn write_block(out: &mut String, block: &Block) {
    match block {
        Block::Heading(level, text) => {
            out.extend(std::iter::repeat_n('#', usize::from((*level).clamp(1, 6))));
            out.push(' ');
            out.push_str(&one_line(text));
        }
        Block::Paragraph(text) if text.trim().starts_with('#') => write_verbatim(out, text.trim()),
        Block::Paragraph(text) => out.push_str(text.trim()),
        Block::Item { depth, marker, text } => {
            out.extend(std::iter::repeat_n("  ", *depth));
            out.push_str(marker);
            out.push(' ');
            out.push_str(&one_line(text));
        }
        Block::Table(rows) => write_table(out, rows),
        Block::Verbatim(text) => write_verbatim(out, text.trim_matches('\n')),
    }
}

/// Indented as Markdown code, so that a comment in a program, `# like this`, does not become a heading.
fn write_verbatim(out: &mut String, text: &str) {
    for (index, line) in text.lines().enumerate() {
        if index > 0 {
            out.push('\n');
        }
        if !line.trim().is_empty() {
            out.push_str("    ");
            out.push_str(line.trim_end());
        }
    }
}

fn write_table(out: &mut String, rows: &[Vec<String>]) {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    for (index, row) in rows.iter().enumerate() {
        if index > 0 {
            out.push('\n');
        }
        for column in 0..columns {
            let cell = row.get(column).map(|cell| lines(cell).replace('|', "\\|")).unwrap_or_default();
            out.push_str(if column == 0 { "| " } else { " | " });
            out.push_str(&cell);
        }
        out.push_str(" |");
        if index == 0 {
            out.push_str("\n|");
            out.extend(std::iter::repeat_n(" --- |", columns));
        }
    }
}

/// A cell's lines, without empty ones.
fn lines(cell: &str) -> String {
    let lines = cell.split(LINE).map(one_line).filter(|line| !line.is_empty());
    lines.collect::<Vec<_>>().join(LINE)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(depth: usize, marker: &str, text: &str) -> Block {
        Block::Item { depth, marker: marker.to_owned(), text: text.to_owned() }
    }

    #[test]
    fn structure_is_written_as_markdown() {
        let row = |cells: [&str; 2]| cells.map(str::to_owned).to_vec();
        let blocks = [
            Block::Heading(2, "2.1\nRecords".into()),
            Block::Paragraph("Kinds:".into()),
            item(0, "-", "letters"),
            item(1, "2.", "invoices"),
            Block::Paragraph("  ".into()),
            Block::Table(vec![row(["Kind", "Years"]), row(["a | b", "10"]), row(["c\nd", "1\u{2028}\u{2028} 2"])]),
            Block::Verbatim("  # a\n   b\n".into()),
        ];
        let expected = "## 2.1 Records\n\nKinds:\n\n- letters\n  2. invoices\n\n\
                        | Kind | Years |\n| --- | --- |\n| a \\| b | 10 |\n| c d | 1\u{2028}2 |\n\n      # a\n       b";
        assert_eq!(to_markdown(&blocks), expected);
    }
}

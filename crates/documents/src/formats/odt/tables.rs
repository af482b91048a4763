//! Tables, which may be nested.

use crate::formats::blocks::{Block, LINE, label_of_rows};

/// Maximum repetitions of a cell: spreadsheets repeat an empty one to the sheet's edge.
const MAX_REPEATS: usize = 64;

/// A table that is being read.
#[derive(Default)]
struct Open {
    rows: Vec<Vec<String>>,
    row: Vec<String>,
    cell: Option<Cell>,
    /// For each column, how many further rows the cell above takes, and its text in them.
    spanned: Vec<(usize, String)>,
}

#[derive(Default)]
struct Cell {
    text: String,
    /// How often it occurs in its row.
    repeats: usize,
    /// How many further rows it takes.
    below: usize,
}

/// The tables around the current position, outermost first.
#[derive(Default)]
pub(crate) struct Tables(Vec<Open>);

impl Tables {
    pub(crate) fn begin(&mut self) {
        self.0.push(Open::default());
    }

    /// Ends a table. A table inside a cell becomes text of that cell.
    pub(crate) fn end(&mut self) -> Option<Block> {
        let rows = self.0.pop()?.rows;
        if self.0.is_empty() {
            return Some(Block::Table(rows));
        }
        for row in rows {
            self.take(row.join(" ").trim());
        }
        None
    }

    pub(crate) fn end_row(&mut self) {
        if let Some(table) = self.0.last_mut() {
            let mut row = std::mem::take(&mut table.row);
            while row.len() > 1 && row.last().is_some_and(String::is_empty) {
                row.pop();
            }
            if !row.is_empty() {
                table.rows.push(row);
            }
        }
    }

    /// `repeats`: how often the cell is in its row; `rows`: how many rows it takes.
    pub(crate) fn begin_cell(&mut self, repeats: Option<usize>, rows: Option<usize>) {
        if let Some(table) = self.0.last_mut() {
            let (repeats, rows) = (repeats.unwrap_or(1).clamp(1, MAX_REPEATS), rows.unwrap_or(1));
            table.cell = Some(Cell { text: String::new(), repeats, below: rows.saturating_sub(1) });
        }
    }

    pub(crate) fn end_cell(&mut self) {
        if let Some(table) = self.0.last_mut()
            && let Some(cell) = table.cell.take()
        {
            table.spanned.resize(table.spanned.len().max(table.row.len() + cell.repeats), Default::default());
            if cell.below > 0 {
                table.spanned[table.row.len()] = (cell.below, label_of_rows(&cell.text).to_owned());
            }
            table.row.extend(std::iter::repeat_n(cell.text, cell.repeats));
        }
    }

    /// A cell that another one covers: the label of one above it, else empty.
    pub(crate) fn covered_cell(&mut self, repeats: Option<usize>) {
        for _ in 0..repeats.unwrap_or(1).clamp(1, MAX_REPEATS) {
            let Some(table) = self.0.last_mut() else { return };
            let above = table.spanned.get_mut(table.row.len()).filter(|(below, _)| *below > 0);
            let text = above.map(|(below, label)| {
                *below -= 1;
                label.clone()
            });
            table.row.push(text.unwrap_or_default());
        }
    }

    /// Whether the current position is in a cell.
    pub(crate) fn in_cell(&self) -> bool {
        self.0.last().is_some_and(|table| table.cell.is_some())
    }

    /// Adds a paragraph to the present cell.
    pub(crate) fn take(&mut self, paragraph: &str) {
        if let Some(cell) = self.0.last_mut().and_then(|table| table.cell.as_mut()).map(|cell| &mut cell.text) {
            if !cell.is_empty() && !paragraph.is_empty() {
                cell.push_str(LINE);
            }
            cell.push_str(&paragraph.replace('\n', LINE));
        }
    }
}

//! Tables: which rows are column names, and what the columns imply for the other rows.

use super::blocks::{Block, Kind, inline};
use super::markup::{LEAST_WORDS, says_something};
use crate::page_marks::LINE;
use std::ops::Range;

/// Words in the name of a column whose cells are obligations.
const DUTIES: [&str; 16] = [
    "requirement",
    "obligation",
    "duty",
    "duties",
    "mandatory",
    "must",
    "shall",
    "to be done",
    "action required",
    "anforderung",
    "pflicht",
    "vorgabe",
    "muss",
    "auflage",
    "gebot",
    "soll",
];

/// Words in the name of a column that states whether a row is binding.
const BINDING: [&str; 22] = [
    "mandatory",
    "obligat",
    "obligation",
    "compulsory",
    "binding",
    "level",
    "priorit",
    "must",
    "shall",
    "should",
    "optional",
    "m/o",
    "modality",
    "required?",
    "normative",
    "pflicht",
    "verbindlich",
    "muss",
    "soll",
    "stufe",
    "erforderlich",
    "notwendig",
];

/// Complete names of columns.
const BINDING_NAMES: [&str; 6] = ["required", "m", "status", "need", "type", "art"];

/// Cells that mark a row as not binding, in such a column.
const OPTIONAL: [&str; 16] = [
    "optional",
    "may",
    "no",
    "can",
    "could",
    "voluntary",
    "informative",
    "not required",
    "o",
    "kann",
    "nein",
    "freiwillig",
    "entfällt",
    "nicht erforderlich",
    "informativ",
    "wünschenswert",
];

/// In a table with one requirement, the names of the rows with its text.
const STATEMENTS: [&str; 16] = [
    "requirement",
    "requirement text",
    "requirement statement",
    "requirement description",
    "description of requirement",
    "obligation",
    "control",
    "control statement",
    "policy statement",
    "rule",
    "anforderung",
    "anforderungstext",
    "beschreibung der anforderung",
    "pflicht",
    "vorgabe",
    "auflage",
];

/// The same, if other rows show that the table describes a requirement.
const DESCRIPTIONS: [&str; 10] = [
    "description",
    "statement",
    "text",
    "details",
    "definition",
    "fit criterion",
    "acceptance criteria",
    "acceptance criterion",
    "beschreibung",
    "akzeptanzkriterium",
];

/// Names of the other rows of such a table.
const PROPERTIES: [&str; 30] = [
    "id",
    "req id",
    "req. id",
    "requirement id",
    "requirement no",
    "no",
    "number",
    "name",
    "title",
    "priority",
    "status",
    "source",
    "origin",
    "rationale",
    "verification",
    "verification method",
    "type",
    "category",
    "owner",
    "author",
    "version",
    "dependencies",
    "nr",
    "nummer",
    "titel",
    "priorität",
    "quelle",
    "begründung",
    "kategorie",
    "verantwortlich",
];

/// A cell with this many words is not a column name.
const WORDS_OF_A_STATEMENT: usize = 6;

/// One table of a text, and its properties.
pub(super) struct Table {
    /// The names of its columns in lower case; none if no row names them.
    columns: Option<Vec<String>>,
    /// Whether a column's name marks its cells as obligations.
    names_duties: bool,
    /// Whether it describes one requirement, one property per row.
    is_card: bool,
}

/// A row of the table.
pub(super) struct Row<'a> {
    pub(super) text: &'a str,
    /// Whether the format marks it as the row of column names.
    pub(super) header: bool,
}

impl Table {
    /// Analyses a table; `states` decides whether a cell states an obligation by its words.
    pub(super) fn of(rows: &[Row<'_>], states: impl Fn(&str) -> bool) -> Self {
        let is_card = is_card(rows);
        let header = rows.first().filter(|first| first.header && rows.len() > 1 && !is_card);
        let header = header.filter(|first| !says_by_itself(first.text, states));
        let columns: Option<Vec<String>> = header.map(|first| cells(first.text).map(str::to_lowercase).collect());
        let names_duties = columns.iter().flatten().any(|name| DUTIES.iter().any(|duty| name.contains(duty)));
        Self { columns, names_duties, is_card }
    }

    /// Whether a row is the column names: the first row of a table, and its repetition on the next page.
    pub(super) fn is_header(&self, row: &str) -> bool {
        let names = || cells(row).map(str::to_lowercase);
        self.columns.as_ref().is_some_and(|columns| names().eq(columns.iter().cloned()))
    }

    /// Whether a row states an obligation because of the table, not its own words.
    pub(super) fn states_duty(&self, row: &str) -> bool {
        match self.is_card {
            true => names_and_values(row).any(|(name, value)| is_statement(name) && says_something(value)),
            false => {
                let names_it = || names_and_values(row).next();
                self.names_duties
                    || (self.columns.is_none() && names_it().is_some_and(|(name, _)| is_one_of(&STATEMENTS, name)))
            }
        }
    }

    /// Whether a row is marked as not binding, in a column for this purpose.
    pub(super) fn is_optional(&self, row: &str) -> bool {
        let columns = self.columns.iter().flatten();
        columns.zip(cells(row)).any(|(name, cell)| decides(name) && OPTIONAL.contains(&cell.to_lowercase().as_str()))
    }
}

/// The number of blocks that belong to the table at the beginning of these blocks.
pub(super) fn length(blocks: &[Block]) -> usize {
    let is_more = |block: &&Block| matches!(block.kind, Kind::Row { first: false, .. });
    1 + blocks.iter().skip(1).take_while(is_more).count()
}

/// The cells of a row, as the document parser writes it, without the quotation marks around one.
pub(super) fn cells(row: &str) -> impl Iterator<Item = &str> {
    row.split(" | ").map(|cell| unquoted(cell.trim()))
}

/// A part of a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) range: Range<usize>,
    pub(super) kind: PartKind,
}

/// The kind of a part of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PartKind {
    /// The row, up to the entries of the first list in its cells.
    Row,
    /// An entry of a list.
    Entry,
    /// A line of a cell below the cell's first one; `led`: the first one introduces it, `The log has:`.
    Line { led: bool },
    /// The text after a list.
    Rest,
}

/// A row, split at the entries of the lists and at the lines in its cells.
pub(super) fn parts(row: &str) -> Vec<Part> {
    let mut parts = Vec::new();
    let (mut begin, mut kind, mut at) = (0, PartKind::Row, 0);
    for cell in row.split_inclusive(" | ") {
        let text = cell.strip_suffix(" | ").unwrap_or(cell);
        let mut from = at;
        if let Some(list) = inline::list(text) {
            add(&mut parts, row, begin..at + list.begin, kind);
            let entries = list.entries.into_iter().map(|(_, range)| at + range.start..at + range.end);
            parts.extend(entries.map(|range| Part { range, kind: PartKind::Entry }));
            from += text.len() - text[list.end..].trim_start().len();
            (begin, kind) = (from, PartKind::Rest);
        }
        let rest = &row[from..at + text.len()];
        if let Some(lines) = inline::lines(rest) {
            let first = rest.split(LINE).next().unwrap_or_default();
            add(&mut parts, row, begin..from + first.len(), kind);
            let kind_of_lines = PartKind::Line { led: first.trim_end().ends_with(':') };
            let ranges = lines.into_iter().map(|range| from + range.start..from + range.end);
            parts.extend(ranges.map(|range| Part { range, kind: kind_of_lines }));
            (begin, kind) = (at + text.len(), PartKind::Rest);
        }
        at += cell.len();
    }
    match kind {
        PartKind::Row => parts.push(Part { range: 0..row.len(), kind }),
        _ => add(&mut parts, row, begin..row.len(), kind),
    }
    parts
}

/// Adds the text of a row between lists, if it has words.
fn add(parts: &mut Vec<Part>, row: &str, range: Range<usize>, kind: PartKind) {
    let is_edge = |sign: char| sign.is_whitespace() || sign == '|';
    let text = row[range.clone()].trim_end_matches(is_edge);
    let start = range.start + text.len() - text.trim_start_matches(is_edge).len();
    if kind == PartKind::Row || text.contains(char::is_alphanumeric) {
        parts.push(Part { range: start..range.start + text.len(), kind });
    }
}

/// A cell without the quotation marks that a spreadsheet adds.
pub(super) fn unquoted(cell: &str) -> &str {
    let inner = cell.strip_prefix('"').map(|rest| rest.strip_suffix('"').unwrap_or(rest));
    inner.filter(|inner| !inner.contains('"')).unwrap_or(cell)
}

/// Whether a row with the layout of column names is an ordinary row: one of its cells is a statement.
fn says_by_itself(row: &str, states: impl Fn(&str) -> bool) -> bool {
    cells(row).any(|cell| {
        let words = cell.split_whitespace().count();
        words >= WORDS_OF_A_STATEMENT || (words > LEAST_WORDS && states(cell))
    })
}

/// Whether a column of this name decides whether a row is binding.
fn decides(name: &str) -> bool {
    let name = name.trim();
    BINDING_NAMES.contains(&name) || BINDING.iter().any(|word| name.contains(word))
}

/// The names and values of properties that are side by side in a row.
fn names_and_values(row: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut cells = cells(row);
    std::iter::from_fn(move || Some((cells.next()?, cells.next()?)))
}

fn is_one_of(names: &[&str], name: &str) -> bool {
    names.contains(&name.trim_end_matches([':', '.']).trim().to_lowercase().as_str())
}

fn is_statement(name: &str) -> bool {
    is_one_of(&STATEMENTS, name) || is_one_of(&DESCRIPTIONS, name)
}

/// Whether a table describes one requirement, with its properties below or beside each other.
fn is_card(rows: &[Row<'_>]) -> bool {
    let pairs = || rows.iter().flat_map(|row| names_and_values(row.text));
    let even = rows.iter().all(|row| cells(row.text).count().is_multiple_of(2));
    let known = pairs().filter(|(name, _)| is_statement(name) || is_one_of(&PROPERTIES, name)).count();
    // In a table with one thing per row, only one line begins with such a name.
    even && known >= 2
        && known * 2 >= pairs().count()
        && pairs().any(|(name, _)| is_statement(name))
        && rows.iter().filter(|row| names_and_values(row.text).any(|(name, _)| is_statement(name))).count() <= 2
}

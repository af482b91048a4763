//! Tables as text, CSV and TSV: one row per record, one cell per field, with the lines of the field.
//!
//! The separator is found by counting, the character that splits the most records into the same number of fields, unless
//! the first line names it.

use super::{clean, decode};
use crate::Page;
use crate::child::Parsed;
use crate::child::protocol::{Failure, Trailer};
use crate::formats::blocks::{Block, LINE, to_markdown};
use std::collections::HashMap;

/// Possible separators; of two that fit equally, the first.
const SEPARATORS: [char; 4] = [';', '\t', ',', '|'];
/// Records examined to find the separator.
const PROBED_RECORDS: usize = 200;

/// No separator: each record is one field.
const NONE: char = '\0';

/// The table as Markdown.
pub(crate) fn extract(bytes: &[u8]) -> Parsed {
    let (text, warning) = decode(bytes);
    let mut rows = rows(&clean(&text).replace('\u{c}', "\n"));
    if rows.is_empty() {
        return Err(Failure::no_text(Vec::new()));
    }
    rows.iter_mut().flatten().for_each(|cell| *cell = cell.replace('\n', LINE));
    let page = Page { number: 1, text: to_markdown(&[Block::Table(rows)]) };
    Ok((vec![page], Trailer { warnings: warning.into_iter().collect(), ..Trailer::default() }))
}

/// The rows of CSV or TSV that are not empty, with the text of each cell.
pub fn rows(text: &str) -> Vec<Vec<String>> {
    let records = match declared(text) {
        Some((separator, text)) => Records::new(text, separator),
        None => Records::new(text, separator(text).unwrap_or(NONE)),
    };
    let trimmed = records.map(|row| row.into_iter().map(|cell| cell.trim().to_owned()).collect::<Vec<_>>());
    trimmed.filter(|row| says_something(row)).collect()
}

/// The separator that the first line names, `sep=;`, as Excel takes it, and the text behind that line.
fn declared(text: &str) -> Option<(char, &str)> {
    let (line, rest) = text.split_once('\n')?;
    let line = line.trim_start_matches('\u{feff}').trim_end_matches('\r').trim_matches('"');
    let mut named = line.strip_prefix("sep=")?.chars();
    let separator = named.next()?;
    named.next().is_none().then_some((separator, rest))
}

fn says_something(row: &[String]) -> bool {
    row.iter().any(|cell| !cell.is_empty())
}

/// The character that splits most records into the same number of fields, two or more.
fn separator(text: &str) -> Option<char> {
    let fit = |separator: char| {
        let mut widths: HashMap<usize, usize> = HashMap::new();
        let records =
            Records::new(text, separator).take(PROBED_RECORDS).filter(|row| row.len() > 1 || says_something(row));
        let count = records.map(|row| *widths.entry(row.len()).and_modify(|count| *count += 1).or_insert(1)).count();
        let alike = widths.into_iter().filter(|(width, _)| *width > 1).max_by_key(|(width, alike)| (*alike, *width));
        alike.filter(|(_, alike)| alike * 2 > count).map(|(_, alike)| (alike, separator))
    };
    let fits = SEPARATORS.into_iter().filter_map(fit);
    fits.reduce(|best, next| if next.0 > best.0 { next } else { best }).map(|(_, separator)| separator)
}

/// The records of a text. A field that begins with a quotation mark ends with the next unescaped one, even over several
/// lines.
struct Records<'a> {
    rest: &'a str,
    separator: char,
}

impl<'a> Records<'a> {
    fn new(text: &'a str, separator: char) -> Self {
        Self { rest: text, separator }
    }

    /// The next field, and whether it is the last of its record.
    fn field(&mut self) -> (String, bool) {
        let mut field = String::new();
        // Spaces before a quotation mark are none of the field.
        let text = self.rest.trim_start_matches(' ');
        if text.starts_with('"') && self.separator != NONE {
            self.rest = text;
        }
        let mut rest = self.rest.chars().peekable();
        let mut quoted = rest.next_if_eq(&'"').is_some();
        let mut taken = usize::from(quoted);
        let mut last = true;
        while let Some(character) = rest.next() {
            taken += character.len_utf8();
            match character {
                '"' if quoted && rest.next_if_eq(&'"').is_some() => {
                    taken += 1;
                    field.push('"');
                }
                '"' if quoted => quoted = false,
                '\n' if !quoted => break,
                _ if character == self.separator && !quoted => {
                    last = false;
                    break;
                }
                _ => field.push(character),
            }
        }
        self.rest = &self.rest[taken..];
        (field, last)
    }
}

impl Iterator for Records<'_> {
    type Item = Vec<String>;

    fn next(&mut self) -> Option<Vec<String>> {
        if self.rest.is_empty() {
            return None;
        }
        let mut row = Vec::new();
        loop {
            let (field, last) = self.field();
            row.push(field);
            if last {
                return Some(row);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::extract;

    fn text(table: &str) -> String {
        extract(table.as_bytes()).expect("a table").0.remove(0).text
    }

    #[test]
    fn records_are_rows_whatever_parts_their_fields() {
        let expected =
            "| Id | Rule |\n| --- | --- |\n| R-1 | It shall log, always. |\n| R-2 | It shall \"lock\" after five. |";
        for table in [
            "Id;Rule\r\nR-1;It shall log, always.\r\nR-2;\"It shall \"\"lock\"\"\r\nafter five.\"\r\n",
            "sep=:\r\nId:Rule\r\nR-1:It shall log, always.\r\nR-2:It shall \"lock\" after five.\r\n",
            "Id\tRule\nR-1\tIt shall log, always.\nR-2\tIt shall \"lock\" after five.",
            "Id, Rule\n\nR-1, \"It shall log, always.\"\nR-2,\"It shall \"\"lock\"\" after five.\"",
        ] {
            assert_eq!(text(table).replace('\u{2028}', " "), expected, "{table}");
        }
    }

    #[test]
    fn the_lines_of_a_field_stay_apart() {
        let table = text("Id;Rule\n1;\"It shall log.\r\n\r\nIt shall sign.\"");
        assert!(table.ends_with("| 1 | It shall log.\u{2028}It shall sign. |"), "{table:?}");
    }

    #[test]
    fn a_list_of_sentences_is_a_table_of_one_column() {
        let list = "Rule\nInvoices must be kept, always.\n\"Letters must be kept.\"\nOffers need not.";
        let rows = "| Invoices must be kept, always. |\n| Letters must be kept. |\n| Offers need not. |";
        assert_eq!(text(list), format!("| Rule |\n| --- |\n{rows}"));
    }

    #[test]
    fn a_field_without_an_end_loses_nothing() {
        assert_eq!(text("a;b\n1;\"open\n2;3"), "| a | b |\n| --- | --- |\n| 1 | open\u{2028}2;3 |");
    }
}

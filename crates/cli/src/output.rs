//! What commands print: tables on terminals and in pipes alike, JSON where asked for. A closed pipe is no error.

use crate::failure::Failure;
use comfy_table::{ColumnConstraint, ContentArrangement, Table, presets};
use serde::Serialize;
use std::io::{self, Write};

/// Prints lines; a reader that went away (`| head`) ends the command quietly.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    match writeln!(io::stdout().lock(), "{text}") {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        Err(error) => Err(Failure::new(format!("the output could not be written: {error}"))),
    }
}

/// Prints a value as JSON, indented.
pub(crate) fn json(value: &impl Serialize) -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(value)
        .map_err(|error| Failure::new(format!("the output could not be written as JSON: {error}")))?;
    print(&text)
}

/// A table that fits the terminal.
pub(crate) fn table(header: &[&str]) -> Table {
    let mut table = Table::new();
    table
        .load_style(presets::UTF8_HORIZONTAL_ONLY)
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_header(header.to_vec());
    if !io::IsTerminal::is_terminal(&io::stdout()) {
        // A pipe has no width; long cells stay readable all the same.
        table.set_width(120);
    }
    table
}

/// Keeps a column's cells on one line, for ids that are to be copied.
pub(crate) fn keep_whole(table: &mut Table, column: usize) {
    if let Some(column) = table.column_mut(column) {
        column.set_constraint(ColumnConstraint::ContentWidth);
    }
}

/// At most `most` characters, on one line.
pub(crate) fn short(text: &str, most: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= most {
        return line;
    }
    let cut: String = line.chars().take(most.saturating_sub(1)).collect();
    format!("{}…", cut.trim_end())
}

/// `12,345`.
pub(crate) fn thousands(number: i64) -> String {
    let digits = number.unsigned_abs().to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    if number < 0 { format!("-{out}") } else { out }
}

#[cfg(test)]
mod tests {
    use super::{short, thousands};

    #[test]
    fn numbers_and_lines_are_readable() {
        assert_eq!(thousands(0), "0");
        assert_eq!(thousands(999), "999");
        assert_eq!(thousands(-1_234_567), "-1,234,567");
        assert_eq!(short("a\n  b", 10), "a b");
        assert_eq!(short("abcdefgh", 5), "abcd…");
    }
}

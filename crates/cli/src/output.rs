//! Output of commands: tables on terminals and in pipes, JSON on request. A closed pipe is not an error.

use crate::{
    error::Failure,
    terminal::{Look, printable},
};
use comfy_table::{CellAlignment, ContentArrangement, LineStyle, Table, TableStyle, presets};
use plumbline_engine::one_line;
use serde::Serialize;
use std::io::{self, Write};
use uuid::Uuid;

/// Prints lines; a reader that went away (`| head`) ends the command quietly.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    match writeln!(io::stdout().lock(), "{}", printable(text, Look::of_stdout().has_colours())) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        Err(error) => Err(Failure::new(format!("the output could not be written: {error}"))),
    }
}

/// Prints a remark on the output beside it, so that a pipe holds the output alone.
pub(crate) fn note(text: &str) {
    eprintln!("plumbline: {}", printable(text, false));
}

/// Prints a value as JSON, indented.
pub(crate) fn json(value: &impl Serialize) -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(value)
        .map_err(|error| Failure::new(format!("the output could not be written as JSON: {error}")))?;
    print(&text)
}

/// Prints a value as JSON on one line.
pub(crate) fn json_line(value: &impl Serialize) -> Result<(), Failure> {
    let text = serde_json::to_string(value)
        .map_err(|error| Failure::new(format!("the output could not be written as JSON: {error}")))?;
    print(&text)
}

/// The error for an unknown job.
pub(crate) fn no_job(job: Uuid) -> Failure {
    no_job_like(&job.to_string())
}

/// The error for an id, or the beginning of one, that no visible job has.
pub(crate) fn no_job_like(named: &str) -> Failure {
    Failure::new(format!(
        "there is no job {named} in this database, or none that this login sees (an approver sees jobs in review, an \
         enqueuer its own); `plumbline status` lists the jobs"
    ))
}

/// One rule, below the header.
const RULED: TableStyle = TableStyle::new().header_separator(LineStyle::none().fill('─').junction('─'));

/// A table that fits the terminal.
pub(crate) fn table(header: &[&str]) -> Table {
    let mut table = Table::new();
    table.load_style(RULED).set_content_arrangement(ContentArrangement::Dynamic).set_header(header.to_vec());
    // A pipe has no width; long cells are still wrapped.
    table.set_width(u16::try_from(Look::of_stdout().width()).unwrap_or(u16::MAX));
    table
}

/// A table with one line per row; the caller ensures that it fits.
pub(crate) fn lined_up(header: &[&str]) -> Table {
    let mut table = Table::new();
    table
        .load_style(presets::NOTHING)
        .set_content_arrangement(ContentArrangement::Disabled)
        .set_header(header.to_vec());
    table
}

/// Right-aligns a column, for numbers.
pub(crate) fn align_right(table: &mut Table, column: usize) {
    if let Some(column) = table.column_mut(column) {
        column.set_cell_alignment(CellAlignment::Right);
    }
}

/// At most `most` characters, on one line.
pub(crate) fn short(text: &str, most: usize) -> String {
    let line = one_line(text);
    if line.chars().count() <= most {
        return line;
    }
    let cut: String = line.chars().take(most.saturating_sub(1)).collect();
    format!("{}…", cut.trim_end())
}

/// `45 s`, `12 min 5 s`, `3 h 12 min`, `4 d 3 h`.
pub(crate) fn duration(seconds: i64) -> String {
    let parts = [("d", seconds / 86_400), ("h", seconds / 3_600 % 24), ("min", seconds / 60 % 60), ("s", seconds % 60)];
    let first = parts.iter().position(|(_, number)| *number > 0).unwrap_or(3);
    let shown = parts[first..].iter().take(2).filter(|(_, number)| *number > 0);
    let text = shown.map(|(unit, number)| format!("{number} {unit}")).collect::<Vec<_>>().join(" ");
    if text.is_empty() { "0 s".into() } else { text }
}

/// `12,345`.
pub(crate) fn thousands(number: impl TryInto<i64>) -> String {
    let number = number.try_into().unwrap_or(i64::MAX);
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

/// `1 job`, `12,345 jobs`.
pub(crate) fn counted(number: impl TryInto<i64>, thing: &str) -> String {
    let number = number.try_into().unwrap_or(i64::MAX);
    format!("{} {thing}{}", thousands(number), if number == 1 { "" } else { "s" })
}

/// What was paid in USD, of the budget where there is one.
pub(crate) fn cost(paid: f64, budget: Option<f64>) -> String {
    budget.map_or_else(|| format!("{paid:.4} USD"), |budget| plumbline_store::cost_of_budget(paid, budget))
}

#[cfg(test)]
mod tests {
    use super::{duration, short, thousands};

    #[test]
    fn numbers_and_lines_are_readable() {
        assert_eq!(thousands(0), "0");
        assert_eq!(thousands(999), "999");
        assert_eq!(thousands(-1_234_567), "-1,234,567");
        assert_eq!(short("a\n  b", 10), "a b");
        assert_eq!(short("abcdefgh", 5), "abcd…");
        let durations = [0, 59, 60, 725, 11_520, 3_600, 356_400].map(duration);
        assert_eq!(durations, ["0 s", "59 s", "1 min", "12 min 5 s", "3 h 12 min", "1 h", "4 d 3 h"]);
    }
}

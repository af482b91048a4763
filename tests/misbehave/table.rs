//! The table of a run, as `make misbehave` prints it and saves it to `target/misbehave.md`.

use crate::suite::{Cell, End};
use plumbline_rehearsal::misbehave::Rate;
use std::{fmt::Write, path::PathBuf};

/// Writes the table of a run, with totals per rate, to `target/misbehave.md`; returns the path.
///
/// # Panics
/// When it cannot be written.
pub(crate) fn keep(healthy: &End, cells: &[Cell], rates: &[Rate]) -> PathBuf {
    let test = std::env::current_exe().expect("the path of a running program is known");
    let target = test.ancestors().nth(3).expect("a test executable lies in target/<profile>/deps");
    let path = target.join("misbehave.md");
    let mut text = String::from("# Jobs against misbehaving models\n\n");
    for rate in rates {
        let _ = writeln!(text, "- {}", sums(healthy, cells, *rate));
    }
    let _ = write!(text, "\n{}", render(healthy, cells));
    std::fs::write(&path, text).expect("the target folder can be written");
    path
}

/// The outcome of a rate, in one line.
pub(crate) fn sums(healthy: &End, cells: &[Cell], rate: Rate) -> String {
    let cells: Vec<&Cell> = cells.iter().filter(|cell| cell.rate == rate).collect();
    let sum = |of: &dyn Fn(&Cell) -> usize| -> usize { cells.iter().map(|cell| of(cell)).sum() };
    let (jobs, right) = (sum(&|cell| cell.count), sum(&|cell| cell.right(healthy)));
    let stopped = sum(&Cell::stopped);
    let kept = cells.iter().filter(|cell| cell.holds(healthy)).count();
    format!(
        "{} %: {} kinds, {jobs} jobs: {right} right, {stopped} stopped with a reason, {} anything else; {kept} kinds keep \
         what is promised",
        rate.as_percent(),
        cells.len(),
        jobs - right - stopped
    )
}

/// One line per kind and rate: jobs with the right result, jobs that stopped with a reason, turns and tokens compared
/// with the healthy run.
pub(crate) fn render(healthy: &End, cells: &[Cell]) -> String {
    let mut out = format!("healthy: {} turns, {} tokens\n\n", healthy.turns, healthy.tokens);
    // Writing to a String cannot fail.
    let _ =
        writeln!(out, "| kind | rate | right | stopped | turns | tokens | other ends |\n|---|--:|--:|--:|--:|--:|---|");
    for cell in cells {
        let _ = writeln!(
            out,
            "| {} | {} % | {}/{} | {}/{} | {:.1}× | {:.1}× | {} |",
            cell.kind.name,
            cell.rate.as_percent(),
            cell.right(healthy),
            cell.count,
            cell.stopped(),
            cell.count,
            times(cell, |end| end.turns, healthy.turns),
            times(cell, |end| end.tokens, healthy.tokens),
            other_ends(cell, healthy),
        );
    }
    out
}

fn times(cell: &Cell, of: impl Fn(&End) -> i64, healthy: i64) -> f64 {
    let sum: i64 = cell.ends.iter().map(of).sum();
    sum as f64 / cell.count.max(1) as f64 / healthy.max(1) as f64
}

/// The distinct outcomes other than the right one, shortened.
fn other_ends(cell: &Cell, healthy: &End) -> String {
    let mut ends: Vec<String> =
        cell.ends.iter().filter(|end| !end.is_right(healthy)).map(|end| shown(end, healthy)).collect();
    ends.sort();
    ends.dedup();
    ends.truncate(3);
    ends.join("; ").replace('|', "/")
}

fn shown(end: &End, healthy: &End) -> String {
    let mut reason: String = end.reason.chars().take(90).collect();
    if end.status == "completed" {
        let missing = healthy.texts.iter().filter(|text| !end.texts.contains(text)).count();
        let extra = end.texts.iter().filter(|text| !healthy.texts.contains(text)).count();
        reason = format!("{missing} missing, {extra} extra, undelivered: {}", end.undelivered);
    }
    format!("{}: {reason}", end.status)
}

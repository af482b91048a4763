//! Runs side by side, one column each.

use crate::output::{self, short, thousands};
use plumbline_tools::evaluation::Evaluation;

/// Maximum missed lines shown per run; `--json` has all.
const MOST_MISSED: usize = 10;
/// Maximum characters of a missed line.
const LONGEST_LINE: usize = 100;

/// The table, followed by the lines that each run missed.
pub(super) fn of(runs: &[Evaluation]) -> String {
    let names: Vec<&str> = runs.iter().map(|run| run.run.as_str()).collect();
    let header: Vec<&str> = std::iter::once("").chain(names).collect();
    let mut table = output::lined_up(&header);
    for (name, cell) in ROWS {
        table.add_row(std::iter::once((*name).to_owned()).chain(runs.iter().map(cell)));
    }
    for tenth in 0..10 {
        let cell =
            |run: &Evaluation| run.by_tenth.get(tenth).map(|part| share(part.found, part.gold)).unwrap_or_default();
        table.add_row(std::iter::once(format!("tenth {}", tenth + 1)).chain(runs.iter().map(cell)));
    }
    (1..header.len()).for_each(|column| output::align_right(&mut table, column));
    let table = table.lines().map(|line| line.trim_end().to_owned()).collect::<Vec<_>>().join("\n");
    std::iter::once(table).chain(runs.iter().filter_map(missed)).collect::<Vec<_>>().join("\n\n")
}

type Cell = fn(&Evaluation) -> String;

const ROWS: &[(&str, Cell)] = &[
    ("found", |run| share(run.found, run.gold)),
    ("recall", |run| percent(run.recall)),
    ("matched requirements", |run| share(run.matched, run.items)),
    ("precision", |run| percent(run.precision)),
    ("at the right place", |run| share(run.place_exact, run.found)),
    ("tokens", |run| thousands(run.tokens)),
    ("cost in USD", |run| format!("{:.4}", run.cost_usd)),
    ("cost per found", |run| run.cost_per_found_usd.map_or_else(|| "-".to_owned(), |cost| format!("{cost:.5}"))),
];

fn share(part: usize, whole: usize) -> String {
    format!("{part} of {whole}")
}

fn percent(rate: Option<f64>) -> String {
    rate.map_or_else(|| "-".to_owned(), |rate| format!("{:.1} %", rate * 100.0))
}

fn missed(run: &Evaluation) -> Option<String> {
    if run.missed.is_empty() {
        return None;
    }
    let line = |missed: &plumbline_tools::evaluation::Missed| {
        let page = missed.page.map(|page| format!(", page {page}")).unwrap_or_default();
        format!("  line {}, {}{page}: {}", missed.line, missed.document, short(&missed.text, LONGEST_LINE))
    };
    let mut lines = vec![format!("{} missed {}:", run.run, run.missed.len())];
    lines.extend(run.missed.iter().take(MOST_MISSED).map(line));
    if run.missed.len() > MOST_MISSED {
        lines.push(format!("  and {} more; --json has all", run.missed.len() - MOST_MISSED));
    }
    Some(lines.join("\n"))
}

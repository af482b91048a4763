//! Tables drawn with signs, as pandoc and reStructuredText have them: grid tables, and tables whose columns are under
//! dashes. Each becomes rows with `|`; a table whose columns are not certain stays as it is.

mod columns;
mod grid;

use crate::candidates::is_mark;
use crate::formats::blocks::LINE;
use plumbline_engine::one_line;

/// Longer tables stay as they are, which bounds the time for a text of nothing but beginnings.
const MOST_LINES: usize = 5_000;

/// The rows of a table.
struct Drawn {
    rows: Vec<Vec<String>>,
    /// Whether the first one names the columns.
    has_header: bool,
    /// The lines that it takes, those above the given one included.
    above: usize,
    length: usize,
}

/// A text with its drawn tables as rows.
pub(super) fn read(text: String) -> String {
    if !text.contains("---") && !text.contains("===") {
        return text;
    }
    let lines: Vec<&str> = text.split('\n').collect();
    let mut out: Vec<String> = Vec::with_capacity(lines.len());
    let (mut at, mut fence) = (0, None);
    while at < lines.len() {
        let opens = ["```", "~~~"].into_iter().find(|mark| lines[at].trim_start().starts_with(mark));
        match (fence, opens) {
            (None, Some(_)) => fence = opens,
            (Some(_), _) if fence == opens => fence = None,
            _ => {}
        }
        match fence.is_none().then(|| grid::read(&lines, at).or_else(|| columns::read(&lines, at))).flatten() {
            Some(table) => {
                out.truncate(out.len() - table.above);
                write(&mut out, &table);
                at += table.length;
                if lines.get(at).is_some_and(|line| !line.trim().is_empty()) {
                    out.push(String::new());
                }
            }
            None => {
                out.push(lines[at].to_owned());
                at += 1;
            }
        }
    }
    out.join("\n")
}

fn write(out: &mut Vec<String>, table: &Drawn) {
    if out.last().is_some_and(|line| !line.trim().is_empty()) {
        out.push(String::new());
    }
    for (number, row) in table.rows.iter().enumerate() {
        let cells: Vec<String> = row.iter().map(|cell| cell.replace('|', "\\|")).collect();
        out.push(format!("| {} |", cells.join(" | ")));
        if number == 0 && table.has_header {
            out.push(format!("| {} |", vec!["---"; row.len()].join(" | ")));
        }
    }
}

/// The lines of a cell as its text: a blank line and the mark of an entry begin a line.
fn cell(lines: &[String]) -> String {
    let mut text = String::new();
    let mut is_apart = false;
    for line in lines.iter().map(|line| one_line(line)) {
        let is_entry = line.split(' ').next().is_some_and(is_mark) && text.ends_with([':', ';', ',', '.']);
        if !line.is_empty() && !text.is_empty() {
            text.push_str(if is_apart || is_entry { LINE } else { " " });
        }
        is_apart = line.is_empty();
        text.push_str(&line);
    }
    text
}

/// The characters of a line from one column to another; to its end without a second one.
fn between(line: &str, from: usize, to: Option<usize>) -> String {
    line.chars().skip(from).take(to.map_or(usize::MAX, |to| to.saturating_sub(from))).collect()
}

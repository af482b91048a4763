//! The tables of a Markdown text. Its other lines are shown as they stand: this is a viewer of files, and what a file says is
//! what was written.

use serde::Serialize;

/// A part of a text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub(crate) enum Block {
    /// Lines as they are.
    Lines {
        /// Without the last line's end.
        text: String,
    },
    /// A table.
    Table {
        /// Names of the columns.
        header: Vec<String>,
        /// As many cells each as there are names.
        rows: Vec<Vec<String>>,
    },
}

/// Whether a file is Markdown, by its name.
pub(crate) fn is_markdown(path: &str) -> bool {
    let path = path.to_ascii_lowercase();
    path.ends_with(".md") || path.ends_with(".markdown")
}

/// Divides a text into its tables and what lies between them.
pub(crate) fn blocks(text: &str) -> Vec<Block> {
    let lines: Vec<&str> = text.lines().collect();
    let (mut blocks, mut plain, mut fence) = (Vec::new(), Vec::new(), None);
    let mut at = 0;
    while at < lines.len() {
        let line = lines[at];
        toggle(&mut fence, line);
        let table = if fence.is_none() { table(&lines[at..]) } else { None };
        match table {
            Some((header, rows, used)) => {
                flush(&mut plain, &mut blocks);
                blocks.push(Block::Table { header, rows });
                at += used;
            }
            None => {
                plain.push(line);
                at += 1;
            }
        }
    }
    flush(&mut plain, &mut blocks);
    blocks
}

fn flush(plain: &mut Vec<&str>, blocks: &mut Vec<Block>) {
    if plain.iter().any(|line| !line.trim().is_empty()) {
        blocks.push(Block::Lines { text: plain.join("\n") });
    }
    plain.clear();
}

/// Code is no table, whatever is in it: notes which fence is open.
fn toggle(fence: &mut Option<&'static str>, line: &str) {
    let found = ["```", "~~~"].into_iter().find(|mark| line.trim_start().starts_with(mark));
    match (found, *fence) {
        (Some(mark), None) => *fence = Some(mark),
        (Some(mark), Some(open)) if mark == open => *fence = None,
        _ => {}
    }
}

/// The table that begins with the first line, and how many lines it has: a row of names, one of dashes, and rows up to a
/// line without a bar.
fn table(lines: &[&str]) -> Option<(Vec<String>, Vec<Vec<String>>, usize)> {
    let [names, dashes, rest @ ..] = lines else { return None };
    let header = cells(names)?;
    let is_dashes = |cell: &String| {
        let inner = cell.trim_start_matches(':').trim_end_matches(':');
        !inner.is_empty() && inner.chars().all(|char| char == '-')
    };
    let rule = cells(dashes)?;
    if rule.len() != header.len() || !rule.iter().all(is_dashes) {
        return None;
    }
    let rows: Vec<Vec<String>> = rest
        .iter()
        .map_while(|line| cells(line))
        .map(|mut row| {
            row.resize(header.len(), String::new());
            row
        })
        .collect();
    let used = 2 + rows.len();
    Some((header, rows, used))
}

/// The cells of a line with bars; a bar after a backslash is a character of its cell.
fn cells(line: &str) -> Option<Vec<String>> {
    let line = line.trim();
    if !line.contains('|') {
        return None;
    }
    let inner = line.strip_prefix('|').unwrap_or(line);
    let mut cells = vec![String::new()];
    let mut chars = inner.chars().peekable();
    while let Some(char) = chars.next() {
        match char {
            '\\' if chars.peek() == Some(&'|') => {
                chars.next();
                cells.last_mut()?.push('|');
            }
            '|' => cells.push(String::new()),
            other => cells.last_mut()?.push(other),
        }
    }
    // The bar that closes the line opens no cell.
    if cells.len() > 1 && cells.last().is_some_and(|cell| cell.trim().is_empty()) {
        cells.pop();
    }
    Some(cells.into_iter().map(|cell| cell.trim().to_owned()).collect())
}

#[cfg(test)]
mod tests {
    use super::{Block, blocks, is_markdown};

    fn lines(text: &str) -> Block {
        Block::Lines { text: text.into() }
    }

    fn table(header: &[&str], rows: &[&[&str]]) -> Block {
        let owned = |cells: &[&str]| cells.iter().map(|cell| (*cell).to_owned()).collect();
        Block::Table { header: owned(header), rows: rows.iter().map(|row| owned(row)).collect() }
    }

    #[test]
    fn tables_stand_out_from_the_lines_around_them() {
        let text =
            "# Differences\n\n| clause | A \\| B |\n|:---|---:|\n| 1 | none |\n| 2 |\n| 3 | x | more |\nAfter it.\n";
        let expected = [
            lines("# Differences\n"),
            table(&["clause", "A | B"], &[&["1", "none"], &["2", ""], &["3", "x"]]),
            lines("After it."),
        ];
        assert_eq!(blocks(text), expected);
        assert_eq!(blocks("a | b\n--|--\nc | d"), [table(&["a", "b"], &[&["c", "d"]])]);
        assert_eq!(blocks("| a |\n|---|\n"), [table(&["a"], &[])]);
    }

    #[test]
    fn what_is_no_table_stays_as_it_stands() {
        for text in [
            "",
            "a | b",
            "a | b\nc | d",
            "| a | b |\n|---|\n| c | d |",
            "```\n| a |\n|---|\n| b |\n```",
            "|\n|",
            "a\n---",
        ] {
            let expected: Vec<Block> = if text.is_empty() { vec![] } else { vec![lines(text)] };
            assert_eq!(blocks(text), expected, "{text:?}");
        }
        assert!(is_markdown("output/A.MD") && !is_markdown("output/a.csv"));
    }
}

//! Grid tables: `+---+---+` between the rows, `+===+===+` below the names of the columns.

use super::{Drawn, MOST_LINES, between, cell};

/// The grid table that begins with a line.
pub(super) fn read(lines: &[&str], at: usize) -> Option<Drawn> {
    let first = edges(lines[at])?;
    let indent = lines[at].chars().take_while(|sign| *sign == ' ').count();
    let is_line = |line: &&&str| line.chars().nth(indent).is_some_and(|sign| matches!(sign, '+' | '|'));
    let (mut rows, mut row, mut has_header, mut length) = (Vec::new(), Vec::new(), false, 1);
    for line in lines[at + 1..].iter().take(MOST_LINES).take_while(is_line) {
        length += 1;
        match edges(line) {
            Some(_) if row.is_empty() => return None,
            Some(edges) => {
                // With other edges its cells span columns, with other ends it is no table.
                let here: Vec<usize> = first.iter().copied().filter(|edge| is_edge(&row, *edge)).collect();
                let ends = [first.first(), first.last()];
                if [edges.first(), edges.last()] != ends || [here.first(), here.last()] != ends {
                    return None;
                }
                rows.push(cells(&row, &here));
                row.clear();
                has_header |= rows.len() == 1 && line.contains('=');
            }
            None if line.contains("+--") || line.contains("--+") => return None,
            None => row.push(*line),
        }
    }
    (row.is_empty() && !rows.is_empty()).then_some(Drawn { rows, has_header, above: 0, length })
}

/// The places of the corners of a line between rows.
fn edges(line: &str) -> Option<Vec<usize>> {
    let text = line.trim();
    let is_border = text.len() > 2
        && text.starts_with('+')
        && text.ends_with('+')
        && text.contains(['-', '='])
        && text.chars().all(|sign| matches!(sign, '+' | '-' | '=' | ':'));
    is_border.then(|| line.chars().enumerate().filter(|(_, sign)| *sign == '+').map(|(at, _)| at).collect())
}

/// Whether each line of a row has an edge of a cell at a place.
fn is_edge(row: &[&str], place: usize) -> bool {
    row.iter().all(|line| line.chars().nth(place).is_some_and(|sign| matches!(sign, '|' | '+')))
}

fn cells(row: &[&str], edges: &[usize]) -> Vec<String> {
    let lines =
        |from: usize, to: usize| -> Vec<String> { row.iter().map(|line| between(line, from + 1, Some(to))).collect() };
    edges.windows(2).map(|edge| cell(&lines(edge[0], edge[1]))).collect()
}

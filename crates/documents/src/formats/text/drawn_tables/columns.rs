//! Tables whose columns are under dashes, `-----  ---`, or under equals signs.

use super::{Drawn, MOST_LINES, between, cell};

/// Most lines of a table's header.
const MOST_OF_A_HEADER: usize = 6;

/// The table whose dashes, or whose line above the header, are a line.
pub(super) fn read(lines: &[&str], at: usize) -> Option<Drawn> {
    let is_apart = at == 0 || is_blank(lines[at - 1]);
    if is_rule(lines[at]) && is_apart {
        return under_rule(lines, at);
    }
    let columns = columns(lines[at])?;
    match (lines[at].contains('='), is_apart) {
        (true, true) => under_equals(lines, at, &columns),
        (false, true) => without_header(lines, at, &columns),
        (false, false) if at == 1 || is_blank(lines[at - 2]) => {
            let body = body(lines, at + 1, |line| is_blank(line) || is_border(line));
            let length =
                1 + body.len() + usize::from(lines.get(at + 1 + body.len()).is_some_and(|line| is_border(line)));
            table(&columns, &[lines[at - 1]], &each(body), (1, length))
        }
        _ => None,
    }
}

/// A table of rows of several lines: a rule, the header, the dashes, rows apart by blank lines, a rule.
fn under_rule(lines: &[&str], at: usize) -> Option<Drawn> {
    let header = body(lines, at + 1, |line| is_blank(line) || is_border(line));
    let dashes = at + 1 + header.len();
    let columns = columns(lines.get(dashes)?).filter(|_| (1..=MOST_OF_A_HEADER).contains(&header.len()))?;
    let body = body(lines, dashes + 1, is_border);
    lines.get(dashes + 1 + body.len()).filter(|line| is_border(line))?;
    table(&columns, header, &apart(body), (0, header.len() + body.len() + 3))
}

/// A table without header: the dashes, its rows, the dashes again or a rule.
fn without_header(lines: &[&str], at: usize, columns: &[usize]) -> Option<Drawn> {
    let body = body(lines, at + 1, is_border);
    lines.get(at + 1 + body.len()).filter(|line| is_border(line))?;
    table(columns, &[], &apart(body), (0, body.len() + 2))
}

/// A simple table of reStructuredText: a row without its first cell goes on with the one above.
fn under_equals(lines: &[&str], at: usize, columns: &[usize]) -> Option<Drawn> {
    let is_border = |line: &str| line.trim_end() == lines[at].trim_end();
    let first = body(lines, at + 1, is_border);
    let second = body(lines, at + 2 + first.len(), |line| is_blank(line) || is_border(line));
    let has_header =
        lines.get(at + 2 + first.len() + second.len()).is_some_and(|line| is_border(line)) && !second.is_empty();
    let (header, rows) = if has_header { (first, second) } else { (&[][..], first) };
    lines.get(at + 1 + first.len()).filter(|line| is_border(line))?;
    let mut joined: Vec<Vec<&str>> = Vec::new();
    for line in rows.iter().filter(|line| !is_blank(line)) {
        match joined.last_mut() {
            Some(row) if is_blank(&between(line, columns[0], columns.get(1).copied())) => row.push(line),
            _ => joined.push(vec![line]),
        }
    }
    let borders = if has_header { 3 } else { 2 };
    table(columns, header, &joined, (0, header.len() + rows.len() + borders))
}

/// The lines from one on up to another.
fn body<'a, 'b>(lines: &'b [&'a str], from: usize, ends: impl Fn(&str) -> bool) -> &'b [&'a str] {
    let rest = lines.get(from..).unwrap_or_default();
    &rest[..rest.iter().take(MOST_LINES).take_while(|line| !ends(line)).count()]
}

/// Each line as a row.
fn each<'a>(lines: &[&'a str]) -> Vec<Vec<&'a str>> {
    lines.iter().map(|line| vec![*line]).collect()
}

/// The lines between blank lines as rows; each line, if there are none.
fn apart<'a>(lines: &[&'a str]) -> Vec<Vec<&'a str>> {
    match lines.iter().any(|line| is_blank(line)) {
        true => lines.split(|line| is_blank(line)).filter(|row| !row.is_empty()).map(<[&str]>::to_vec).collect(),
        false => each(lines),
    }
}

/// The table, if all of its words are within its columns, and a row has several.
fn table(columns: &[usize], header: &[&str], rows: &[Vec<&str>], (above, length): (usize, usize)) -> Option<Drawn> {
    let is_within =
        |line: &&str| columns.iter().skip(1).all(|column| is_blank(&between(line, column - 1, Some(*column))));
    let mut all = rows.iter().flatten().chain(header);
    let has_tabs = header.iter().chain(rows.iter().flatten()).any(|line| line.contains('\t'));
    if rows.is_empty() || has_tabs || !all.all(is_within) {
        return None;
    }
    let cells = |row: &[&str]| -> Vec<String> {
        let ends = columns.iter().skip(1).map(|column| Some(*column)).chain([None]);
        let lines = |from: usize, to: Option<usize>| -> Vec<String> {
            row.iter().map(|line| between(line, from, to)).collect()
        };
        columns
            .iter()
            .zip(ends)
            .enumerate()
            .map(|(at, (from, to))| cell(&lines(if at == 0 { 0 } else { *from }, to)))
            .collect()
    };
    let named = (!header.is_empty()).then(|| cells(header));
    let rows: Vec<Vec<String>> = named.into_iter().chain(rows.iter().map(|row| cells(row))).collect();
    let has_several = rows.iter().any(|row| row.iter().filter(|cell| !cell.is_empty()).count() > 1);
    has_several.then_some(Drawn { rows, has_header: !header.is_empty(), above, length })
}

fn is_blank(line: &str) -> bool {
    line.trim().is_empty()
}

fn is_border(line: &str) -> bool {
    is_rule(line) || columns(line).is_some()
}

/// Whether a line is one long row of dashes.
fn is_rule(line: &str) -> bool {
    let text = line.trim();
    text.len() > 2 && text.bytes().all(|sign| sign == b'-')
}

/// Where the columns begin, if a line is their dashes: two and more.
fn columns(line: &str) -> Option<Vec<usize>> {
    let text = line.trim();
    let sign = text.chars().next().filter(|sign| matches!(sign, '-' | '='))?;
    let is_dashes = text.chars().all(|other| other == sign || other == ' ') && text.contains(' ');
    let is_long = || text.split(' ').all(|dashes| dashes.len() != 1);
    let signs: Vec<char> = line.trim_end().chars().collect();
    let begins = |at: &usize| signs[*at] == sign && (*at == 0 || signs[at - 1] == ' ');
    (is_dashes && is_long()).then(|| (0..signs.len()).filter(begins).collect())
}

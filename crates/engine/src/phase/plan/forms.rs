//! Detects the beginnings of a plan's phases: the common forms of plans, most reliable first.

use super::{
    PlannedState,
    lines::{Kind, Line, cells, is_rule},
    words::{self, Column, Label, Section, Size},
};

/// A phase in the text: the line that names it, its name, and its lines.
#[derive(Clone, Debug)]
pub(super) struct Found<'a> {
    pub(super) heading: &'a str,
    /// Its state by a box or a cell next to it.
    pub(super) marked: Option<PlannedState>,
    pub(super) name: String,
    pub(super) body: Vec<Line<'a>>,
}

/// Finds the phases of a text.
pub(super) fn find<'a>(lines: &[Line<'a>]) -> Vec<Found<'a>> {
    let rest = without_asides(lines);
    let is_heading = |line: &Line<'_>| level(line).is_some();
    let forms: [&dyn Fn() -> Vec<Found<'a>>; 10] = [
        &|| labelled(lines, |line, _| is_heading(line)),
        &|| in_a_section(lines, Section::Container),
        &|| numbered_headings(&rest),
        &|| labelled(&rest, |line, label| !is_heading(line) && label.size == Size::Phase),
        &|| table(&rest),
        &|| headings_with_steps(&rest),
        &|| bold_lines(&rest),
        &|| labelled(&rest, |line, _| !is_heading(line)),
        &|| list(&rest, |line| line.is_numbered || line.ticked.is_some()),
        &|| in_a_section(lines, Section::Approach),
    ];
    forms.iter().map(|form| form()).find(|found| !found.is_empty()).unwrap_or_default()
}

/// The lines outside the sections about the plan or its terms.
fn without_asides<'a>(lines: &[Line<'a>]) -> Vec<Line<'a>> {
    let mut aside: Option<usize> = None;
    let mut kept = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        if let Kind::Heading(level) = line.kind {
            aside = aside.filter(|outer| *outer < level);
            let is_aside = match words::section(line.text) {
                Section::Aside => true,
                Section::AboutThePlan => !section(lines, at).iter().any(|line| line.ticked.is_some()),
                Section::Part | Section::Container | Section::Approach => false,
            };
            if aside.is_none() && is_aside {
                aside = Some(level);
            }
        }
        if aside.is_none() {
            kept.push(*line);
        }
    }
    kept
}

/// The lines of the section that begins with this line.
fn section<'l, 'a>(lines: &'l [Line<'a>], heading: usize) -> &'l [Line<'a>] {
    let behind = &lines[heading + 1..];
    let ends = |line: &Line<'_>| match (line.kind, lines[heading].kind) {
        (Kind::Heading(level), Kind::Heading(own)) => level <= own,
        (Kind::Heading(_) | Kind::Bold, _) => true,
        (Kind::Item(indent), Kind::Item(own)) => {
            // Steps are often not indented relative to their number.
            indent < own || indent == own && line.is_numbered == lines[heading].is_numbered
        }
        (Kind::Plain(indent), Kind::Item(own)) => indent <= own,
        _ => false,
    };
    &behind[..behind.iter().position(ends).unwrap_or(behind.len())]
}

/// The phases that begin in these lines, each with the lines up to the next one, or to the end of its section.
fn of_starts<'a>(lines: &[Line<'a>], starts: &[usize]) -> Vec<Found<'a>> {
    let end = |n: usize| starts.get(n + 1).copied().unwrap_or(lines.len());
    let found = starts.iter().enumerate().map(|(n, &at)| {
        let body = section(lines, at);
        let body = &body[..body.len().min(end(n) - at - 1)];
        let marked = lines[at].ticked.filter(|ticked| *ticked).map(|_| PlannedState::Done);
        Found { heading: lines[at].text, marked, name: name_of(lines[at].text), body: body.to_vec() }
    });
    found.collect()
}

/// Lines such as "Phase 2" or "Schritt 2": those with the word that occurs first in the text at the smallest depth;
/// headings take precedence over lists, lists over plain lines.
fn labelled<'a>(lines: &[Line<'a>], may: impl Fn(&Line<'a>, &Label<'_>) -> bool) -> Vec<Found<'a>> {
    let depth = |line: &Line<'_>| match line.kind {
        Kind::Heading(level) => Some((0, level)),
        Kind::Bold => Some((1, 0)),
        Kind::Item(indent) => Some((2, indent)),
        Kind::Plain(indent) => Some((3, indent)),
        Kind::Row => None,
    };
    let label = |line: &Line<'a>| {
        let label = words::label(line.text)?;
        (may(line, &label) && (label.is_apart || matches!(line.kind, Kind::Heading(_)))).then_some(label)
    };
    let labels = lines.iter().enumerate().filter_map(|(at, line)| Some((at, depth(line)?, label(line)?.word)));
    let labels: Vec<(usize, (i32, usize), &str)> = labels.collect();
    let Some((_, (class, _), word)) = labels.iter().min_by_key(|(at, depth, _)| (*depth, *at)) else {
        return Vec::new();
    };
    let is_one = |(at, depth, other): &&(usize, (i32, usize), &str)| {
        depth.0 == *class && other == word && !(is_item(&lines[*at]) && depth.1 > smallest(&labels, *class, word))
    };
    let starts: Vec<usize> = labels.iter().filter(is_one).map(|(at, ..)| *at).collect();
    of_starts(lines, &starts)
}

fn smallest(labels: &[(usize, (i32, usize), &str)], class: i32, word: &str) -> usize {
    labels
        .iter()
        .filter(|(_, depth, other)| depth.0 == class && *other == word)
        .map(|(_, depth, _)| depth.1)
        .min()
        .unwrap_or(0)
}

fn is_item(line: &Line<'_>) -> bool {
    matches!(line.kind, Kind::Item(_))
}

/// The parts of a section that is titled as a container: any heading and any list in it qualifies.
fn in_a_section<'a>(lines: &[Line<'a>], kind: Section) -> Vec<Found<'a>> {
    let is_one = |at: &usize| match lines[*at].kind {
        Kind::Heading(_) => words::section(lines[*at].text) == kind && !is_title(lines, *at),
        Kind::Bold => words::section(&name_of(lines[*at].text)) == kind,
        Kind::Item(_) | Kind::Row | Kind::Plain(_) => false,
    };
    let parts = |at: usize| {
        let section = section(lines, at);
        let forms: [&dyn Fn() -> Vec<Found<'a>>; 3] =
            [&|| find(section), &|| all_headings(&without_asides(section)), &|| list(section, |_| true)];
        forms.iter().map(|form| form()).find(|found| !found.is_empty())
    };
    (0..lines.len()).filter(is_one).find_map(parts).unwrap_or_default()
}

/// Whether this is the only heading of its level, with others below it.
fn is_title(lines: &[Line<'_>], heading: usize) -> bool {
    let own = level(&lines[heading]);
    let is_only = lines.iter().filter(|line| level(line) == own).count() == 1;
    is_only && section(lines, heading).iter().any(|line| level(line).is_some())
}

fn level(line: &Line<'_>) -> Option<usize> {
    match line.kind {
        Kind::Heading(level) => Some(level),
        Kind::Item(_) | Kind::Bold | Kind::Row | Kind::Plain(_) => None,
    }
}

fn is_part(line: &Line<'_>) -> bool {
    matches!(words::section(line.text), Section::Part | Section::AboutThePlan | Section::Approach)
}

/// Numbered headings, of the highest level that has some.
fn numbered_headings<'a>(lines: &[Line<'a>]) -> Vec<Found<'a>> {
    let is_one = |line: &&Line<'_>| line.is_numbered && level(line).is_some() && is_part(line);
    let Some(smallest) = lines.iter().filter(is_one).filter_map(level).min() else { return Vec::new() };
    let starts: Vec<usize> =
        (0..lines.len()).filter(|at| is_one(&&lines[*at]) && level(&lines[*at]) == Some(smallest)).collect();
    match smallest == 1 && starts.len() == 1 {
        true => Vec::new(),
        false => of_starts(lines, &starts),
    }
}

/// Headings whose sections have steps: boxes, or lists in at least two sections. If several levels qualify, the
/// highest.
fn headings_with_steps<'a>(lines: &[Line<'a>]) -> Vec<Found<'a>> {
    let with_steps = |wanted: usize| {
        let is_one = |at: &usize| level(&lines[*at]) == Some(wanted) && is_part(&lines[*at]) && !is_title(lines, *at);
        let starts: Vec<usize> = (0..lines.len()).filter(is_one).filter(|at| has_steps(section(lines, *at))).collect();
        let boxed: Vec<usize> = starts.iter().copied().filter(|at| has_boxes(section(lines, *at))).collect();
        if boxed.is_empty() { (starts, false) } else { (boxed, true) }
    };
    let levels: Vec<(Vec<usize>, bool)> = (1..=6).map(with_steps).collect();
    let several = levels.iter().find(|(starts, _)| starts.len() > 1);
    let one = || levels.iter().find(|(starts, is_boxed)| *is_boxed && !starts.is_empty());
    several.or_else(one).map(|(starts, _)| of_starts(lines, starts)).unwrap_or_default()
}

fn has_boxes(lines: &[Line<'_>]) -> bool {
    lines.iter().any(|line| line.ticked.is_some())
}

/// Whether a section lists work, not definitions.
fn has_steps(lines: &[Line<'_>]) -> bool {
    let items: Vec<&Line<'_>> = lines.iter().filter(|line| is_item(line)).collect();
    let defines = items.iter().filter(|line| is_definition(line)).count();
    !items.is_empty() && defines * 2 <= items.len()
}

/// "**Record**: any document".
fn is_definition(line: &Line<'_>) -> bool {
    let Some((_, rest)) = line.text.strip_prefix("**").and_then(|rest| rest.split_once("**")) else { return false };
    line.ticked.is_none() && !line.is_numbered && rest.trim_start().starts_with([':', '–', '—', '-'])
}

/// All headings of a section that contains the phases, of its highest level.
fn all_headings<'a>(lines: &[Line<'a>]) -> Vec<Found<'a>> {
    let smallest = lines.iter().filter_map(level).min();
    let starts: Vec<usize> =
        (0..lines.len()).filter(|at| smallest.is_some() && level(&lines[*at]) == smallest).collect();
    of_starts(lines, &starts)
}

/// Bold lines with numbers, or followed by steps.
fn bold_lines<'a>(lines: &[Line<'a>]) -> Vec<Found<'a>> {
    let is_one = |at: &usize| {
        let line = &lines[*at];
        let is_part = is_part(&Line { text: line.text.trim_start_matches(['*', '_']), ..*line });
        line.kind == Kind::Bold && is_part && (line.is_numbered || has_steps(section(lines, *at)))
    };
    let starts: Vec<usize> = (0..lines.len()).filter(is_one).collect();
    if starts.len() > 1 { of_starts(lines, &starts) } else { Vec::new() }
}

/// The first list whose top-level items may be phases.
fn list<'a>(lines: &[Line<'a>], may: impl Fn(&Line<'a>) -> bool) -> Vec<Found<'a>> {
    let first = lines.iter().position(|line| is_item(line) && may(line));
    let Some(first) = first else { return Vec::new() };
    let Kind::Item(indent) = lines[first].kind else { return Vec::new() };
    let end = lines[first..]
        .iter()
        .position(|line| matches!(line.kind, Kind::Heading(_)))
        .map_or(lines.len(), |at| first + at);
    let is_one = |line: &Line<'a>| matches!(line.kind, Kind::Item(own) if own <= indent) && may(line);
    let is_same = |line: &Line<'a>| line.is_numbered == lines[first].is_numbered;
    let starts: Vec<usize> = (first..end).filter(|at| is_one(&lines[*at]) && is_same(&lines[*at])).collect();
    match starts.len() {
        1 if lines[first].ticked.is_none() => Vec::new(),
        _ => of_starts(&lines[..end], &starts),
    }
}

/// The rows of the first table with a column of phases, or of numbers and work. Rows that omit the phase, or repeat it,
/// continue the previous one.
fn table<'a>(lines: &[Line<'a>]) -> Vec<Found<'a>> {
    let is_row = |line: &Line<'_>| line.kind == Kind::Row;
    let is_head = |at: usize| lines.get(at + 1).is_some_and(|next| is_row(next) && is_rule(next.text));
    let mut tables: Vec<Vec<Line<'a>>> = Vec::new();
    for (at, line) in lines.iter().enumerate().filter(|(_, line)| is_row(line)) {
        let goes_on = at > 0 && is_row(&lines[at - 1]) && !is_head(at);
        match tables.last_mut().filter(|_| goes_on) {
            Some(table) => table.push(*line),
            None => tables.push(vec![*line]),
        }
    }
    tables.iter().map(|rows| rows_of_phases(rows)).find(|found| !found.is_empty()).unwrap_or_default()
}

fn rows_of_phases<'a>(rows: &[Line<'a>]) -> Vec<Found<'a>> {
    let heads: Vec<Column> = cells(rows[0].text).into_iter().map(words::column).collect();
    let body: Vec<Vec<&str>> = rows[1..].iter().filter(|row| !is_rule(row.text)).map(|row| cells(row.text)).collect();
    let is_labelled = |cells: &Vec<&str>| cells.first().is_some_and(|cell| words::label(cell).is_some());
    let place = |column: Column| heads.iter().position(|head| *head == column);
    let numbered = place(Column::Number).filter(|_| place(Column::Name).is_some());
    let Some(part) = place(Column::Part).or(numbered).or_else(|| body.iter().all(is_labelled).then_some(0)) else {
        return Vec::new();
    };
    let mut found: Vec<Found<'a>> = Vec::new();
    for row in body {
        let cell = row.get(part).copied().unwrap_or_default();
        if cell.is_empty() || found.last().is_some_and(|last| last.heading == cell) {
            continue;
        }
        let marked = row.iter().find_map(|cell| super::state_of_cell(cell));
        found.push(Found { heading: cell, marked, name: name_of_row(&row, part, &heads), body: Vec::new() });
    }
    found
}

/// The name in the column of phases; if it has only a number, the adjacent cell.
fn name_of_row(row: &[&str], part: usize, heads: &[Column]) -> String {
    let cell = row.get(part).copied().unwrap_or_default();
    let rest = words::label(cell).map_or(cell, |label| label.rest);
    let is_name = |text: &str| text.chars().any(char::is_alphabetic);
    let named = |(at, text): &(usize, &&str)| *at != part && heads.get(*at) == Some(&Column::Name) && is_name(text);
    let beside = |(at, text): &(usize, &&str)| *at > part && is_name(text);
    let text = match is_name(rest) {
        true => rest,
        false => {
            let cells = || row.iter().enumerate();
            cells().find(named).or_else(|| cells().find(beside)).map_or(cell, |(_, text)| text)
        }
    };
    name_of(text)
}

/// A name without label, number, mark and state.
pub(super) fn name_of(heading: &str) -> String {
    let bare = heading.trim_matches(|c: char| c.is_whitespace() || "*_".contains(c));
    // "Part 2 of the contract" is a name.
    let is_name = |rest: &str| rest.trim_start().starts_with(char::is_lowercase);
    let label = words::label(bare).filter(|label| label.is_apart || !is_name(label.rest));
    let rest = label.map_or(bare, |label| label.rest);
    let rest = rest.trim_start_matches(['.', ':', ')', ']', '-', '–', '—', '：', '、', '*', '_', ' ']);
    let mut name = rest;
    for mark in ["←", "<-", "✓", "✔", "✅", "🔄", "(", "[", "（"] {
        name = match name.split_once(mark) {
            Some((before, _)) if !before.trim().is_empty() => before,
            _ => name,
        };
    }
    let name = name.trim_matches(|c: char| c.is_whitespace() || "*_:-–—：✓✔✅🔄".contains(c));
    if name.is_empty() {
        bare.trim_matches(|c: char| "✓✔✅🔄: ".contains(c)).to_string()
    } else {
        name.to_string()
    }
}

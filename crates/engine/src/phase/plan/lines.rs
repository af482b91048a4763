//! The Markdown lines of a plan, without fences and comments.

/// The kind of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A heading of this level.
    Heading(usize),
    /// A list item with this indent in columns.
    Item(usize),
    /// A bold line, often used as a heading.
    Bold,
    /// A row of a table.
    Row,
    /// Any other line that is not empty, with this indent in columns.
    Plain(usize),
}

/// A line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line<'a> {
    pub(super) kind: Kind,
    /// The line without marks, number and box.
    pub(super) text: &'a str,
    /// Whether it has a number.
    pub(super) is_numbered: bool,
    /// Whether its box is ticked, if it has one.
    pub(super) ticked: Option<bool>,
}

const TICKED: [&str; 4] = ["[x]", "[X]", "[✓]", "[✔]"];
const OPEN: [&str; 2] = ["[ ]", "[]"];
const BULLETS: [&str; 6] = ["- ", "* ", "+ ", "• ", "– ", "✓ "];

/// The non-empty lines of a text.
pub(super) fn lines(text: &str) -> Vec<Line<'_>> {
    let mut found: Vec<Line<'_>> = Vec::new();
    let mut fence: Option<&str> = None;
    let mut in_comment = false;
    for raw in text.lines() {
        let trimmed = raw.trim();
        let opens = ["```", "~~~"].into_iter().find(|mark| trimmed.starts_with(mark));
        if opens.is_some() && (fence.is_none() || fence == opens) {
            fence = fence.is_none().then_some(opens).flatten();
            continue;
        }
        in_comment |= trimmed.starts_with("<!--");
        let is_hidden = fence.is_some() || in_comment || trimmed.is_empty();
        in_comment &= !trimmed.contains("-->");
        if is_hidden {
            continue;
        }
        match (underlined(trimmed), found.last_mut()) {
            (Some(level), Some(line)) if matches!(line.kind, Kind::Plain(_) | Kind::Bold) => {
                line.kind = Kind::Heading(level);
            }
            _ => found.push(line(raw)),
        }
    }
    found
}

/// The level of a line that underlines a heading.
fn underlined(trimmed: &str) -> Option<usize> {
    let is_of = |mark: char| trimmed.len() >= 3 && trimmed.chars().all(|c| c == mark);
    match (is_of('='), is_of('-')) {
        (true, _) => Some(1),
        (_, true) => Some(2),
        _ => None,
    }
}

fn line(raw: &str) -> Line<'_> {
    let raw = raw.trim_start_matches(['>', '\u{feff}']).trim_end();
    let rest = raw.trim_start();
    let indent = raw[..raw.len() - rest.len()].chars().map(|c| if c == '\t' { 4 } else { 1 }).sum();
    let level = rest.chars().take_while(|c| *c == '#').count();
    if (1..=6).contains(&level) {
        let (text, ticked) = ticked(rest[level..].trim().trim_end_matches('#').trim());
        let numbered = heading_number(text);
        return Line {
            kind: Kind::Heading(level),
            text: numbered.unwrap_or(text),
            is_numbered: numbered.is_some(),
            ticked,
        };
    }
    if rest.starts_with('|') {
        return Line { kind: Kind::Row, text: rest, is_numbered: false, ticked: None };
    }
    let bulleted = BULLETS.iter().find_map(|mark| rest.strip_prefix(mark));
    let (text, ticked) = ticked(bulleted.unwrap_or(rest).trim_start());
    let numbered = item_number(text);
    let (text, ticked) = match ticked {
        None => self::ticked(numbered.unwrap_or(text)),
        Some(_) => (numbered.unwrap_or(text), ticked),
    };
    let kind = match bulleted.is_some() || numbered.is_some() || ticked.is_some() {
        true => Kind::Item(indent),
        false if ["**", "__"].iter().any(|mark| text.starts_with(mark)) => Kind::Bold,
        false => Kind::Plain(indent),
    };
    // "**1. Prepare**" has its number after the mark.
    let bold = (kind == Kind::Bold).then(|| heading_number(text.trim_start_matches(['*', '_']))).flatten();
    Line { kind, text: bold.unwrap_or(text), is_numbered: numbered.is_some() || bold.is_some(), ticked }
}

/// A box at the beginning, or an equivalent mark.
fn ticked(text: &str) -> (&str, Option<bool>) {
    let behind = |marks: &[&str]| marks.iter().find_map(|mark| text.strip_prefix(mark));
    match (behind(&TICKED), behind(&OPEN)) {
        (Some(rest), _) => (rest.trim_start(), Some(true)),
        // A link has its address after the brackets.
        (None, Some(rest)) if !rest.starts_with('(') => (rest.trim_start(), Some(false)),
        _ => (text, None),
    }
}

/// The rest after "1. " or "(1) ".
fn item_number(text: &str) -> Option<&str> {
    let (number, rest) = digits(text.strip_prefix('(').unwrap_or(text))?;
    let rest = rest.strip_prefix(['.', ')'])?;
    (number.len() <= 3 && rest.starts_with([' ', '\t'])).then(|| rest.trim_start())
}

/// The rest after the number of a heading: "1. ", "2) ", "3 – ", "IV. ", "B. "; not after "1.2", a part of a part.
fn heading_number(text: &str) -> Option<&str> {
    let ends = |rest: &str| rest.starts_with([' ', '.', ')', ':', '-', '–', '—']);
    let trimmed = |rest: &'_ str| rest.len();
    if let Some((number, rest)) = digits(text.strip_prefix('(').unwrap_or(text)) {
        let is_part_of_part = rest.starts_with('.') && rest[1..].starts_with(|c: char| c.is_ascii_digit());
        let is_number = number.len() <= 2 && !is_part_of_part && ends(rest);
        return is_number
            .then(|| rest.trim_start_matches([' ', '.', ')', ':', '-', '–', '—']))
            .filter(|rest| trimmed(rest) > 0);
    }
    let end = text.find(|c: char| !"IVX".contains(c)).unwrap_or(text.len());
    let letters = if end > 0 { end } else { usize::from(text.starts_with(|c: char| c.is_ascii_uppercase())) };
    let rest = text.get(letters..)?.strip_prefix(['.', ')'])?;
    (letters > 0 && rest.starts_with(' ')).then(|| rest.trim_start())
}

fn digits(text: &str) -> Option<(&str, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    (end > 0).then(|| text.split_at(end))
}

/// The cells of a table's row.
pub(super) fn cells(row: &str) -> Vec<&str> {
    let inner = row.trim().trim_start_matches('|').trim_end_matches('|');
    inner.split('|').map(str::trim).collect()
}

/// Whether a row only separates the head of a table from its rows.
pub(super) fn is_rule(row: &str) -> bool {
    cells(row).iter().all(|cell| cell.contains('-') && cell.chars().all(|c| "-: ".contains(c)))
}

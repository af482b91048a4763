//! Outline levels: which paragraphs are headings. The parser reads them of styles only, and of the first six levels.

/// Before the level of a paragraph in its text.
const MARK: char = '\u{f8fd}';
/// The level of body text (ECMA-376, part 1, 17.3.1.20).
const BODY: u8 = 9;
/// The deepest level of a heading in Markdown, from 1.
const DEEPEST: u8 = 6;

/// The form in which a level, from 0, begins the text of its paragraph until the blocks are made.
pub(super) fn marked(level: u8) -> String {
    format!("{MARK}{level}")
}

/// The level that a style has by its name, as in programs that write only names.
pub(super) fn of_name(name: &str) -> Option<u8> {
    let level: u8 = name.to_ascii_lowercase().strip_prefix("heading ")?.parse().ok()?;
    (1..=BODY).contains(&level).then(|| level - 1)
}

/// Whether the parser knows a level.
pub(super) fn is_known(level: u8) -> bool {
    !(DEEPEST..BODY).contains(&level)
}

/// The level of a heading that the beginning of a text says, from 1, 0 for body text, and the text without marks. A text
/// of a drawing may be within a paragraph.
pub(super) fn take(text: &str) -> (Option<u8>, String) {
    let mut pieces = text.split(MARK);
    let mut out = pieces.next().unwrap_or_default().to_owned();
    let mut found = None;
    for piece in pieces {
        let mut rest = piece.chars();
        let level = rest.next().and_then(|digit| digit.to_digit(10)).filter(|_| out.is_empty());
        found = found.or(level.map(|level| if level < u32::from(BODY) { (level as u8 + 1).min(DEEPEST) } else { 0 }));
        out.push_str(rest.as_str());
    }
    (found, out)
}

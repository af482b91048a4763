//! Recognizes a line by its own characters alone: marks of divisions and quoted text, keys and values.

use super::LEAST_WORDS;

/// Most words behind the colons of a division, its name.
const MOST_OF_A_NAME: usize = 2;

/// Whether a line begins or ends a division of Markdown: `::: warning`, `:::: {#id .class key="value"}`.
pub(super) fn is_division(line: &str) -> bool {
    let Some(rest) = line.strip_prefix(":::") else { return false };
    let rest = rest.trim_matches([':', ' ']);
    let name = rest.find('{').map_or(rest, |at| &rest[..at]);
    name.split_whitespace().count() <= MOST_OF_A_NAME
}

/// A line without the marks of quoted text: a quoted paragraph is a paragraph.
pub(super) fn unquoted(line: &str) -> &str {
    let rest = line.trim_start_matches(['>', ' ']);
    match line.starts_with('>') && line[..line.len() - rest.len()].ends_with(' ') {
        true => rest,
        false => line,
    }
}

/// Whether a line is a key of YAML whose text is on the next lines: `text: |`.
pub(super) fn opens_scalar(line: &str) -> bool {
    key(line).is_some_and(|value| matches!(value.trim(), "|" | ">" | "|-" | ">-" | "|+" | ">+"))
}

/// The value after a line's key: `text: The operator shall log it.`
pub(super) fn key(line: &str) -> Option<&str> {
    let (key, value) = line.split_once(':')?;
    let key = key.trim_matches(['"', '\'']);
    let is_key = key.starts_with(char::is_alphabetic)
        && key.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.'))
        && (value.is_empty() || value.starts_with(' '));
    is_key.then_some(value)
}

/// Whether a line is a key and a value of several words.
pub(super) fn is_value(line: &str) -> bool {
    key(line).is_some_and(|value| value.split_whitespace().count() > LEAST_WORDS)
}

/// A longer line, in bytes, is not wrapped.
const LONGEST_LINE: usize = 132;

/// Whether a tenth of the lines that another one follows directly are longer than text is wrapped: word processors save
/// each paragraph and each cell as a line.
pub(super) fn is_unwrapped(marked: &str) -> bool {
    let lines: Vec<&str> = marked.lines().map(str::trim).collect();
    let is_text = |line: &str| !line.is_empty() && !line.starts_with('|');
    let followed = || lines.windows(2).filter(|pair| is_text(pair[0]) && is_text(pair[1])).map(|pair| pair[0].len());
    let long = followed().filter(|length| *length > LONGEST_LINE).count();
    long > 0 && long * 10 >= followed().count()
}

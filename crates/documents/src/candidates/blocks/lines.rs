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

/// The value after a line's key: `text: The operator shall log it.`, `text = "The operator shall log it."`, and after a
/// key in quotation marks.
pub(super) fn key(line: &str) -> Option<&str> {
    if let Some(value) = quoted_key(line) {
        return Some(value);
    }
    let at = line.find([':', '='])?;
    let (key, value) = (&line[..at], &line[at + 1..]);
    let is_assigned = line[at..].starts_with('=');
    let key = if is_assigned { key.trim_end() } else { key };
    let is_key = key.starts_with(char::is_alphabetic)
        && key.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.'))
        && (is_assigned || value.is_empty() || value.starts_with(' '));
    is_key.then_some(value)
}

/// The value after a key in quotation marks, which may be a sentence.
fn quoted_key(line: &str) -> Option<&str> {
    let sign = line.chars().next().filter(|sign| matches!(sign, '"' | '\''))?;
    let (_, rest) = line[1..].split_once(sign)?;
    let rest = rest.trim_start();
    let value = rest.strip_prefix([':', '='])?;
    (value.is_empty() || value.starts_with(' ')).then_some(value)
}

/// Values that are no words.
const LITERALS: [&str; 8] = ["true", "false", "yes", "no", "on", "off", "null", "~"];

/// Whether a line is a sentence as a key: `The operator must keep logs: true`, `The operator must keep logs.: 3`.
fn is_sentence_as_key(line: &str) -> bool {
    let value = line.rsplit_once(": ").or_else(|| line.rsplit_once(" = "));
    let is_value = |value: &str| LITERALS.contains(&value) || value.parse::<f64>().is_ok();
    let is_list = || line.split_once(".: ").is_some_and(|(_, value)| value.starts_with(['[', '{']));
    quoted_key(line).is_some() || value.is_some_and(|(_, value)| is_value(value)) || is_list() || line.ends_with(".:")
}

/// Whether a line names a part of the settings below it: `[rules]`.
fn is_section(line: &str) -> bool {
    line.starts_with('[') && line.ends_with(']')
}

/// Whether a line begins a new entry of data.
pub(super) fn is_entry(line: &str) -> bool {
    key(line).is_some() || is_section(line) || is_sentence_as_key(line)
}

/// Whether a line is a whole entry of data: a key and a value of several words, a sentence as a key, or a section.
pub(super) fn is_value(line: &str) -> bool {
    let is_long = || key(line).is_some_and(|value| value.split_whitespace().count() > LEAST_WORDS);
    is_long() || is_section(line) || is_sentence_as_key(line)
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

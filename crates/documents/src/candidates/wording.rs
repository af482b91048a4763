//! The wording of a sentence as the rules see it: in lower case, with plain signs, without quotations.

use plumbline_bounds::pattern;
use regex::{Captures, Regex};
use std::sync::LazyLock;

/// A sentence that may be a candidate.
pub(super) struct Wording {
    /// In lower case, words separated by single spaces.
    pub(super) text: String,
    /// How many words it has.
    pub(super) words: usize,
}

/// A title or a word in quotation marks; single ones only if they are not apostrophes.
static QUOTED: LazyLock<Regex> =
    LazyLock::new(|| pattern::own(r#""[^"]*"|(?P<before>^|[ (])'[^']*'(?P<after>[ ,.;:)]|$)"#));

/// Quotation marks around spreadsheet cells, which are not part of the sentence.
static CELLS: LazyLock<Regex> = LazyLock::new(|| pattern::own(r#"(?:^|[,;|])"[^"]*"(?:[,;|]|$)"#));

/// If a quotation has fewer words around it, it is the sentence.
const LEAST_AROUND: usize = 3;

impl Wording {
    /// The wording of a sentence; none for a question.
    pub(super) fn of(sentence: &str) -> Option<Self> {
        let plain = plain(sentence);
        if plain.trim_end_matches(['"', '\'', ')', ' ']).ends_with('?') {
            return None;
        }
        let plain = if CELLS.is_match(&plain) { plain.replace('"', " ") } else { plain };
        let keep = |part: &Captures<'_>, name: &str| part.name(name).map_or("", |found| found.as_str()).to_owned();
        let unquoted = QUOTED
            .replace_all(&plain, |part: &Captures<'_>| format!("{}\"…\"{}", keep(part, "before"), keep(part, "after")));
        let around = unquoted.split(' ').filter(|word| word.contains(char::is_alphanumeric)).count();
        let text = if around < LEAST_AROUND { plain.replace('"', "") } else { unquoted.into_owned() };
        let words = text.split(' ').filter(|word| word.contains(char::is_alphanumeric)).count();
        Some(Self { text, words })
    }
}

fn plain(sentence: &str) -> String {
    // The first word may be the number of a clause, which rules know.
    let (mut out, mut first_word) = (String::with_capacity(sentence.len()), true);
    for sign in sentence.chars().flat_map(char::to_lowercase) {
        match sign {
            // Emphasis of Markdown, and soft hyphens.
            '*' | '`' | '_' | '\u{ad}' | '\u{200b}' | '\u{307}' => {}
            '\u{2018}' | '\u{2019}' | '\u{201a}' | '\u{201b}' | '\u{2039}' | '\u{203a}' => out.push('\''),
            '\u{201c}' | '\u{201d}' | '\u{201e}' | '\u{201f}' | '\u{ab}' | '\u{bb}' => out.push('"'),
            '\u{2010}' | '\u{2011}' => out.push('-'),
            // Decomposed letters, full-width letters, and look-alikes of Latin letters.
            '\u{308}' => compose(&mut out),
            '\u{ff01}'..='\u{ff5e}' => out.extend(char::from_u32(u32::from(sign) - 0xfee0)),
            '\u{430}'..='\u{45f}' if out.ends_with(|before: char| before.is_ascii_alphabetic()) => {
                out.push(latin(sign))
            }
            // A number or an abbreviation is no end of a clause: `3.2`, `18:00`, `1,5`, `i.S.d.`
            _ if !first_word && sign.is_alphanumeric() && is_inner(&out, sign) => {
                out.pop();
                out.extend(['·', sign]);
            }
            _ if sign.is_whitespace() => {
                // A full stop within a sentence belongs to an abbreviation or an ordinal.
                if out.ends_with('.') {
                    out.pop();
                }
                if !out.is_empty() && !out.ends_with(' ') {
                    first_word = false;
                    out.push(' ');
                }
            }
            _ => out.push(sign),
        }
    }
    out.truncate(out.trim_end().len());
    out
}

/// Whether the sign at the end of a text is within a number or an abbreviation that goes on with a character.
fn is_inner(text: &str, next: char) -> bool {
    let mut signs = text.chars().rev();
    let (sign, before) = (signs.next(), signs.next().unwrap_or(' '));
    let in_number = || before.is_ascii_digit() && next.is_ascii_digit();
    match sign {
        Some('.') => in_number() || (before.is_alphabetic() && next.is_alphabetic()),
        Some(',' | ':') => in_number(),
        _ => false,
    }
}

/// Combines the dots of an umlaut with the letter before them.
fn compose(out: &mut String) {
    let letter = match out.pop() {
        Some('a') => 'ä',
        Some('o') => 'ö',
        Some('u') => 'ü',
        Some(other) => other,
        None => return,
    };
    out.push(letter);
}

/// The Latin letter that a Cyrillic look-alike within a Latin word replaces.
fn latin(sign: char) -> char {
    const ALIKE: [(char, char); 10] = [
        ('а', 'a'),
        ('е', 'e'),
        ('о', 'o'),
        ('р', 'p'),
        ('с', 'c'),
        ('у', 'y'),
        ('х', 'x'),
        ('і', 'i'),
        ('ѕ', 's'),
        ('ј', 'j'),
    ];
    ALIKE.iter().find(|(cyrillic, _)| *cyrillic == sign).map_or(sign, |(_, latin)| *latin)
}

/// A line with fewer capitals is a name.
const LEAST_CAPITALS: usize = 6;

/// Whether a line is in capitals.
pub(super) fn is_capitals(line: &str) -> bool {
    !line.contains(char::is_lowercase) && line.chars().filter(|sign| sign.is_uppercase()).count() >= LEAST_CAPITALS
}

//! Clause numbers: a line that begins with one begins a paragraph, even without extra spacing.

/// Longest number of a clause, in bytes: `(xviii)`, `10.12.13.`.
const LONGEST: usize = 12;

/// The first entries of lists whose numbers have a full stop.
const FIRST: [&str; 2] = ["a. ", "i. "];

/// Whether a line begins a clause after the text before it. A number alone proves nothing, because a sentence may have
/// it at the beginning of a line ("clause\n4.2 applies"): the text before must be complete.
pub(crate) fn begins_clause(before: &str, line: &str) -> bool {
    let Some((number, rest)) = split(line) else { return false };
    let before = before.trim_end();
    let begins = rest.starts_with(|c: char| c.is_uppercase() || !c.is_alphanumeric());
    match number {
        Number::Letter => ends(before) || before.ends_with([';', ',']) || ends_with_a_joining_word(before),
        Number::Section => begins && (ends(before) || before.ends_with(';') || ends_with_a_joining_word(before)),
        // A word may be parted behind a full stop: `invoke-rc.` `d. Calls`.
        Number::Dotted => {
            let follows = matches!(split(before), Some((Number::Dotted, _)));
            let follows = follows || FIRST.iter().any(|first| line.trim_start().starts_with(first));
            follows && (ends(before) || before.ends_with(';') || ends_with_a_joining_word(before))
        }
    }
}

/// Whether a line begins with the number of a clause, and with the beginning of its text.
pub(crate) fn is_labelled(line: &str) -> bool {
    split(line).is_some_and(|(number, rest)| number != Number::Section || rest.starts_with(char::is_uppercase))
}

/// Whether a text begins with the number of a section: `3.`, `3.1`, `\u{a7} 3`.
pub(crate) fn is_numbered(text: &str) -> bool {
    matches!(split(text), Some((Number::Section, _)))
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Number {
    /// `1.`, `1.1`, `2)`, `\u{a7} 3`.
    Section,
    /// `(a)`, `(iv)`, `(2)`, `b)`, `(aa)`.
    Letter,
    /// `a.`, `iv.`.
    Dotted,
}

/// The number at the beginning of a text, and the rest.
fn split(text: &str) -> Option<(Number, &str)> {
    let text = text.trim_start();
    let (text, sign) = text.strip_prefix('\u{a7}').map_or((text, false), |rest| (rest.trim_start(), true));
    let (number, rest) = text.split_once(char::is_whitespace)?;
    let rest = rest.trim_start();
    if number.len() > LONGEST || rest.is_empty() {
        return None;
    }
    let bare = number.trim_end_matches('.');
    let parts = || bare.split('.');
    let digits = |part: &str| (1..=3).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_digit());
    if parts().all(digits) && !bare.starts_with('0') && (sign || parts().count() > 1 || number.ends_with('.')) {
        return Some((Number::Section, rest));
    }
    let (kind, inner) = match (number.strip_suffix(')'), number.strip_suffix('.')) {
        (Some(inner), _) => (Number::Letter, inner.strip_prefix('(').unwrap_or(inner)),
        (None, Some(inner)) if may_follow_a_dot(inner, rest) => (Number::Dotted, inner),
        _ => return None,
    };
    // After `z` comes `aa`.
    let first = inner.bytes().next()?;
    let letter = inner.len() <= 2 && first.is_ascii_alphabetic() && inner.bytes().all(|byte| byte == first);
    let roman = !inner.is_empty() && inner.bytes().all(|byte| b"ivx".contains(&byte));
    (letter || roman || digits(inner)).then_some((kind, rest))
}

/// Whether a letter and a full stop are a number: `a. The clerk`. Not in `i. e.`, `p. 5`, and initials.
fn may_follow_a_dot(letter: &str, rest: &str) -> bool {
    let is_lower = letter.bytes().all(|byte| byte.is_ascii_lowercase());
    let is_abbreviation = rest.chars().nth(1) == Some('.');
    is_lower && rest.starts_with(char::is_alphabetic) && !is_abbreviation
}

/// Whether a sentence, or the announcement of a list, ends here; `No.` and `Art.` do not end one.
fn ends(text: &str) -> bool {
    let abbreviated = text.strip_suffix('.').is_some_and(|text| {
        let last = text.rsplit(|c: char| !c.is_alphanumeric()).next().unwrap_or(text);
        ABBREVIATIONS.contains(&last.to_lowercase().as_str())
    });
    let text = text.trim_end_matches(['"', '\u{201d}', ')', '\'']);
    text.ends_with(['.', '!', '?', ':']) && !abbreviated
}

/// Abbreviations before a number.
const ABBREVIATIONS: [&str; 12] = ["no", "nos", "art", "arts", "sec", "cl", "para", "p", "pp", "nr", "abs", "ziff"];

/// `; and`, `, or` before the last entry of a list.
fn ends_with_a_joining_word(text: &str) -> bool {
    let joined = ["and", "or", "und", "oder", "and/or"].iter().find_map(|word| text.strip_suffix(word));
    joined.is_some_and(|text| text.trim_end().ends_with([';', ',']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clauses_begin_where_the_text_before_has_ended() {
        for (before, line) in [
            ("The fee is due.", "4.3 The Supplier invoices it."),
            ("The fee is due.", "12. Notices"),
            ("as follows:", "(a) the fee; and"),
            ("(a) the fee;", "(b) the costs"),
            ("(a) the fee; and", "(iv) the costs"),
            ("(a) the fee,", "b) the costs"),
            ("1. It ends.", "a. The fee is due."),
            ("a. the fee; and", "ii. the costs"),
            ("(z) the fee;", "(aa) the costs"),
            ("It ends.", "\u{a7} 3 Term"),
            ("(called \u{201c}Fee.\u{201d})", "2.1 \u{201c}Term\u{201d} means"),
        ] {
            assert!(begins_clause(before, line), "{before} / {line}");
        }
        for (before, line) in [
            ("set out in clause", "4.3 The Supplier"),
            ("under Art.", "5. The Supplier"),
            ("It was so in 2018.", "3.5 million words were"),
            ("It was so.", "2019 was the year"),
            ("within", "30 days"),
            ("the Supplier", "(a) company"),
            ("(z) the fee;", "(ab) the costs"),
            ("as in clauses 3,", "4.1 The"),
            ("It ends.", "(see below) and"),
            ("It ends.", "4.3"),
            ("It ends:", "i. e. the fee"),
            ("as in Smith,", "p. 5 and"),
            ("as in Smith,", "s. Annex"),
            ("signed by J.", "A. Smith and"),
            ("Roe", "v. Wade"),
            ("They call invoke-rc.", "d. Calls may fail."),
            ("libgdbm.so.3.", "0.0. This"),
        ] {
            assert!(!begins_clause(before, line), "{before} / {line}");
        }
    }
}

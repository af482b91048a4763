//! Sentence boundaries within a paragraph.
//!
//! A full stop ends a sentence unless it belongs to an abbreviation, an initial, a date or the number of a clause. A
//! sentence continues after a semicolon, because the rest often lacks a subject. Bullets between the entries of a line end
//! one: `Sign the form • Lock the gate`.

use std::ops::Range;

/// Signs that are between entries, not within them.
const BULLETS: [char; 7] = ['•', '●', '◦', '▪', '‣', '►', '▶'];

/// Signs that are between words as well: they divide whole clauses only.
const DIVIDERS: [char; 9] = ['|', '/', '·', '–', '—', '-', '■', '□', '✓'];
/// With fewer clauses, a sign may be within a sentence.
const LEAST_CLAUSES: usize = 3;
/// With fewer words, a part may be a name.
const LEAST_OF_A_CLAUSE: usize = 3;

/// Abbreviations that do not end a sentence, in lower case without their full stop. Abbreviations with an inner full
/// stop, and single letters, need no entry.
const ABBREVIATIONS: [&str; 122] = [
    "abb", "abl", "abs", "abschn", "abt", "al", "allg", "anh", "anl", "anm", "approx", "apr", "art", "arts", "aufl",
    "aug", "bd", "begr", "bes", "bspw", "buchst", "bzgl", "bzw", "ca", "cf", "ch", "chap", "cl", "co", "corp", "dec",
    "dept", "dgl", "dipl", "dr", "ed", "eds", "eg", "ehem", "einschl", "entspr", "evtl", "exkl", "feb", "ff", "fig",
    "figs", "fr", "geb", "gem", "gez", "ggf", "gov", "hr", "hrsg", "ie", "incl", "ing", "inkl", "insb", "jan", "jr",
    "jul", "jun", "jur", "kap", "lit", "lt", "ltd", "mar", "max", "med", "mgmt", "min", "mind", "mio", "mr", "mrd",
    "mrs", "ms", "nat", "nos", "nov", "nr", "nrn", "oct", "okt", "para", "paras", "pp", "prof", "rdnr", "ref", "refs",
    "reg", "regs", "rer", "resp", "rn", "rz", "sched", "sec", "secs", "sect", "sep", "sept", "sog", "sr", "st", "str",
    "subcl", "subpara", "subsec", "tab", "tel", "tz", "uabs", "unterabs", "usf", "vgl", "vol", "vs",
];

/// Abbreviations only before a number: `No. 5`, but `The answer is no.`
const BEFORE_NUMBERS: [&str; 10] = ["no", "art", "p", "nr", "ziff", "pos", "seite", "bl", "form", "sch"];

/// After these a number with a full stop is an ordinal: `am 3. Werktag`.
const BEFORE_ORDINALS: [&str; 24] = [
    "am",
    "ab",
    "bis",
    "vom",
    "zum",
    "im",
    "beim",
    "der",
    "die",
    "das",
    "den",
    "dem",
    "des",
    "und",
    "oder",
    "jeder",
    "jeden",
    "jedem",
    "jedes",
    "seit",
    "nach",
    "vor",
    "spätestens",
    "jeweils",
];

/// Before these a number with a full stop is a day.
const MONTHS: [&str; 12] = [
    "januar",
    "februar",
    "märz",
    "april",
    "mai",
    "juni",
    "juli",
    "august",
    "september",
    "oktober",
    "november",
    "dezember",
];

/// After these a single letter is a name, not an initial: `see Annex A. The …`.
const BEFORE_LETTERS: [&str; 17] = [
    "annex", "appendix", "schedule", "part", "class", "option", "type", "table", "category", "group", "anhang",
    "anlage", "teil", "klasse", "tabelle", "typ", "stufe",
];

/// Units of a single letter that is no abbreviation behind a number.
const UNITS: [&str; 11] = ["A", "V", "W", "K", "N", "J", "m", "g", "h", "l", "t"];

/// The sentences of a line, without the white space between them.
pub(super) fn cut(line: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    for entry in entries(line) {
        cut_entry(&line[..entry.end], entry.start, &mut found);
    }
    found
}

/// Adds the sentences of a line from this place on.
fn cut_entry(line: &str, mut start: usize, found: &mut Vec<Range<usize>>) {
    for (at, stop) in line.char_indices().filter(|(_, sign)| matches!(sign, '.' | '!' | '?' | '…')) {
        if at < start {
            continue;
        }
        let end = behind(line, at + stop.len_utf8());
        if ends_here(line, start, at, stop, end) {
            push(found, line, start..end);
            start = end;
        }
    }
    push(found, line, start..line.len());
}

/// The entries of a line that has signs between them; the whole line if it has none.
fn entries(line: &str) -> Vec<Range<usize>> {
    let of = |signs: &[char], are_some: fn(&str, &[Range<usize>]) -> bool| {
        let parts = signs.iter().filter(|sign| line.contains(**sign)).map(|sign| between(line, *sign));
        parts.into_iter().find(|parts| are_some(line, parts))
    };
    let entries = of(&BULLETS, are_entries).or_else(|| of(&DIVIDERS, are_clauses));
    entries.unwrap_or_else(|| std::iter::once(0..line.len()).collect())
}

/// The parts of a line between a sign with white space around it.
fn between(line: &str, sign: char) -> Vec<Range<usize>> {
    let (mut parts, mut start) = (Vec::new(), 0);
    for (at, _) in line.match_indices(sign) {
        let end = at + sign.len_utf8();
        if line[..at].ends_with(char::is_whitespace) && line[end..].starts_with(char::is_whitespace) {
            parts.push(start..at);
            start = end;
        }
    }
    parts.push(start..line.len());
    parts
}

/// Whether these are the entries of a list. A sign beside a single letter or a number is of a formula.
fn are_entries(line: &str, parts: &[Range<usize>]) -> bool {
    let words = |part: &Range<usize>| line[part.clone()].split_whitespace();
    let is_long = |word: &str, counts: fn(char) -> bool| word.chars().filter(|sign| counts(*sign)).count() > 1;
    let divides = |pair: &[Range<usize>]| {
        words(&pair[0]).next_back().is_some_and(|word| is_long(word, char::is_alphanumeric))
            && words(&pair[1]).next().is_some_and(|word| is_long(word, char::is_alphabetic))
    };
    parts.len() > 1 && parts.windows(2).all(divides)
}

/// Whether each of these begins like a sentence.
fn are_clauses(line: &str, parts: &[Range<usize>]) -> bool {
    let is_clause = |part: &Range<usize>| {
        let words = || line[part.clone()].split_whitespace().filter(|word| word.contains(char::is_alphabetic));
        words().next().is_some_and(|first| first.starts_with(char::is_uppercase))
            && words().count() >= LEAST_OF_A_CLAUSE
    };
    parts.len() >= LEAST_CLAUSES && parts.iter().all(is_clause)
}

fn push(found: &mut Vec<Range<usize>>, line: &str, range: Range<usize>) {
    let text = line[range.clone()].trim_end();
    let start = range.start + text.len() - text.trim_start().len();
    // A part without letters, such as a single number, belongs to the sentence before it.
    match found.last_mut() {
        Some(last) if !text.trim().is_empty() && !text.contains(char::is_alphabetic) => {
            last.end = range.start + text.len()
        }
        _ if text.trim().is_empty() => {}
        _ => found.push(start..range.start + text.len()),
    }
}

/// The end of the closing characters of a sentence: further stops, quotation marks, brackets, a footnote number, the
/// backslash by which Markdown ends a line.
fn behind(line: &str, after: usize) -> usize {
    let closing = ['.', '!', '?', '"', '\'', '”', '“', '’', '»', '›', ')', ']', '*', '_', '\\'];
    let rest = line[after..].trim_start_matches(closing);
    let rest = behind_note(rest).map_or(rest, |rest| rest.trim_start_matches(closing));
    let mut end = line.len() - rest.len();
    let noted = rest.trim_start_matches(|sign: char| sign.is_ascii_digit() || "¹²³⁴⁵⁶⁷⁸⁹⁰".contains(sign));
    let before = line[..after].trim_end_matches('.').chars().next_back();
    if (1..=3).contains(&rest[..rest.len() - noted.len()].chars().count())
        && before.is_some_and(char::is_alphabetic)
        && noted.starts_with(' ')
    {
        end = line.len() - noted.len();
    }
    end
}

/// The text behind the reference to a note, `[^3]` or `[3]`, at its beginning.
fn behind_note(text: &str) -> Option<&str> {
    let (name, rest) = text.strip_prefix('[')?.split_once(']')?;
    let is_number = !name.is_empty() && name.len() <= 3 && name.bytes().all(|sign| sign.is_ascii_digit());
    let is_name = name.strip_prefix('^').is_some_and(|name| !name.is_empty() && !name.contains(char::is_whitespace));
    (is_number || is_name).then_some(rest)
}

fn ends_here(line: &str, start: usize, at: usize, stop: char, end: usize) -> bool {
    let rest = &line[end..];
    // A note in its place: `It shall log.^[A log is a file.]`
    if rest.starts_with("^[") {
        return true;
    }
    if !rest.starts_with(char::is_whitespace) {
        return rest.is_empty();
    }
    let next = rest.trim_start();
    let opening = ['"', '“', '„', '‘', '«', '»', '(', '[', '§', '\'', '*', '_', '–', '•'];
    let begins =
        next.starts_with(|first: char| first.is_uppercase() || first.is_numeric()) || next.starts_with(opening);
    begins && (stop != '.' || !belongs_to_a_word(&line[start..at], next))
}

/// Whether the full stop after `before` does not end a sentence.
fn belongs_to_a_word(before: &str, next: &str) -> bool {
    let word = before.rsplit(char::is_whitespace).next().unwrap_or_default();
    let earlier = before[..before.len() - word.len()].trim_end();
    let bare = word.trim_start_matches(|sign: char| !sign.is_alphanumeric()).to_lowercase();
    let previous = last_word(earlier);
    let number = next.starts_with(|first: char| first.is_numeric());
    let length = bare.chars().count();
    // The number or letter of a clause: `2. The operator`, `a. The operator`.
    if earlier.is_empty() && length <= 3 && (length == 1 || bare.bytes().all(|sign| sign.is_ascii_digit())) {
        return true;
    }
    if bare.ends_with(|sign: char| sign.is_ascii_digit()) {
        return bare.bytes().all(|digit| digit.is_ascii_digit()) && is_ordinal(&bare, &previous, next);
    }
    if bare.chars().count() == 1 && bare.chars().all(char::is_alphabetic) {
        // A unit behind its number, `16 A.`, but not `Abs. 1 S. 2` or `Art. 6 f. GDPR`.
        let is_measure = earlier.ends_with(|sign: char| sign.is_ascii_digit()) && !number;
        let is_unit = word.starts_with('°') || (is_measure && UNITS.contains(&word));
        return !is_unit && !BEFORE_LETTERS.contains(&previous.as_str());
    }
    let abbreviation =
        bare.contains('.') && !bare.contains(['/', '@']) && bare.split('.').all(|part| part.chars().count() <= 3);
    abbreviation
        || ABBREVIATIONS.binary_search(&bare.rsplit('-').next().unwrap_or_default()).is_ok()
        || (number && BEFORE_NUMBERS.contains(&bare.as_str()))
}

fn is_ordinal(digits: &str, previous: &str, next: &str) -> bool {
    let following = next.split(|sign: char| !sign.is_alphanumeric()).next().unwrap_or_default().to_lowercase();
    digits.len() <= 2 && (MONTHS.contains(&following.as_str()) || BEFORE_ORDINALS.contains(&previous))
}

fn last_word(text: &str) -> String {
    let word = text.rsplit(char::is_whitespace).next().unwrap_or_default();
    word.trim_matches(|sign: char| !sign.is_alphanumeric()).to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_of_abbreviations_is_in_order() {
        assert!(ABBREVIATIONS.is_sorted());
    }

    #[track_caller]
    fn check(line: &str, expected: &[&str]) {
        let found: Vec<&str> = cut(line).into_iter().map(|range| &line[range]).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn a_full_stop_ends_a_sentence() {
        check(
            "One is here. Two is! Is three? (Four.) “Five.” Six",
            &["One is here.", "Two is!", "Is three?", "(Four.)", "“Five.”", "Six"],
        );
        check("It ends in a note.12 The next begins. ", &["It ends in a note.12", "The next begins."]);
        check("It ends here.[^a] Another here.[12] A third.", &["It ends here.[^a]", "Another here.[12]", "A third."]);
        check(
            "It ends.^[A note. Two.] Next. See x.[Not.] y",
            &["It ends.", "^[A note.", "Two.]", "Next.", "See x.[Not.] y"],
        );
        check("It ends in one.¹² The next begins.³ ", &["It ends in one.¹²", "The next begins.³"]);
        check(
            "See Annex A. The rest follows. He said no. Then he left.",
            &["See Annex A.", "The rest follows.", "He said no.", "Then he left."],
        );
        check(
            "Keep it below 18 °C. The vault is dry. Fuse it with 16 A. Doors open within 24 h. Then call.",
            &[
                "Keep it below 18 °C.",
                "The vault is dry.",
                "Fuse it with 16 A.",
                "Doors open within 24 h.",
                "Then call.",
            ],
        );
        check("Er gilt bis 2020. Danach nicht.", &["Er gilt bis 2020.", "Danach nicht."]);
    }

    #[test]
    fn signs_between_entries_end_a_sentence() {
        check("Sign the form • lock the gate • Pay", &["Sign the form", "lock the gate", "Pay"]);
        check("It must be signed. Sign it by 2027 ▪ Lock it.", &["It must be signed.", "Sign it by 2027", "Lock it."]);
        for sign in DIVIDERS {
            let line = format!("The clerk must sign {sign} The guard must wait {sign} The owner must pay. Each must.");
            check(&line, &["The clerk must sign", "The guard must wait", "The owner must pay.", "Each must."]);
        }
        for line in [
            "The power P = U • I must be low.",
            "The tenant / The lessee of it / The owner must pay.",
            "The Clerk of Bern – Mr Smith of Bern – must sign it.",
            "The clerk must sign it – The guard must wait.",
        ] {
            check(line, &[line]);
        }
    }

    #[test]
    fn abbreviations_dates_and_numbers_of_clauses_end_none() {
        for line in [
            "Under Art. 6 para. 1 lit. b GDPR, e.g. No. 5 of Mr. J. Smith et al. Ltd. rules apply.",
            "Nach § 147 Abs. 1 Nr. 5 AO i. V. m. § 14b UStG, z. B. Rechnungen bzw. Belege, vgl. Rz. 12 ff. GoBD.",
            "It follows from § 147 Abs. 1 S. 2 AO and Art. 6 f. GDPR, 5 v. H. of it.",
            "Die Meldung erfolgt am 3. Werktag des Monats und bis 31. Dezember.",
            "2. The operator keeps version 2.0 at www.example.com and pays 1.5 percent.",
            "a. The operator keeps it; the owner does not.",
            "Mr. Smith signs it.",
            "Gem. § 5 Abs. 3 i. V. m. Art. 3 Abs. 1 UAbs. 2 prüft es Dipl.-Ing. Müller lt. Vertrag mit Abt. 5.",
        ] {
            check(line, &[line]);
        }
    }
}

//! The numbers of a text by their values: `10,000` is `10.000`, `ten` is `10`, `31.12.2024` is `31 December 2024`.
//!
//! Not counted: marks of lists, clause numbers at the beginning of a sentence, footnote marks, and references to other
//! texts: `Rule 4.2`, `§ 5`, `No 1234/2008`, `ISO 27001`.

use super::CELLS;
use super::digits::{as_date, is_group, multiplied, readings, unit_of};
use super::measures::{Measure, measures};
use super::number_words::{ITEM_JOINERS, JOINERS, NAMES, UNITS, WEAK_WORDS, month, value};
use super::spelled;
use std::{cell::OnceCell, collections::HashSet};

/// A number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Number {
    /// Its spelling in the text.
    pub(super) said: String,
    /// Whether it is written in digits.
    pub(super) is_in_digits: bool,
    /// Its purpose.
    purpose: Purpose,
    /// All possible readings, each with its values: those of a date are its parts.
    readings: Vec<Vec<String>>,
}

impl Number {
    /// Whether all values of one of its readings are known.
    fn is_read(&self, is_known: impl Fn(&String) -> bool) -> bool {
        self.readings.iter().any(|values| values.iter().all(&is_known))
    }

    /// Whether all that it measures in its text is among these.
    fn is_measured(&self, text: &str, others: &[Measure]) -> bool {
        let states = |one: &Measure| self.readings.iter().any(|values| *values == [one.number.as_str()]);
        let own: Vec<Measure> = measures(text).into_iter().filter(states).collect();
        !own.is_empty() && own.iter().all(|one| one.is_in(others))
    }
}

/// The purpose of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Purpose {
    /// A quantity, duration or date.
    Value,
    /// The name of another text, or of a part of one.
    Name,
    /// The mark of an item, a clause or a footnote.
    Mark,
}

/// The values that occur in some texts.
pub(super) struct Numbers<'a> {
    values: HashSet<String>,
    texts: Vec<&'a str>,
    /// What the texts measure: read only for a number that is not among the values.
    measured: OnceCell<Vec<Measure>>,
}

impl<'a> Numbers<'a> {
    pub(super) fn of(texts: impl IntoIterator<Item = &'a str>) -> Self {
        let texts: Vec<&str> = texts.into_iter().collect();
        let mut values = HashSet::new();
        for text in &texts {
            // An apparent name suffices when a number is searched for.
            let said = all(text).into_iter().filter(|number| number.purpose != Purpose::Mark);
            values.extend(said.flat_map(|number| number.readings).flatten());
            // A row's number is its mark; a text that repeats the row after its own words has that number too.
            let of_row = text.split_once(CELLS).map(|(cell, _)| cell.trim());
            values.extend(of_row.filter(|cell| cell.bytes().all(|sign| sign.is_ascii_digit())).map(str::to_owned));
            let words = || text.split(|sign: char| !sign.is_alphabetic());
            let months = words().filter_map(month);
            values.extend(
                months
                    .chain(words().filter_map(|word| value(&word.to_lowercase(), &WEAK_WORDS)))
                    .map(|value| value.to_string()),
            );
        }
        Self { values, texts, measured: OnceCell::new() }
    }

    /// Whether a number of a text is among them, in any of its readings; or, of one in words, all that it measures: *two
    /// weeks* for *a fortnight*.
    pub(super) fn have(&self, number: &Number, text: &str) -> bool {
        if number.is_read(|value| self.values.contains(value)) {
            return true;
        }
        let measured = self.measured.get_or_init(|| self.texts.iter().flat_map(|text| measures(text)).collect());
        let says = |measure: &Measure, value: &str| measure.number == value || measure.says_in_words(value);
        let is_known = |value: &String| self.values.contains(value) || measured.iter().any(|one| says(one, value));
        number.is_read(is_known) || (!number.is_in_digits && number.is_measured(text, measured))
    }
}

/// The numbers of a text that are quantities or dates.
pub(super) fn numbers(text: &str) -> Vec<Number> {
    all(text).into_iter().filter(|number| number.purpose == Purpose::Value).collect()
}

/// All numbers of a text, including names and marks.
fn all(text: &str) -> Vec<Number> {
    let tokens: Vec<&str> = text.split_whitespace().collect();
    let mut found = Vec::new();
    let mut before = Before { begins: true, begins_row: true, ..Before::default() };
    let mut taken = 0;
    for (at, token) in tokens.iter().enumerate() {
        if at >= taken {
            taken = at + before.take(&tokens[at..], &mut found);
        }
        found.extend(month_of_date(&tokens, at));
        before.passed(token);
    }
    found
}

/// The month beside a day or a year: `31 March`, `December 31, 2024`.
fn month_of_date(tokens: &[&str], at: usize) -> Option<Number> {
    let core = |at: usize| tokens.get(at).map_or("", |token| token.trim_matches(|sign: char| !sign.is_alphanumeric()));
    let is_part = |at: Option<usize>| at.is_some_and(|at| core(at).starts_with(|sign: char| sign.is_ascii_digit()));
    let name = core(at);
    let value = month(name).filter(|_| name.starts_with(char::is_uppercase))?;
    let day = at.checked_sub(if at > 0 && core(at - 1) == "of" { 2 } else { 1 });
    (is_part(day) || is_part(Some(at + 1))).then(|| Number::in_words(name, value.into()))
}

impl Number {
    fn in_words(said: &str, value: u64) -> Self {
        let readings = vec![vec![value.to_string()]];
        Self { said: said.to_owned(), is_in_digits: false, purpose: Purpose::Value, readings }
    }
}

/// The context before a word.
#[derive(Default)]
struct Before {
    /// Whether a sentence, a cell or an item begins here.
    begins: bool,
    /// Whether the previous word joins an item to the one before: `keep a log; or 2. report it`.
    joins: bool,
    /// Whether the previous word ends an item.
    ends_item: bool,
    /// Whether a line of a table begins here.
    begins_row: bool,
    /// Whether the previous word names a text, or is a number that does.
    names: bool,
    /// Whether several numbers may follow: the word is a plural, or the previous number has parts.
    names_several: bool,
}

impl Before {
    /// Adds the numbers of the first word. Returns how many words they have: `10 000`, `two hundred`.
    fn take(&mut self, tokens: &[&str], found: &mut Vec<Number>) -> usize {
        let (token, next) = (tokens[0], tokens.get(1).copied().unwrap_or_default());
        let core = token.trim_matches(|sign: char| !sign.is_alphanumeric() && sign != '§' && sign != '%');
        let core = core.trim_end_matches('%');
        if !core.starts_with(|sign: char| sign.is_ascii_digit()) {
            if let Some(rest) = core.strip_prefix('§') {
                (self.names, self.names_several) = (true, rest.starts_with('§'));
                return 1;
            }
            if let Some((value, words)) = spelled::in_words(tokens) {
                found.push(Number::in_words(core, value));
                return words;
            }
            found.extend(spelled::in_word(core).into_iter().map(|value| Number::in_words(core, value)));
            return 1;
        }
        let digits = &core[..core.find(|sign: char| sign.is_alphabetic()).unwrap_or(core.len())];
        let purpose = match () {
            () if self.is_list_mark(token, core, next) || is_note(token) => Purpose::Mark,
            () if self.names || names_itself(core) => Purpose::Name,
            () => Purpose::Value,
        };
        self.names_several |= purpose != Purpose::Value && core.contains('.');
        let spaced = purpose == Purpose::Value
            && is_group(next)
            && digits.len() <= 3
            && digits.bytes().all(|sign| sign.is_ascii_digit());
        let joined = if spaced { format!("{digits}{}", &next[..3]) } else { String::new() };
        let digits =
            if spaced { joined.as_str() } else { digits.trim_end_matches(|sign: char| !sign.is_ascii_digit()) };
        let unit = if spaced || !core.ends_with(|sign: char| sign.is_alphabetic()) { next } else { unit_of(core) };
        let readings = multiplied(readings(digits), if spaced { "" } else { unit });
        found.push(Number { said: digits.to_owned(), is_in_digits: true, purpose, readings });
        1 + usize::from(spaced)
    }

    /// `(1)`, `1.`, `4.2` before the words of a sentence.
    fn is_list_mark(&self, token: &str, core: &str, next: &str) -> bool {
        let is_bracketed = token.trim_end_matches([',', ';', '.', ':']) == format!("({core})");
        if is_bracketed && core.len() <= 3 {
            return true;
        }
        let is_joined = self.joins && token.ends_with(['.', ')']);
        if !self.begins && !is_joined {
            return false;
        }
        let first = next.trim_start_matches(|sign: char| !sign.is_alphanumeric());
        let counts =
            UNITS.contains(&first.trim_end_matches(|sign: char| !sign.is_alphanumeric()).to_lowercase().as_str());
        if next.starts_with('|') && !self.begins_row {
            return false;
        }
        let is_plain = core.bytes().all(|sign| sign.is_ascii_digit() || sign == b'.');
        let is_marked = token.ends_with(['.', ')', ':']) || core.contains('.');
        let is_first_cell = self.begins_row && next.starts_with('|');
        let goes_on = first.starts_with(char::is_uppercase) || next.starts_with(['"', '“', '„', '(']) || is_first_cell;
        is_plain && core.len() <= 8 && !counts && (is_marked || goes_on)
    }

    fn passed(&mut self, token: &str) {
        let core =
            token.trim_matches(|sign: char| !sign.is_alphanumeric() && sign != '§' && sign != '&').to_lowercase();
        let is_number = core.starts_with(|sign: char| sign.is_ascii_digit());
        let ends_list = token.ends_with([';', '.', ':']) && is_number && token.len() > core.len();
        if NAMES.contains(&core.as_str()) || core.starts_with('§') {
            let is_bare = core.trim_start_matches('§').is_empty() || !core.starts_with('§');
            self.names_several = core.starts_with("§§")
                || (core.ends_with('s') && core != "abs")
                || core.ends_with("tze")
                || core == "artikel";
            self.names = is_bare || self.names_several;
        } else if self.names && is_number {
            self.names = (self.names_several || token.ends_with(',')) && !ends_list;
        } else if !(self.names && (JOINERS.contains(&core.as_str()) || is_letter(token))) {
            (self.names, self.names_several) = (false, false);
        }
        self.begins_row &= token == "|";
        self.joins = self.ends_item && ITEM_JOINERS.contains(&core.as_str());
        self.ends_item = token.ends_with([';', ',']);
        self.begins =
            token.ends_with(['.', ':', ';', '!', '?', '|']) || token.chars().all(|sign| !sign.is_alphanumeric());
    }
}

/// `(a)`, `(EU)`: may occur between a name and its number.
fn is_letter(token: &str) -> bool {
    token.starts_with('(') && token.trim_end_matches([',', ';']).ends_with(')') && token.len() <= 8
}

/// `[12]`.
fn is_note(token: &str) -> bool {
    token.starts_with('[') && token.trim_end_matches([',', ';', '.']).ends_with(']')
}

/// Numbers that can only be names: `4.2.1`, `4.2(a)`, `2016/679`.
fn names_itself(core: &str) -> bool {
    let digits = &core[..core.find(|sign: char| !(sign.is_ascii_digit() || sign == '.')).unwrap_or(core.len())];
    let parts: Vec<&str> = digits.split('.').filter(|part| !part.is_empty()).collect();
    let is_grouped = parts.len() > 2 && parts[1..].iter().all(|part| part.len() == 3);
    let is_date = parts.len() == 3 && parts[2].len() >= 2 && as_date(&[parts[0], parts[1]]);
    let has_parts = parts.len() > 2 && !is_grouped && !is_date;
    let has_letter = core[digits.len()..].starts_with('(');
    let mut slashed = core.split('/').take_while(|part| part.bytes().all(|sign| sign.is_ascii_digit()));
    let of_year = matches!((slashed.next(), slashed.next()), (Some(first), Some(second)) if first.len().max(second.len()) >= 3)
        && core.matches('/').count() >= 1
        && !core.split('/').skip(2).any(|part| part.len() == 4);
    has_parts || has_letter || of_year
}

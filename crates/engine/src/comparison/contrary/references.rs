//! A reference to another text, or to another part of one: *Annex V* for *Annex IV*, *§ 6* for *§ 5*, *Rule 4.3* for *Rule
//! 4.2*.

use super::super::number_words::{JOINERS, NAMES};
use super::{MOST_SHOWN, Pair, beginning};

/// Letters that are a numeral alone; `C` and `D` are names of annexes.
const ONE_LETTER: [&str; 3] = ["I", "V", "X"];

/// A reference: its noun, the parts of its number, and its words.
struct Reference {
    noun: String,
    parts: Vec<String>,
    said: String,
}

impl Reference {
    /// Whether one is a part of the other: `Rule 4` and `Rule 4.2`.
    fn is_like(&self, other: &Self) -> bool {
        self.noun == other.noun && self.parts.iter().zip(&other.parts).all(|(one, other)| one == other)
    }
}

/// The reference that only the text has, where its quotes have one by that noun that the text does not have.
pub(super) fn other(pair: &Pair) -> Option<String> {
    let (said, quoted) = (of(&pair.text), of(&pair.quotes));
    let is_in = |one: &Reference, others: &[Reference]| others.iter().any(|other| other.is_like(one));
    said.iter().filter(|one| !is_in(one, &quoted)).find_map(|one| {
        let other = quoted.iter().find(|other| other.noun == one.noun && !is_in(other, &said))?;
        let shown = |reference: &Reference| beginning(&reference.said, MOST_SHOWN);
        Some(format!("its text says `{}` where its quotes say `{}`", shown(one), shown(other)))
    })
}

/// The references of a text.
fn of(text: &str) -> Vec<Reference> {
    let text = text.replace('§', " § ");
    let (mut found, mut noun, mut is_open) = (Vec::new(), None::<String>, false);
    for token in text.split_whitespace() {
        let core = token.trim_matches(|sign: char| !sign.is_alphanumeric() && !['§', '&'].contains(&sign));
        // The noun is first: `V` is a version elsewhere.
        if let Some(name) = noun.as_ref().filter(|_| is_open)
            && let Some(parts) = number(core)
        {
            found.push(Reference { noun: name.clone(), parts, said: format!("{name} {core}") });
            is_open = token.ends_with(',');
        } else if let Some(name) = named(core) {
            (noun, is_open) = (Some(name), true);
        } else {
            is_open = JOINERS.contains(&core.to_lowercase().as_str()) || is_bracketed(token);
            noun = noun.filter(|_| is_open);
        }
    }
    found
}

/// The noun of a reference, in the singular.
fn named(word: &str) -> Option<String> {
    let word = word.to_lowercase();
    if !NAMES.contains(&word.as_str()) {
        return None;
    }
    let singular = word.strip_suffix("es").filter(|_| word == "annexes").or_else(|| word.strip_suffix('s'));
    Some(singular.filter(|singular| singular.len() > 1 && word != "abs").unwrap_or(&word).to_owned())
}

/// `(EU)`, `(2)`: between a noun and its number, or between two numbers.
fn is_bracketed(token: &str) -> bool {
    token.starts_with('(') && token.trim_end_matches([',', ';']).ends_with(')')
}

/// The parts of a number: 5 and 2 of `5(2)`, 4 of `IV`, b of `B`.
fn number(core: &str) -> Option<Vec<String>> {
    if core.starts_with(|sign: char| sign.is_ascii_digit()) {
        let parts = core.split(|sign: char| !sign.is_alphanumeric()).filter(|part| !part.is_empty());
        return Some(parts.map(str::to_lowercase).collect());
    }
    if let Some(value) = roman(core) {
        return Some(vec![value.to_string()]);
    }
    let is_letter = core.len() == 1 && core.bytes().all(|sign| sign.is_ascii_uppercase());
    is_letter.then(|| vec![core.to_lowercase()])
}

/// The value of a Roman numeral in capitals, or in small letters below forty.
fn roman(word: &str) -> Option<u32> {
    const MOST: u32 = 399;
    let capitals = if word.bytes().all(|sign| b"ivx".contains(&sign)) { word.to_uppercase() } else { word.to_owned() };
    let is_numeral = capitals.len() > 1 || ONE_LETTER.contains(&capitals.as_str());
    if is_numeral { (1..=MOST).find(|value| numeral(*value) == capitals) } else { None }
}

fn numeral(mut value: u32) -> String {
    const SIGNS: [(&str, u32); 9] =
        [("C", 100), ("XC", 90), ("L", 50), ("XL", 40), ("X", 10), ("IX", 9), ("V", 5), ("IV", 4), ("I", 1)];
    let mut numeral = String::new();
    for (sign, worth) in SIGNS {
        while value >= worth {
            value -= worth;
            numeral.push_str(sign);
        }
    }
    numeral
}

//! The opposite of a word: *after* for *before*, *decrypt* for *encrypt*, *unlocked* for *locked*.

use super::super::modals::{denials, restricts};
use super::super::spelled::in_word;
use super::{Pair, content};

/// Beginnings of words and of their opposites; one with a space at its end is the whole word.
const OPPOSITES: [(&[&str], &[&str]); 23] = [
    (&["before "], &["after "]),
    (&["above "], &["below ", "under "]),
    (&["minim"], &["maxim"]),
    (&["least "], &["most "]),
    (&["earliest "], &["latest "]),
    (&["beginning ", "start "], &["end "]),
    (&["increas"], &["decreas", "reduc"]),
    (&["encrypt"], &["decrypt"]),
    (&["enabl"], &["disabl"]),
    (&["accept", "approv"], &["reject"]),
    (&["internal"], &["external"]),
    (&["includ"], &["exclud"]),
    (&["open "], &["closed "]),
    (&["more "], &["less ", "fewer "]),
    (&["mindestens "], &["höchstens "]),
    (&["frühestens "], &["spätestens "]),
    (&["verschlüssel"], &["entschlüssel"]),
    (&["beginn "], &["ende "]),
    (&["bevor "], &["nachdem "]),
    (&["mehr "], &["weniger "]),
    (&["erhöh"], &["verringer", "senk"]),
    (&["interne"], &["externe"]),
    (
        &["all ", "every ", "each ", "alle ", "allen ", "aller ", "jede ", "jeder ", "jedes ", "jeden ", "jedem "],
        &["some ", "several ", "einige ", "einigen ", "einiger ", "manche ", "manchen "],
    ),
];

/// Words before a number, and their opposites there: *after 5 days* for *within 5 days*.
const BEFORE_NUMBERS: [(&[&str], &[&str]); 2] = [
    (&["within", "binnen", "innerhalb"], &["after", "nach"]),
    (&["over", "above", "exceeding", "über"], &["under", "below", "unter"]),
];

/// Beginnings that make the opposite of a word, and the least letters of that word.
const TURNING: [(&str, usize); 7] = [("un", 4), ("in", 5), ("im", 5), ("dis", 5), ("non", 5), ("de", 6), ("ent", 6)];

/// The word of the text whose opposite its quotes have. What denies the opposite may be right.
pub(super) fn opposite(pair: &Pair) -> Option<String> {
    let is_turned = denials(&pair.text) % 2 != denials(&pair.quotes) % 2;
    if is_turned || restricts(&pair.text) != restricts(&pair.quotes) {
        return None;
    }
    let (said, quoted) = listed(pair).or_else(|| before_number(pair)).or_else(|| derived(pair))?;
    Some(format!("its text says `{said}` where its quotes say `{quoted}`"))
}

fn listed(pair: &Pair) -> Option<(&str, &str)> {
    let against = |(one, other): (&[&str], &[&str])| {
        let (said, quoted) = (first(&pair.said, one)?, first(&pair.quoted, other)?);
        (first(&pair.said, other).is_none() && first(&pair.quoted, one).is_none()).then_some((said, quoted))
    };
    OPPOSITES.into_iter().find_map(|(one, other)| against((one, other)).or_else(|| against((other, one))))
}

fn before_number(pair: &Pair) -> Option<(&str, &str)> {
    let find = |tokens: &'_ [String], words: &[&str]| {
        let is_number =
            |word: &String| word.starts_with(|sign: char| sign.is_ascii_digit()) || !in_word(word).is_empty();
        let counts = |at: usize| {
            tokens[at + 1..]
                .iter()
                .take(2)
                .find(|word| !["von", "of", "eur", "euro"].contains(&word.as_str()))
                .is_some_and(is_number)
        };
        (0..tokens.len()).find(|at| words.contains(&tokens[*at].as_str()) && counts(*at))
    };
    let against = |(one, other): (&[&str], &[&str])| {
        let (said, quoted) = (find(&pair.said, one)?, find(&pair.quoted, other)?);
        let is_other = find(&pair.said, other).is_none() && find(&pair.quoted, one).is_none();
        is_other.then(|| (pair.said[said].as_str(), pair.quoted[quoted].as_str()))
    };
    BEFORE_NUMBERS.into_iter().find_map(|(one, other)| against((one, other)).or_else(|| against((other, one))))
}

/// The first word with one of these beginnings.
fn first<'t>(tokens: &'t [String], beginnings: &[&str]) -> Option<&'t str> {
    let begins = |word: &str| {
        beginnings.iter().any(|begin| match begin.strip_suffix(' ') {
            Some(whole) => word == whole,
            None => word.starts_with(begin),
        })
    };
    tokens.iter().map(String::as_str).find(|word| begins(word))
}

/// A word that is the other one with a beginning that turns it; neither text has both.
fn derived(pair: &Pair) -> Option<(&str, &str)> {
    let only = |own: &'_ [String], other: &'_ [String]| {
        let known = other.to_vec();
        content(own)
            .content()
            .filter(|word| !known.iter().any(|one| one == word))
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    let (said, quoted) = (only(&pair.said, &pair.quoted), only(&pair.quoted, &pair.said));
    let turns = |one: &str, other: &str| {
        let is_it = |(begin, least): &(&str, usize)| {
            let rest = one.strip_prefix(begin).filter(|rest| rest.len().min(other.len()) >= *least);
            // What begins with another of these may be a word of its own: *instruct* beside *structure*.
            rest.is_some_and(|rest| {
                rest == other || (*begin == "un" && (rest.starts_with(other) || other.starts_with(rest)))
            })
        };
        TURNING.iter().any(is_it)
    };
    let (one, other) = said
        .iter()
        .flat_map(|one| quoted.iter().map(move |other| (one, other)))
        .find(|(one, other)| turns(one, other) || turns(other, one))?;
    let of = |tokens: &'_ [String], word: &String| tokens.iter().position(|known| known == word);
    Some((&pair.said[of(&pair.said, one)?], &pair.quoted[of(&pair.quoted, other)?]))
}

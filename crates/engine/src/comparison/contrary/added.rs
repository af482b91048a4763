//! A condition that the text has, and its quotes do not: *unless busy*, *if possible*, *without annex*.

use super::super::force::binds;
use super::super::modals::{COMMA, denials};
use super::limits::{CONDITIONS, EXCEPTING, WEAK_CONDITIONS, clause_from};
use super::{MOST_SHOWN, Pair, beginning, content, has};

/// Words that begin a condition or an exception.
const BEGINNING: [&str; 9] = ["if", "unless", "except", "excepting", "wenn", "falls", "sofern", "außer", "ausgenommen"];
/// Words that begin one only before words that say nothing of their own: *where convenient*, *nach Ermessen*.
const BEFORE_WEAK: [&str; 6] = ["where", "when", "whenever", "as", "soweit", "nach"];
/// Words of such a condition, beside those of `limits`.
const WEAK: [&str; 6] = ["convenient", "practicable", "practical", "möglichkeit", "ermessen", "belieben"];

/// The condition of the text.
pub(super) fn condition(pair: &Pair) -> Option<String> {
    if let Some(noun) = without(pair) {
        return Some(noun);
    }
    let is_quoted = has(&pair.quoted, &EXCEPTING) || has(&pair.quoted, &CONDITIONS) || has(&pair.quoted, &BEGINNING);
    if is_quoted || !binds(&pair.quoted) || !pair.is_of_one_sentence() {
        return None;
    }
    let known = content(&pair.quoted);
    // A short word of the quotes may have another ending: *if it fails* for *a failed test*.
    let is_known = |word: &str| known.has(word) || pair.quoted.iter().any(|one| begin_alike(one, word));
    let is_new = |at: usize| {
        let (word, clause) = (pair.said[at].as_str(), clause_from(&pair.said, at));
        let is_weak = |word: &String| {
            WEAK.contains(&word.as_str()) || (WEAK_CONDITIONS.contains(&word.as_str()) && word != "required")
        };
        let weak = clause[1..].iter().find(|word| !["far", "as"].contains(&word.as_str()));
        let weak = weak.is_some_and(|word| is_weak(word) && !pair.quoted.contains(word));
        let words = content(&clause[1..]);
        let says_more = words.content().next().is_some() && !words.content().any(is_known);
        let begins = BEGINNING.contains(&word);
        (begins && says_more) || (weak && (begins || BEFORE_WEAK.contains(&word)))
    };
    let at = (0..pair.said.len()).find(|at| pair.said[*at] != COMMA && is_new(*at))?;
    Some(format!(
        "its text says `{}`, which no quote does",
        beginning(&clause_from(&pair.said, at).join(" "), MOST_SHOWN)
    ))
}

/// *without annex* for *with annex*, or the other way round.
fn without(pair: &Pair) -> Option<String> {
    const WITH: [&str; 2] = ["with", "mit"];
    const WITHOUT: [&str; 2] = ["without", "ohne"];
    let against = |one: &[&str], other: &[&str]| {
        let (said, quoted) = (behind(&pair.said, one), behind(&pair.quoted, other));
        let same = behind(&pair.quoted, one);
        let is_in = |words: &[(&str, &str)], noun: &str| words.iter().any(|(_, known)| *known == noun);
        let turned = said.into_iter().find(|(_, noun)| is_in(&quoted, noun) && !is_in(&same, noun))?;
        Some(format!("its text says `{} {}` where its quotes do not", turned.0, turned.1))
    };
    let is_denied = denials(&pair.text) + denials(&pair.quotes) > 0;
    if is_denied { None } else { against(&WITHOUT, &WITH).or_else(|| against(&WITH, &WITHOUT)) }
}

/// Each of these words with the first one behind it that is no article.
fn behind<'t>(tokens: &'t [String], words: &[&str]) -> Vec<(&'t str, &'t str)> {
    const ARTICLES: [&str; 14] =
        ["a", "an", "the", "any", "its", "their", "ein", "eine", "einen", "einer", "einem", "der", "dem", "die"];
    let noun = |at: usize| tokens[at + 1..].iter().map(String::as_str).find(|word| !ARTICLES.contains(word));
    let at = (0..tokens.len()).filter(|at| words.contains(&tokens[*at].as_str()));
    at.filter_map(|at| Some((tokens[at].as_str(), noun(at)?))).collect()
}

/// Whether two words have the first four letters in common.
fn begin_alike(one: &str, other: &str) -> bool {
    const LETTERS: usize = 4;
    one.chars().zip(other.chars()).take_while(|(one, other)| one == other).count() >= LETTERS
}

//! Whether a text says something else than its quotes although it has their words: another unit, another actor, the
//! opposite of a word, a restriction or a condition left out. The rules of `needs_look` do not include this, so it sets no
//! tag: it is a remark for who judges the text. Only what is certain is remarked: a paraphrase has words of its own.
//!
//! | question | module |
//! |---|---|
//! | does it have the opposite of a word | `opposites` |
//! | does it have another unit of time or money | `units` |
//! | does it have another duration, share or ordinal | `measured` |
//! | does it refer to another text, or to another part of it | `references` |
//! | does it bind another actor | `actor`, `agent` |
//! | does it leave out what restricts its quotes | `limits` |
//! | does it leave out an entry of an enumeration | `entries` |
//! | does it have a condition of its own | `added` |

mod actor;
mod added;
mod agent;
mod entries;
mod limits;
mod measured;
mod opposites;
mod references;
mod units;

use super::force::other_force;
use super::letters::read;
use super::measures::measures;
use super::modals::{obliges, tokens};
use super::words::Words;
use crate::vocabulary::beginning;

/// Characters shown of the words in a remark.
const MOST_SHOWN: usize = 80;

/// A text and its quotes, in words.
struct Pair {
    text: String,
    /// The quotes, joined.
    quotes: String,
    said: Vec<String>,
    quoted: Vec<String>,
}

impl Pair {
    fn of(text: &str, quotes: &[&str]) -> Self {
        let (text, quotes) = (read(text).into_owned(), read(&quotes.join(" ")).into_owned());
        let (said, quoted) = (tokens(&text), tokens(&quotes));
        Self { text, quotes, said, quoted }
    }

    /// Whether the quotes are one sentence: of several, a text may say one.
    fn is_of_one_sentence(&self) -> bool {
        let inner = self.quotes.trim().trim_end_matches(['.', '!', '?']);
        !inner.contains(". ") && !inner.contains("; ")
    }
}

/// What the text of a requirement says against its quotes, as remarks; empty if nothing.
pub fn remarks(text: &str, quotes: &[&str]) -> Vec<String> {
    let pair = Pair::of(text, quotes);
    if pair.quoted.is_empty() {
        return Vec::new();
    }
    let (said, quoted) = (measures(&pair.text), measures(&pair.quotes));
    let found = [
        other_force(&pair.text, &pair.quotes),
        units::other(&pair, [&said, &quoted]),
        units::other_sign(&pair),
        measured::other(&said, &quoted),
        references::other(&pair),
        opposites::opposite(&pair),
        actor::other(&pair).or_else(|| agent::other(&pair)),
        limits::left_out(&pair),
        entries::left_out(&pair),
        added::condition(&pair),
    ];
    found.into_iter().flatten().collect()
}

/// Whether a text and the duty that it quotes share fewer than half of the words of either: then it says what another
/// sentence says. Both are in one language.
pub fn are_other_words(text: &str, quotes: &[&str]) -> bool {
    let pair = Pair::of(text, quotes);
    let (own, theirs) = (content(&pair.said), content(&pair.quoted));
    let is_little = |words: &Words, known: &Words| {
        let (found, of) = (words.content().filter(|word| known.has(word)).count(), words.content().count());
        of > 1 && found * 2 < of
    };
    obliges(&pair.quotes) && is_little(&own, &theirs) && is_little(&theirs, &own)
}

/// The content words of a part of a text, each once.
fn content(tokens: &[String]) -> Words {
    Words::of(tokens.iter().map(String::as_str))
}

/// Whether a list has a word.
fn has(tokens: &[String], words: &[&str]) -> bool {
    tokens.iter().any(|word| words.contains(&word.as_str()))
}

#[cfg(test)]
mod tests;

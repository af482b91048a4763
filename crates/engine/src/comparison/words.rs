//! The content words of a text, in English and German, and when two of them are equal.

use super::spelled::is_number;
use std::collections::HashSet;
use std::sync::LazyLock;

/// Shorter words are compared as a whole.
const STEM: usize = 5;
/// Shorter words are not content words.
const SHORTEST: usize = 3;

/// Words that occur in every text, and so do not distinguish texts.
const STOP_WORDS: &str = "\
    the and for with that this which what whose whom shall must will would should can could may might not are was were been \
    being has have had having its their there these those they them from into onto upon under over out off any all each \
    every both such other others than then when where who how why also only own per via about above after again against \
    before below between but did does done doing down during few here more most nor once same she her him his our you \
    your some through too until very while within without because thereof therein thereto hereby herein cannot \
    der die das und ist sind den dem des ein eine einer eines einem einen muss müssen müsste darf dürfen soll sollen sollte \
    wird werden wurde wurden kann können könnte nicht kein keine keinen keiner keines keinem auch oder als bei nach wenn \
    dass daß zur zum durch aus über nur unter vor von für mit auf sie ihr ihre ihrer ihren ihrem sein seine seiner seinen \
    bis wie dieser diese dieses diesen diesem alle allen aller jede jeder jedes jeden jedem hat haben hatte sich sowie \
    sofern soweit dabei dafür damit davon dazu hierfür hierzu nie niemals noch schon sehr mehr sonst zwischen gegen ohne \
    gemäß bzw sind war waren worden";

/// Words of some texts.
pub(super) struct Words {
    /// Sorted, each once: words that begin alike are beside each other.
    list: Vec<String>,
}

impl Words {
    pub(super) fn of<'a>(texts: impl IntoIterator<Item = &'a str>) -> Self {
        let mut list: Vec<String> = texts.into_iter().flat_map(of_text).collect();
        list.sort_unstable();
        list.dedup();
        Self { list }
    }

    /// Each word once.
    pub(super) fn all(&self) -> impl Iterator<Item = &str> {
        self.list.iter().map(String::as_str)
    }

    /// The content words, each once. A number in words is a number, which the other text may have in digits.
    pub(super) fn content(&self) -> impl Iterator<Item = &str> {
        let is_content = |word: &&str| word.chars().count() >= SHORTEST && !is_stop_word(word) && !is_number(word);
        self.all().filter(is_content)
    }

    /// Whether a word is one of these, or differs only in its ending, or contains one of them or is contained in one.
    pub(super) fn has(&self, word: &str) -> bool {
        if self.begins_like(word) {
            return true;
        }
        let lies_within = |one: &str, other: &str| one.chars().count() >= STEM && other.contains(one);
        self.list
            .iter()
            .any(|known| lies_within(known, word) || lies_within(word, known) || singular(known) == singular(word))
    }

    /// Whether a word is one of these, or differs only in its ending.
    fn begins_like(&self, word: &str) -> bool {
        let first_from =
            |begin: &str| self.list.get(self.list.partition_point(|known| known.as_str() < begin)).map(String::as_str);
        match stem(word) {
            Some(stem) => first_from(stem).is_some_and(|first| first.starts_with(stem)),
            None => first_from(word) == Some(word),
        }
    }
}

fn is_stop_word(word: &str) -> bool {
    static KNOWN: LazyLock<HashSet<&str>> = LazyLock::new(|| STOP_WORDS.split_ascii_whitespace().collect());
    KNOWN.contains(word)
}

/// The first letters, by which longer words are compared regardless of their endings.
fn stem(word: &str) -> Option<&str> {
    let (last, letter) = word.char_indices().nth(STEM - 1)?;
    Some(&word[..last + letter.len_utf8()])
}

/// A short word without a plural `s`.
fn singular(word: &str) -> &str {
    word.strip_suffix('s').filter(|rest| rest.len() >= SHORTEST).unwrap_or(word)
}

/// The words of a text, in lower case and without numbers.
fn of_text(text: &str) -> impl Iterator<Item = String> {
    let parts = text.split(|sign: char| !sign.is_alphanumeric());
    let is_word =
        |part: &&str| part.contains(char::is_alphabetic) && !part.contains(|sign: char| sign.is_ascii_digit());
    parts.filter(is_word).map(str::to_lowercase)
}

//! The passage of a source most similar to a quote that does not occur in it, so that a refusal is helpful.
//!
//! A window of about the quote's length slides over the source; its overlap with the quote, as a bag of words, is
//! updated word by word, so the time is linear in the source. Long words count more than short ones: "records" and
//! "retained" are more specific than "of" and "the".

use super::Passage;
use super::normalize::Normal;
use std::collections::HashMap;
use std::ops::Range;

/// Less similar passages would mislead.
const LEAST_SIMILARITY: f64 = 0.34;
/// Letters beyond this number add no weight to a word.
const HEAVIEST: usize = 10;

/// The passage most similar to `quote`, if there is one; of equals the first.
pub(super) fn nearest(source: &Normal, quote: &Normal) -> Option<Passage> {
    let mut bag = Bag::of(quote);
    let words: Vec<Word> = words(&source.text).map(|range| bag.word(&source.text, range)).collect();
    let span = bag.len + bag.len / 4 + 2;
    let (mut best, mut best_common) = (None, 0);
    for last in 0..words.len() {
        bag.enter(&words[last]);
        if last >= span {
            bag.leave(&words[last - span]);
        }
        if bag.common > best_common {
            best_common = bag.common;
            best = Some((last + 1).saturating_sub(span)..last + 1);
        }
    }
    let found = shared(&words[best?])?;
    let weight: usize = found.iter().map(|word| word.weight).sum();
    let similarity = 2.0 * best_common as f64 / (bag.weight + weight).max(1) as f64;
    let (start, end) = (found[0].range.start, found[found.len() - 1].range.end);
    let passage = || Passage { page: source.page_at(start), text: source.readable(start, end), similarity };
    (similarity >= LEAST_SIMILARITY).then(passage)
}

/// The part of a window from the first word it shares with the quote to the last.
fn shared(window: &[Word]) -> Option<&[Word]> {
    let first = window.iter().position(|word| word.known.is_some())?;
    let last = window.iter().rposition(|word| word.known.is_some())?;
    Some(&window[first..=last])
}

struct Word {
    range: Range<usize>,
    /// Which word of the quote it is.
    known: Option<usize>,
    weight: usize,
}

/// The quote's words, and how many of each the window holds.
struct Bag {
    ids: HashMap<String, usize>,
    wanted: Vec<usize>,
    held: Vec<usize>,
    /// Weight of the words common to quote and window.
    common: usize,
    /// Words of the quote.
    len: usize,
    /// Their weight.
    weight: usize,
    /// Reused for each word's comparable form.
    key: String,
}

impl Bag {
    fn of(quote: &Normal) -> Self {
        let mut bag = Self {
            ids: HashMap::new(),
            wanted: Vec::new(),
            held: Vec::new(),
            common: 0,
            len: 0,
            weight: 0,
            key: String::new(),
        };
        for range in words(&quote.text) {
            bag.set_key(&quote.text[range]);
            let next = bag.ids.len();
            let id = *bag.ids.entry(bag.key.clone()).or_insert(next);
            if id == next {
                bag.wanted.push(0);
                bag.held.push(0);
            }
            bag.wanted[id] += 1;
            bag.len += 1;
            bag.weight += weight(&bag.key);
        }
        bag
    }

    /// Words are compared ignoring case and surrounding punctuation.
    fn set_key(&mut self, word: &str) {
        self.key.clear();
        let word = word.trim_matches(|c: char| !c.is_alphanumeric());
        self.key.extend(word.chars().flat_map(char::to_lowercase));
    }

    fn word(&mut self, text: &str, range: Range<usize>) -> Word {
        self.set_key(&text[range.clone()]);
        Word { range, known: self.ids.get(&self.key).copied(), weight: weight(&self.key) }
    }

    fn enter(&mut self, word: &Word) {
        let Some(id) = word.known else { return };
        self.held[id] += 1;
        if self.held[id] <= self.wanted[id] {
            self.common += word.weight;
        }
    }

    fn leave(&mut self, word: &Word) {
        let Some(id) = word.known else { return };
        if self.held[id] <= self.wanted[id] {
            self.common -= word.weight;
        }
        self.held[id] -= 1;
    }
}

fn weight(key: &str) -> usize {
    key.chars().count().min(HEAVIEST)
}

/// The words of a text in normal form, as ranges.
fn words(text: &str) -> impl Iterator<Item = Range<usize>> {
    text.split(' ').scan(0, |next, word| {
        let start = *next;
        *next += word.len() + 1;
        Some(start..start + word.len())
    })
}

//! Matching of quotes with lines of the gold list.

use plumbline_documents::quotes;
use std::collections::HashMap;

/// Minimum share of a line's words in a quote that is contained in it.
const LEAST_SHARE: f64 = 0.6;
/// Minimum F1 of the words of both if neither contains the other.
const LEAST_F1: f64 = 0.6;

/// A line and a requirement that matches it.
pub(super) struct Pair {
    pub(super) line: usize,
    pub(super) requirement: usize,
    pub(super) score: f64,
}

/// A text, normalized for comparing quotes, in lower case.
pub(super) struct Words {
    text: String,
    /// The count of each word, without punctuation around it.
    bag: HashMap<String, usize>,
    count: usize,
}

impl Words {
    pub(super) fn of(text: &str) -> Self {
        let text = quotes::comparable(text).to_lowercase();
        let mut bag = HashMap::new();
        let mut count = 0;
        let words = text.split(' ').map(|word| word.trim_matches(|sign: char| !sign.is_alphanumeric()));
        for word in words.filter(|word| !word.is_empty()) {
            *bag.entry(word.to_owned()).or_default() += 1;
            count += 1;
        }
        Self { text, bag, count }
    }

    /// The match score of a quote, higher is better: it contains the line, it is contained in it with most of its
    /// words, or both have most of their words in common. None if it does not match.
    pub(super) fn said_by(&self, quote: &Self) -> Option<f64> {
        if self.count == 0 || quote.count == 0 {
            return None;
        }
        let shared: usize =
            self.bag.iter().map(|(word, times)| quote.bag.get(word).map_or(0, |more| *times.min(more))).sum();
        let f1 = 2.0 * shared as f64 / (self.count + quote.count) as f64;
        let share = quote.count as f64 / self.count as f64;
        let contains = quote.text.contains(&self.text);
        let lies_within = share >= LEAST_SHARE && self.text.contains(&quote.text);
        match contains || lies_within {
            true => Some(1.0 + f1),
            false => (f1 >= LEAST_F1).then_some(f1),
        }
    }
}

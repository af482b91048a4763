//! A passage as a tool shows it: with a number before each sentence, by which it can be cited.

use plumbline_bounds::pattern;
use regex::Regex;
use std::{ops::RangeInclusive, sync::LazyLock};

static NUMBER: LazyLock<Regex> = LazyLock::new(|| pattern::own(r"\[\d{1,6}\] "));

/// The most sentences that one citation may point at.
const MOST: usize = 6;

/// A text without the numbers that it was shown with.
#[derive(Debug)]
pub(crate) struct Numbered {
    /// The text.
    pub(crate) text: String,
    /// The text without white space: lines are broken otherwise where it is quoted.
    squeezed: String,
    /// Where in `squeezed` the first sentence begins, the second, and so on.
    begins: Vec<usize>,
}

impl Numbered {
    /// Takes off the `[n] ` before the sentences. They count from one without gaps, so that what a document itself has in
    /// brackets is left alone.
    pub(crate) fn read(shown: &str) -> Self {
        let mut all = Self { text: String::with_capacity(shown.len()), squeezed: String::new(), begins: Vec::new() };
        let mut from = 0;
        for found in NUMBER.find_iter(shown) {
            if found.as_str() == format!("[{}] ", all.begins.len() + 1) {
                all.push(&shown[from..found.start()]);
                all.begins.push(all.squeezed.len());
                from = found.end();
            }
        }
        all.push(&shown[from..]);
        all
    }

    fn push(&mut self, text: &str) {
        self.text.push_str(text);
        self.squeezed.extend(text.split_whitespace());
    }

    /// The numbers of the sentences in which `quote` stands; none where it does not stand in them, or in too many.
    pub(crate) fn sentences(&self, quote: &str) -> Option<RangeInclusive<usize>> {
        let quote: String = quote.split_whitespace().collect();
        let from = self.squeezed.find(&quote)?;
        let first = self.begins.partition_point(|begin| *begin <= from);
        let last = self.begins.partition_point(|begin| *begin < from + quote.len());
        (first > 0 && last < first + MOST).then_some(first..=last)
    }
}

#[cfg(test)]
mod tests {
    use super::Numbered;

    #[test]
    fn what_a_document_has_in_brackets_stays() {
        let read = Numbered::read("[page 2]\n[1] See [4] and\n[7] here. [2] Then go. [1] is no number now.");
        assert_eq!(read.text, "[page 2]\nSee [4] and\n[7] here. Then go. [1] is no number now.");
        assert_eq!(Numbered::read("See [4] here.").text, "See [4] here.");
    }

    #[test]
    fn a_quote_is_found_by_its_sentences() {
        let read = Numbered::read("# [1] Head\n\n[2] It is so. [3] Records must\nbe kept. [4] Never\nlose one.");
        for (quote, expected) in [
            ("It is so.", Some(2..=2)),
            ("must be kept.", Some(3..=3)),
            ("Records must be kept. Never lose one.", Some(3..=4)),
            ("# Head", None),
            ("Records should be kept.", None),
        ] {
            assert_eq!(read.sentences(quote), expected, "{quote}");
        }
        let long: String = (1..=8).map(|n| format!("[{n}] S{n}. ")).collect();
        assert_eq!(Numbered::read(&long).sentences("S1. S2. S3. S4. S5. S6."), Some(1..=6));
        assert_eq!(Numbered::read(&long).sentences("S1. S2. S3. S4. S5. S6. S7."), None);
        assert_eq!(Numbered::read("No number.").sentences("No number."), None);
    }
}

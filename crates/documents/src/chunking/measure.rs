//! A quick measure of tokens for any part of one text.
//!
//! The splitter requests the size of thousands of overlapping parts of the same text. Counting each part would take
//! many times as long as counting the text once, so the text is counted once, word by word, and the size of a part is a
//! difference of two prefix sums. Words are counted with the white space that the tokenizer joins to them, so the sum
//! of the words is the count of the text, or slightly more.

use super::text::Whole;
use std::ops::Range;
use text_splitter::ChunkSizer;

/// Longest stretch counted as one word; text without spaces is measured in steps of this many bytes.
const LONGEST_WORD: usize = 64;

/// Sizes of parts of one text, in tokens.
pub(super) struct Measure<'a> {
    whole: &'a Whole,
    /// Where each word ends.
    ends: Vec<usize>,
    /// Tokens up to and including each word.
    sums: Vec<usize>,
}

impl<'a> Measure<'a> {
    /// Counts a part of the text, after which the size of any range in it is available.
    pub(super) fn of(whole: &'a Whole, part: Range<usize>) -> Self {
        let mut measure = Self { whole, ends: Vec::new(), sums: Vec::new() };
        let (mut start, mut sum) = (part.start, 0);
        for end in word_ends(&whole.text[part.clone()]) {
            let end = part.start + end;
            sum += plumbline_tokens::count(&whole.text[start..end]) as usize;
            measure.ends.push(end);
            measure.sums.push(sum);
            start = end;
        }
        measure
    }

    /// Tokens of the words that the part from `start` to `end` touches.
    fn tokens(&self, start: usize, end: usize) -> usize {
        let first = self.ends.partition_point(|word_end| *word_end <= start);
        let last = self.ends.partition_point(|word_end| *word_end < end);
        let before = first.checked_sub(1).map_or(0, |index| self.sums[index]);
        self.sums.get(last).map_or(before, |sum| sum.saturating_sub(before))
    }
}

impl ChunkSizer for Measure<'_> {
    fn size(&self, piece: &str) -> usize {
        match self.whole.offset_of(piece) {
            Some(start) => {
                let end = start + piece.len();
                self.tokens(start, end) + self.whole.marks_tokens(start, end)
            }
            None => plumbline_tokens::count(piece) as usize,
        }
    }
}

/// Ends of the words of a text: before a space that follows a word, and after line ends. The last one is the end of the
/// text.
fn word_ends(text: &str) -> Vec<usize> {
    let mut ends = Vec::with_capacity(text.len() / 5);
    let mut start = 0;
    let mut before = ' ';
    for (at, character) in text.char_indices() {
        let word_begins = character.is_whitespace() && !before.is_whitespace() && character != '\n';
        let line_begins = before == '\n' && character != '\n';
        if at > start && (word_begins || line_begins || at - start >= LONGEST_WORD) {
            ends.push(at);
            start = at;
        }
        before = character;
    }
    if start < text.len() {
        ends.push(text.len());
    }
    ends
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Page;

    #[test]
    fn words_keep_their_white_space() {
        let text = "Keep records.\n\nFor ten  years";
        let ends = word_ends(text);
        let mut start = 0;
        let words: Vec<&str> = ends.iter().map(|&end| &text[std::mem::replace(&mut start, end)..end]).collect();
        assert_eq!(words, ["Keep", " records.\n\n", "For", " ten", "  years"]);
    }

    #[test]
    fn the_measure_is_never_much_off_and_never_too_low_in_prose() {
        let text = "## 2.1 Aufbewahrung\n\nRecords (see § 147 AO) shall be kept for 10 years; \"invoices\" too.\n\n- one\n- two";
        let whole = Whole::of(&[Page { number: 1, text: text.to_owned() }], false);
        let measure = Measure::of(&whole, 0..text.len());
        for (start, end) in [(0, text.len()), (21, text.len()), (0, 40), (21, 29)] {
            let (quick, exact) = (measure.tokens(start, end), plumbline_tokens::count(&text[start..end]) as usize);
            assert!(quick >= exact && quick <= exact + 4, "{quick} for {exact} in {:?}", &text[start..end]);
        }
    }
}

//! Cutting a text into the pieces that are merged each by itself: words with the space before them, numbers of three
//! digits, punctuation, white space.

use super::ascii::{self, Cut};
use regex::Regex;
use std::sync::LazyLock;

/// The published patterns, but for the one thing that a search in linear time cannot do: white space before a word was
/// to leave its last character to the word (`\s+(?!\S)`). [`Pieces`] does that.
const CL100K_PATTERN: &str =
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]|\s+";
const O200K_PATTERN: &str = concat!(
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|",
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|",
    r"\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+",
);

pub(crate) static CL100K: Pattern = Pattern { regex: LazyLock::new(|| compile(CL100K_PATTERN)), cut: Cut::Letters };
pub(crate) static O200K: Pattern = Pattern { regex: LazyLock::new(|| compile(O200K_PATTERN)), cut: Cut::Capitals };

/// How an encoding cuts texts: what its pattern says, and the same for plain text.
pub(crate) struct Pattern {
    regex: LazyLock<Regex>,
    cut: Cut,
}

impl Pattern {
    /// Length of the piece that the text begins with; 0 at its end.
    fn first_piece(&self, text: &str) -> usize {
        ascii::first_piece(text.as_bytes(), self.cut).unwrap_or_else(|| self.search(text))
    }

    fn search(&self, text: &str) -> usize {
        let Some(piece) = self.regex.find(text) else { return 0 };
        let piece = piece.as_str();
        match piece.char_indices().next_back() {
            // Only the last alternative ends so. It took all white space there is, so a word follows unless the text ends.
            Some((last, space)) if last > 0 && is_blank(space) && piece.len() < text.len() => last,
            _ => piece.len(),
        }
    }
}

fn compile(pattern: &str) -> Regex {
    // Every piece begins where the one before it ends: a search that knows that need not look back for a beginning.
    Regex::new(&format!(r"\A(?:{pattern})")).expect("the pattern is a constant: the tests compile it")
}

/// The pieces of a text, in order; together they are the text.
pub(crate) struct Pieces<'a> {
    pattern: &'static Pattern,
    /// What is left of it.
    text: &'a str,
}

impl<'a> Pieces<'a> {
    pub(crate) fn of(text: &'a str, pattern: &'static Pattern) -> Self {
        Self { pattern, text }
    }
}

impl<'a> Iterator for Pieces<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        let (piece, rest) = self.text.split_at(self.pattern.first_piece(self.text));
        self.text = rest;
        (!piece.is_empty()).then_some(piece)
    }
}

/// White space that ends no line.
fn is_blank(character: char) -> bool {
    character.is_whitespace() && !matches!(character, '\r' | '\n')
}

#[cfg(test)]
mod tests {
    use super::{CL100K, O200K, Pieces};

    /// One of each class that either way of cutting knows, and of each way in which a character may not be ASCII.
    const CHARACTERS: [&str; 20] = [
        " ", "\t", "\n", "\r", "a", "s", "B", "T", "7", "'", "/", ".", "\u{1f}", "é", "Ž", "中", "½", "\u{a0}",
        "\u{301}", "🦀",
    ];

    /// Every text of up to four of the characters.
    #[test]
    fn plain_text_is_cut_as_the_pattern_cuts_it() {
        for length in 0..=4 {
            for number in 0..CHARACTERS.len().pow(length) {
                let text: String = (0..length)
                    .map(|place| CHARACTERS[number / CHARACTERS.len().pow(place) % CHARACTERS.len()])
                    .collect();
                for pattern in [&CL100K, &O200K] {
                    assert_eq!(pattern.first_piece(&text), pattern.search(&text), "{text:?}");
                }
            }
        }
    }

    #[test]
    fn the_pieces_of_a_text_are_the_text() {
        let text = "The GDPR's Article 17(1):\r\n\r\n\t- don't keep 12345 records//\n/x  y\n\n   z café  ";
        for pattern in [&CL100K, &O200K] {
            assert_eq!(Pieces::of(text, pattern).collect::<String>(), text);
        }
        let pieces: Vec<&str> = Pieces::of("Rule 1234 ofGDPR: (a)  b", &O200K).collect();
        assert_eq!(pieces, ["Rule", " ", "123", "4", " of", "GDPR", ":", " (", "a", ")", " ", " b"]);
    }
}

//! Cutting a text into the pieces that are merged each by itself: words with the space before them, numbers of three
//! digits, punctuation, white space.

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

pub(super) static CL100K: LazyLock<Regex> = LazyLock::new(|| compile(CL100K_PATTERN));
pub(super) static O200K: LazyLock<Regex> = LazyLock::new(|| compile(O200K_PATTERN));

fn compile(pattern: &str) -> Regex {
    // Every piece begins where the one before it ends: a search that knows that need not look back for a beginning.
    Regex::new(&format!(r"\A(?:{pattern})")).expect("the pattern is a constant: the tests compile it")
}

/// The pieces of a text, in order; together they are the text.
pub(super) struct Pieces<'a> {
    pattern: &'static Regex,
    /// What is left of it.
    text: &'a str,
}

impl<'a> Pieces<'a> {
    pub(super) fn of(text: &'a str, pattern: &'static Regex) -> Self {
        Self { pattern, text }
    }
}

impl<'a> Iterator for Pieces<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        let piece = self.pattern.find(self.text)?.as_str();
        let piece = match piece.char_indices().next_back() {
            // Only the last alternative ends so. It took all white space there is, so a word follows unless the text ends.
            Some((last, space)) if last > 0 && is_blank(space) && piece.len() < self.text.len() => &piece[..last],
            _ => piece,
        };
        self.text = &self.text[piece.len()..];
        Some(piece)
    }
}

/// White space that ends no line.
fn is_blank(character: char) -> bool {
    character.is_whitespace() && !matches!(character, '\r' | '\n')
}

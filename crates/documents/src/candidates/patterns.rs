//! Patterns that a configuration adds to the scan, within bounds on their cost.

use regex::{RegexSet, RegexSetBuilder};

/// Most patterns of a configuration.
pub const MOST_PATTERNS: usize = 100;
/// Most characters of a pattern.
const LONGEST: usize = 1000;
/// Most memory for all of them, in bytes; an expression takes time in proportion to the text, whatever it is.
const MOST_MEMORY: usize = 4 << 20;

/// Why patterns are not taken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PatternError {
    /// More than [`MOST_PATTERNS`].
    #[error("there are {0} patterns, and {MOST_PATTERNS} is the most; join some of them with |")]
    TooMany(usize),
    /// Longer than 1,000 characters.
    #[error("the pattern {0} has more than {LONGEST} characters; make two of it")]
    TooLong(usize),
    /// It matches a text without words, and so every sentence.
    #[error("the pattern {0} matches an empty text, and so every sentence; say what must stand there")]
    Empty(usize),
    /// No regular expression, or one that takes too much memory.
    #[error("the pattern {0} is none that can be used: {1}")]
    Invalid(usize, String),
}

/// The patterns of a configuration.
#[derive(Clone, Debug)]
pub(super) struct Patterns(RegexSet);

impl Default for Patterns {
    fn default() -> Self {
        Self(RegexSet::empty())
    }
}

impl Patterns {
    /// Reads the patterns; capital and small letters are alike to them.
    pub(super) fn new(patterns: &[String]) -> Result<Self, PatternError> {
        if patterns.len() > MOST_PATTERNS {
            return Err(PatternError::TooMany(patterns.len()));
        }
        for (place, pattern) in patterns.iter().enumerate() {
            if pattern.chars().count() > LONGEST {
                return Err(PatternError::TooLong(place + 1));
            }
            let one =
                build(std::slice::from_ref(pattern)).map_err(|reason| PatternError::Invalid(place + 1, reason))?;
            if one.is_match("") {
                return Err(PatternError::Empty(place + 1));
            }
        }
        build(patterns).map(Self).map_err(|reason| PatternError::Invalid(patterns.len(), reason))
    }

    /// Whether one of them matches.
    pub(super) fn matches(&self, sentence: &str) -> bool {
        self.0.is_match(sentence)
    }
}

#[allow(clippy::disallowed_methods, reason = "this is the module that makes them")]
fn build(patterns: &[String]) -> Result<RegexSet, String> {
    let set = RegexSetBuilder::new(patterns)
        .case_insensitive(true)
        .size_limit(MOST_MEMORY)
        .dfa_size_limit(MOST_MEMORY)
        .build();
    // The library draws the place of a mistake over several lines; the last one says what it is.
    set.map_err(|error| error.to_string().lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned())
}

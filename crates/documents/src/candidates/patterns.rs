//! Patterns that a configuration adds to the scan, within bounds on their cost.

use plumbline_bounds::pattern::of_configuration;
use regex::RegexSet;

/// Maximum number of patterns of a configuration.
pub const MOST_PATTERNS: usize = 100;
/// Maximum number of characters of a pattern.
const LONGEST: usize = 1000;

/// Why patterns are refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PatternError {
    /// More than [`MOST_PATTERNS`].
    #[error("there are {0} patterns, and {MOST_PATTERNS} is the most; join some of them with |")]
    TooMany(usize),
    /// Longer than 1,000 characters.
    #[error("the pattern {0} has more than {LONGEST} characters; make two of it")]
    TooLong(usize),
    /// It matches an empty text, and so every sentence.
    #[error("the pattern {0} matches an empty text, and so every sentence; say what must stand there")]
    Empty(usize),
    /// Not a regular expression, or one that needs too much memory.
    #[error("the pattern {0} is none that can be used: {1}")]
    Invalid(usize, String),
}

/// The patterns of a configuration.
#[derive(Clone, Debug)]
pub struct Patterns(RegexSet);

impl Default for Patterns {
    fn default() -> Self {
        Self(RegexSet::empty())
    }
}

impl Patterns {
    /// Compiles the patterns, case-insensitively.
    ///
    /// # Errors
    /// If one is not a regular expression or too costly, or there are too many.
    pub fn new(patterns: &[String]) -> Result<Self, PatternError> {
        if patterns.len() > MOST_PATTERNS {
            return Err(PatternError::TooMany(patterns.len()));
        }
        for (place, pattern) in patterns.iter().enumerate() {
            if pattern.chars().count() > LONGEST {
                return Err(PatternError::TooLong(place + 1));
            }
            let one = of_configuration(std::slice::from_ref(pattern))
                .map_err(|reason| PatternError::Invalid(place + 1, reason))?;
            if one.is_match("") {
                return Err(PatternError::Empty(place + 1));
            }
        }
        of_configuration(patterns).map(Self).map_err(|reason| PatternError::Invalid(patterns.len(), reason))
    }

    /// Whether one of them matches.
    pub fn matches(&self, sentence: &str) -> bool {
        self.0.is_match(sentence)
    }
}

//! Patterns that a configuration adds to the scan, within bounds on their cost.

use plumbline_bounds::pattern::{of_configuration, syntax_error};
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
    /// Not a regular expression.
    #[error("the pattern {0} is none that can be used: {1}")]
    Invalid(usize, String),
    /// They need too much memory together.
    #[error("the patterns cannot be used together: {0}; make them shorter, or their repetitions smaller")]
    TooCostly(String),
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
        }
        let set = of_configuration(patterns).map_err(|reason| {
            let mut wrong = patterns.iter().enumerate().filter_map(|(place, one)| Some((place, syntax_error(one)?)));
            wrong.next().map_or(PatternError::TooCostly(reason), |(place, why)| PatternError::Invalid(place + 1, why))
        })?;
        match set.matches("").iter().next() {
            Some(place) => Err(PatternError::Empty(place + 1)),
            None => Ok(Self(set)),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether one of them matches.
    pub fn matches(&self, sentence: &str) -> bool {
        self.0.is_match(sentence)
    }
}

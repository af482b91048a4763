//! The error of the program: a sentence, prefixed with the current action.

use std::fmt;

/// Why a measurement could not be made.
#[derive(Debug)]
pub(crate) struct Error {
    sentence: String,
    skips: bool,
}

impl Error {
    pub(crate) fn new(sentence: impl Into<String>) -> Self {
        Self { sentence: sentence.into(), skips: false }
    }

    /// The machine lacks a prerequisite: the measurement is skipped.
    pub(crate) fn skip(sentence: impl Into<String>) -> Self {
        Self { sentence: sentence.into(), skips: true }
    }

    /// Whether the measurement is skipped, not failed.
    pub(crate) fn skips(&self) -> bool {
        self.skips
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.sentence)
    }
}

// `Error` is no `std::error::Error` itself, or this would cover it too.
impl<E: std::error::Error> From<E> for Error {
    fn from(error: E) -> Self {
        let mut sentence = error.to_string();
        let mut cause = error.source();
        while let Some(inner) = cause {
            sentence = format!("{sentence}: {inner}");
            cause = inner.source();
        }
        Self::new(sentence)
    }
}

/// Adds the action that failed.
pub(crate) trait During<T> {
    fn during(self, doing: &str) -> Result<T, Error>;
}

impl<T, E: Into<Error>> During<T> for Result<T, E> {
    fn during(self, doing: &str) -> Result<T, Error> {
        self.map_err(|error| {
            let Error { sentence, skips } = error.into();
            Error { sentence: format!("{doing}: {sentence}"), skips }
        })
    }
}

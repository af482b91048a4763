//! How a command fails: one sentence on stderr, and an exit code.

use crate::terminal::printable;
use std::process::ExitCode;

/// A failed command.
#[derive(Debug)]
pub(crate) struct Failure {
    sentence: String,
    code: u8,
}

impl Failure {
    /// It could not be done.
    pub(crate) fn new(sentence: impl Into<String>) -> Self {
        Self { sentence: sentence.into(), code: 1 }
    }

    /// It was asked for in a wrong way.
    pub(crate) fn usage(sentence: impl Into<String>) -> Self {
        Self { sentence: sentence.into(), code: 2 }
    }

    /// Prints the sentence and gives the code.
    pub(crate) fn report(&self) -> ExitCode {
        eprintln!("plumbline: {}", printable(&self.sentence, false));
        ExitCode::from(self.code)
    }
}

impl From<plumbline_store::Error> for Failure {
    fn from(error: plumbline_store::Error) -> Self {
        Self::new(error.to_string())
    }
}

impl From<plumbline_worker::Error> for Failure {
    fn from(error: plumbline_worker::Error) -> Self {
        Self::new(error.to_string())
    }
}

impl From<crate::private_postgres::Error> for Failure {
    fn from(error: crate::private_postgres::Error) -> Self {
        Self::new(error.to_string())
    }
}

impl From<plumbline_worker::config::ConfigError> for Failure {
    fn from(error: plumbline_worker::config::ConfigError) -> Self {
        Self::new(error.to_string())
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.sentence)
    }
}

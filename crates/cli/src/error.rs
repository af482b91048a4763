//! How a command fails: one sentence on stderr, and an exit code.

use crate::terminal::printable;
use std::process::ExitCode;

/// A failed command.
#[derive(Debug)]
pub(crate) struct Failure {
    sentence: String,
    code: u8,
    is_refusal: bool,
    is_forbidden: bool,
    is_outage: bool,
}

impl Failure {
    /// It could not be done.
    pub(crate) fn new(sentence: impl Into<String>) -> Self {
        Self { sentence: sentence.into(), code: 1, is_refusal: false, is_forbidden: false, is_outage: false }
    }

    /// Wrong usage.
    pub(crate) fn usage(sentence: impl Into<String>) -> Self {
        Self { code: 2, ..Self::new(sentence) }
    }

    /// Whether a job is not in the state that a command works on.
    pub(crate) fn is_refusal(&self) -> bool {
        self.is_refusal
    }

    /// Whether the database may answer again without intervention.
    pub(crate) fn is_outage(&self) -> bool {
        self.is_outage
    }

    /// A missing right, reported with the roles that have it, because the database's message names its tables.
    pub(crate) fn explained(self, missing_rights: &str) -> Self {
        if self.is_forbidden { Self::new(missing_rights) } else { self }
    }

    /// Prints the sentence and returns the code.
    pub(crate) fn report(&self) -> ExitCode {
        eprintln!("plumbline: {}", printable(&self.sentence, false));
        ExitCode::from(self.code)
    }
}

impl From<plumbline_store::Error> for Failure {
    fn from(error: plumbline_store::Error) -> Self {
        let is_refusal = matches!(error, plumbline_store::Error::Refused(_));
        let (is_forbidden, is_outage) = (error.is_forbidden(), error.is_outage());
        Self { is_refusal, is_forbidden, is_outage, ..Self::new(error.to_string()) }
    }
}

impl From<plumbline_worker::Error> for Failure {
    fn from(error: plumbline_worker::Error) -> Self {
        match error {
            plumbline_worker::Error::Store(error) => error.into(),
            error => Self::new(error.to_string()),
        }
    }
}

impl From<plumbline_dev_postgres::Error> for Failure {
    fn from(error: plumbline_dev_postgres::Error) -> Self {
        Self::new(error.to_string())
    }
}

impl From<plumbline_config::ConfigError> for Failure {
    fn from(error: plumbline_config::ConfigError) -> Self {
        Self::new(error.to_string())
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.sentence)
    }
}

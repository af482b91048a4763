//! Errors in a configuration, with file and line.

use crate::RuleViolation;
use std::fmt;

/// One error in a configuration: a sentence, and the place of the text that causes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The file as the user knows it, e.g. `configs/creator/config.json`; [`OVERRIDES`] for the job's own `config`.
    pub file: String,
    /// Line in the file, from 1, if known.
    pub line: Option<usize>,
    /// One sentence: what is wrong, at which key, what to do.
    pub message: String,
}

/// Name of the layer without a file: the column `jobs.config`.
pub const OVERRIDES: &str = "the job's config";

impl Problem {
    /// A problem in a file.
    pub fn new(file: impl Into<String>, line: Option<usize>, message: impl Into<String>) -> Self {
        Self { file: file.into(), line, message: message.into() }
    }

    /// The same problem, attributed to a file.
    pub(crate) fn in_file(mut self, file: &str) -> Self {
        file.clone_into(&mut self.file);
        self
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}:{line}: {}", self.file, self.message),
            None => write!(f, "{}: {}", self.file, self.message),
        }
    }
}

/// Why a configuration cannot be used: every problem found, so that a person can fix them all at once. Never empty.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", joined(.problems))]
pub struct ConfigError {
    /// In the order of the files that were read.
    pub problems: Vec<Problem>,
    /// Set if the job's row sets something that it must not.
    pub forbidden: Option<super::Forbidden>,
    /// Whether only a model, or its endpoint, is missing: the environment may provide it later.
    pub lacks_model: bool,
}

fn joined(problems: &[Problem]) -> String {
    problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

impl ConfigError {
    /// `Ok` if there are no problems.
    ///
    /// # Errors
    /// The problems.
    pub fn unless_empty(problems: Vec<Problem>) -> Result<(), Self> {
        if problems.is_empty() { Ok(()) } else { Err(Self { problems, forbidden: None, lacks_model: false }) }
    }
}

impl From<RuleViolation> for ConfigError {
    fn from(rule: RuleViolation) -> Self {
        Problem::new(rule.keys.join(", "), None, rule.message).into()
    }
}

impl From<Problem> for ConfigError {
    fn from(problem: Problem) -> Self {
        Self { problems: vec![problem], forbidden: None, lacks_model: false }
    }
}

//! How a job leaves its worker, and why it failed.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// How a job leaves the worker that runs it. Never part of the checkpoint: a resumed job must not find its own stop
/// signal.
#[derive(Clone, Debug, PartialEq)]
pub enum JobExit {
    /// Done; the completion gate accepted it.
    Completed {
        /// The arguments of `job_complete`.
        result: Value,
    },
    /// Done, waiting for a person (`autonomy: review`).
    Review {
        /// The arguments of `job_complete`.
        result: Value,
        /// Shown as `status_reason`.
        reason: String,
    },
    /// Waits for people's decisions on calls, which are requested in rows.
    AwaitsDecision {
        /// How many.
        calls: usize,
    },
    /// Cannot continue.
    Failed(JobError),
    /// A budget is used up; the work is kept.
    Paused {
        /// Shown as `status_reason`, e.g. `cost budget of 5.00 USD reached`.
        reason: String,
    },
    /// Continues later by itself (`pending` with a later `run_at`).
    Parked {
        /// When.
        until: DateTime<Utc>,
        /// Shown as `status_reason`.
        reason: String,
    },
}

impl JobExit {
    /// Whether it ends the job: it is completed, in review or failed.
    pub fn ends(&self) -> bool {
        matches!(self, Self::Completed { .. } | Self::Review { .. } | Self::Failed(_))
    }

    /// The result of a job that is completed or in review.
    pub fn result(&self) -> Option<&Value> {
        match self {
            Self::Completed { result } | Self::Review { result, .. } => Some(result),
            Self::AwaitsDecision { .. } | Self::Failed(_) | Self::Paused { .. } | Self::Parked { .. } => None,
        }
    }

    /// How many files the result names.
    pub fn delivered(&self) -> usize {
        self.result().and_then(|result| result["deliverables"].as_array()).map_or(0, Vec::len)
    }
}

/// Why a job failed: `error_message` and `error_details`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JobError {
    /// One sentence.
    pub message: String,
    /// `{kind, stage, attempts, first_error, last_error, hint}`, as far as known.
    pub details: Map<String, Value>,
}

impl JobError {
    /// An error of a kind, with the sentence for the user. If it quotes megabytes of the user's input, only its
    /// beginning and end are kept.
    pub fn new(kind: &str, message: impl Into<String>) -> Self {
        let mut details = Map::new();
        details.insert("kind".into(), kind.into());
        Self { message: shortened(message.into()), details }
    }

    /// The same error with one more detail.
    #[must_use]
    pub fn with(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.details.insert(key.into(), value.into());
        self
    }
}

/// Bytes of the beginning and end of a sentence that are kept if it is longer than both.
const SENTENCE: (usize, usize) = (1500, 500);

fn shortened(sentence: String) -> String {
    let (head, tail) = SENTENCE;
    if sentence.len() <= head + tail {
        return sentence;
    }
    let (head, tail) = (sentence.floor_char_boundary(head), sentence.ceil_char_boundary(sentence.len() - tail));
    format!("{} … {}", &sentence[..head], &sentence[tail..])
}

#[cfg(test)]
mod tests {
    use super::JobError;

    #[test]
    fn a_sentence_that_quotes_too_much_is_shown_by_its_ends() {
        let error =
            |quoted: &str| JobError::new("configuration", format!("unknown key `{quoted}`; leave it out")).message;
        assert_eq!(error("limts"), "unknown key `limts`; leave it out");
        let long = error(&"ä".repeat(1_000_000));
        assert!(long.starts_with("unknown key `ää") && long.ends_with("ää`; leave it out") && long.len() < 2100);
    }
}

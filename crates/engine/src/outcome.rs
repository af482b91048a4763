//! Everything the outside may answer.

use crate::{
    change::{FileWrite, Product, RequestRecord, Source},
    message::ToolCall,
    shared_files::SharedFiles,
};
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::sync::Arc;

/// The answer to an [`crate::Effect`], or something that happened between two of them.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// The job's documents and first files are at hand.
    TakenIn(Intake),
    /// The job cannot be started: the sentence for its error.
    IntakeRefused {
        /// What, where, what to do.
        reason: String,
    },
    /// The model answered.
    ModelReplied(Reply),
    /// The model call failed.
    ModelFailed(Failure),
    /// The tools that the outside had to run have run; one return per call asked for, in its order.
    ToolsReturned(Vec<ToolReturn>),
    /// A service that one of these tools needs is away, and none of the calls has done what may not be done twice.
    ToolsUnavailable(Outage),
    /// The wait is over.
    Woken,
    /// The user wrote; may come between any two steps.
    FeedbackReceived(Vec<Feedback>),
    /// The user put files under `input/`; may come before any turn.
    FilesPlaced(Intake),
}

/// What a job starts with, or is given later.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Intake {
    /// First files: `instructions.md`, `input/…`.
    pub files: Vec<FileWrite>,
    /// What it has in common with other jobs: `tools/…`.
    pub shared: Option<Arc<SharedFiles>>,
    /// The documents under `input/`, with their page counts.
    pub sources: Vec<Source>,
}

/// A model's answer, decoded.
#[derive(Clone, Debug, PartialEq)]
pub struct Reply {
    /// Its text; may be empty.
    pub content: String,
    /// Its calls, with the provider's ids (re-keyed by the engine) and arguments as they came.
    pub tool_calls: Vec<ToolCall>,
    /// Why it ended.
    pub finish: Finish,
    /// Provider fields to echo.
    pub extra: Map<String, Value>,
    /// For `llm_requests`, tokens included.
    pub record: RequestRecord,
}

/// Token counts of one request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Whole prompt, cached part included.
    pub prompt_tokens: u32,
    /// Served from the provider's cache.
    pub cached_tokens: u32,
    /// The answer.
    pub completion_tokens: u32,
}

impl RequestRecord {
    /// The record's token counts.
    pub fn usage(&self) -> Usage {
        Usage {
            prompt_tokens: self.prompt_tokens,
            cached_tokens: self.cached_tokens,
            completion_tokens: self.completion_tokens,
        }
    }
}

/// Why the model stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Finish {
    /// It was done, with or without tool calls.
    Done,
    /// It ran into the answer cap: calls may be cut and are never run.
    Truncated,
    /// The provider withheld the answer.
    Refused,
}

/// A failed model call.
#[derive(Clone, Debug, PartialEq)]
pub struct Failure {
    /// What kind: decides what happens next.
    pub class: FailureClass,
    /// One sentence with the provider's own words.
    pub message: String,
    /// The provider's wish, in seconds.
    pub retry_after_s: Option<u64>,
    /// What the operator can do.
    pub hint: Option<String>,
    /// Between 0 and 1, drawn by the caller: spreads retries.
    pub jitter: f64,
    /// For `llm_requests`.
    pub record: RequestRecord,
}

/// Classes of failure; adapters classify and never retry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureClass {
    /// Network, time-out, 5xx: worth another attempt.
    Transient,
    /// 429 with a rate limit.
    RateLimited,
    /// The provider is overloaded (503, 529).
    Overloaded,
    /// Money or quota is used up (402, 429 `insufficient_quota`).
    Quota,
    /// The key is wrong or revoked (401, 403).
    Unauthorized,
    /// The request is larger than the window.
    ContextTooLong,
    /// The provider refused the content.
    Refused,
    /// The answer could not be decoded.
    Malformed,
    /// Anything else that will not change by waiting.
    Permanent,
}

/// What a tool that ran outside gave back.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolReturn {
    /// The call it answers.
    pub call_id: String,
    /// The text for the model.
    pub content: String,
    /// Whether it is an error; errors never carry products.
    pub is_error: bool,
    /// What it produced; lands in the commit of the result.
    pub products: Vec<Product>,
}

impl ToolReturn {
    /// A result with what it produced.
    pub fn ok(call_id: &str, content: impl Into<String>, products: Vec<Product>) -> Self {
        Self { call_id: call_id.into(), content: content.into(), is_error: false, products }
    }

    /// An error for the model to read; the text begins with `Error:`.
    pub fn error(call_id: &str, message: impl std::fmt::Display) -> Self {
        Self { call_id: call_id.into(), content: format!("Error: {message}"), is_error: true, products: Vec::new() }
    }
}

/// A service is away that tool calls need.
#[derive(Clone, Debug, PartialEq)]
pub struct Outage {
    /// One sentence: which service, where, and what to do.
    pub reason: String,
    /// Whether waiting alone brings nothing: a key is wrong, an address leads elsewhere.
    pub needs_operator: bool,
    /// Between 0 and 1, drawn by the caller: spreads retries.
    pub jitter: f64,
}

/// A user's words to a job.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Feedback {
    /// Its row's id.
    pub id: i64,
    /// Word for word.
    pub text: String,
    /// When it was written.
    pub created_at: DateTime<Utc>,
}

//! All outcomes of effects.

use crate::{
    GivenRow,
    conversation::ToolCall,
    ledger::Carried,
    vocabulary::{
        change::{FileWrite, Product, RequestRecord, Source},
        shared_files::SharedFiles,
    },
};
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::sync::Arc;
use strum::{EnumDiscriminants, EnumIter, IntoStaticStr};
use uuid::Uuid;

/// The answer to an [`crate::Effect`], or something that happened between two of them.
#[derive(Clone, Debug, PartialEq, EnumDiscriminants)]
#[strum_discriminants(name(OutcomeKind), derive(EnumIter, IntoStaticStr, PartialOrd, Ord))]
#[strum_discriminants(strum(serialize_all = "snake_case"), doc = "Which outcome it is.")]
pub enum Outcome {
    /// The job's documents and first files are at hand.
    IntakeDone(Intake),
    /// The job cannot be started: the sentence for its error.
    IntakeRefused {
        /// Whether none of its documents can be read.
        no_text: bool,
        /// What, where, what to do.
        reason: String,
    },
    /// A document is prepared, as far as it can be.
    Prepared(Prepared),
    /// What an earlier job found is at hand.
    Carried(Carried),
    /// The model answered.
    ModelReplied(Reply),
    /// The model call failed.
    ModelFailed(Failure),
    /// The calls that the outside had to carry out are made; one return per call asked for, in its order.
    ToolsReturned(Vec<ToolReturn>),
    /// A service that one of these calls needs is away; those before it are made.
    ToolsUnavailable(Outage),
    /// The commit of a call's dispatch was refused, because its approval is over; nothing of it is written, and the call has not
    /// left.
    DispatchRefused,
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
    /// Requirements that wait to be judged by it, for a job that judges some: what it begins with is told in its opening.
    pub waiting: Option<u64>,
    /// What was judged by rule, where rules judge before the model does: the judgements and what they leave.
    pub by_rule: Option<Vec<Product>>,
    /// The job that worked on earlier versions of its documents, where it names one.
    pub previous: Option<Uuid>,
}

/// A document whose text was taken out and cut.
#[derive(Clone, Debug, PartialEq)]
pub struct Prepared {
    /// The document, as [`crate::Effect::Prepare`] named it.
    pub document: String,
    /// What the model is told of it: kind, pages, headings, chunks; or why it has no text.
    pub note: String,
    /// Its text, its chunks and its passages; where it has no text, one passage that says so.
    pub products: Vec<Product>,
}

/// A model's answer, decoded.
#[derive(Clone, Debug, PartialEq)]
pub struct Reply {
    /// Its text; may be empty.
    pub content: String,
    /// Its calls, with the provider's ids (re-keyed by the engine) and arguments as they came.
    pub tool_calls: Vec<ToolCall>,
    /// Why it ended.
    pub finish: FinishReason,
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
    /// Written into it.
    pub cache_write_tokens: u32,
    /// The answer.
    pub completion_tokens: u32,
    /// Of it, reasoning.
    pub reasoning_tokens: u32,
}

impl RequestRecord {
    /// The record's token counts.
    pub fn usage(&self) -> Usage {
        Usage {
            prompt_tokens: self.prompt_tokens,
            cached_tokens: self.cached_tokens,
            cache_write_tokens: self.cache_write_tokens,
            completion_tokens: self.completion_tokens,
            reasoning_tokens: self.reasoning_tokens,
        }
    }
}

/// Why the model stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FinishReason {
    /// It was done, with or without tool calls.
    Done,
    /// It ran into the answer cap: calls may be cut and are never run.
    Truncated,
    /// The provider withheld the answer.
    Refused,
    /// By the provider's word it is not complete, and not for its length: the turn is paused, or the word is not known.
    Unfinished,
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
    /// What it may be besides.
    pub suspicion: Option<Suspicion>,
    /// Whether it says how the endpoint wants to be asked, so that the next request is another one. The adapter learns each
    /// such thing once.
    pub learnt: bool,
    /// Between 0 and 1, drawn by the caller: spreads retries.
    pub jitter: f64,
    /// For `llm_requests`.
    pub record: RequestRecord,
}

/// What a failure may be, where its words do not say it for certain: the engine, which knows the job, decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Suspicion {
    /// The request may be larger than the window: it was refused without a reason, or with words like token and limit.
    Size,
    /// The model's own call was at fault: the provider could not parse it.
    Call,
    /// It may pass: the status is that of an outage, or of a model that some providers deny for moments.
    Passing,
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
    /// Given up before its answer, because the job was paused, cancelled or lost. No adapter says it: it is on record for what
    /// the provider may have counted.
    Abandoned,
}

impl FailureClass {
    /// The word used in SQL and in telemetry.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Transient => "transient",
            Self::RateLimited => "rate_limited",
            Self::Overloaded => "overloaded",
            Self::Quota => "quota",
            Self::Unauthorized => "unauthorized",
            Self::ContextTooLong => "context_too_long",
            Self::Refused => "refused",
            Self::Malformed => "malformed",
            Self::Permanent => "permanent",
            Self::Abandoned => "abandoned",
        }
    }
}

/// What a tool that ran outside gave back.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolReturn {
    /// The call it answers.
    pub call_id: String,
    /// The text for the model.
    pub content: String,
    /// Whether it is an error. One of a call that names several things may carry the products of those that were right.
    pub is_error: bool,
    /// Whether it failed for a reason that is not the call's own, in every try that it was given.
    pub gave_up: bool,
    /// Whether the same call, made again, is taken ([`crate::OutsideCall::again`]).
    pub taken_again: bool,
    /// What it produced; lands in the commit of the result.
    pub products: Vec<Product>,
    /// Requirements of other jobs that the text gives to be judged.
    pub gives: Vec<GivenRow>,
    /// Whether the text may hold words of others: of documents, pages, foreign tools, or rows made of such.
    pub untrusted: bool,
}

impl ToolReturn {
    /// A result with what it produced.
    pub fn ok(call_id: &str, content: impl Into<String>, products: Vec<Product>) -> Self {
        Self {
            call_id: call_id.into(),
            content: content.into(),
            is_error: false,
            gave_up: false,
            taken_again: false,
            products,
            gives: Vec::new(),
            untrusted: false,
        }
    }

    /// An error for the model to read; the text begins with `Error:`.
    pub fn error(call_id: &str, message: impl std::fmt::Display) -> Self {
        let content = format!("Error: {message}");
        Self { content, is_error: true, ..Self::ok(call_id, "", Vec::new()) }
    }

    /// The same of a tool that failed in all its tries.
    pub fn gave_up(call_id: &str, message: impl std::fmt::Display) -> Self {
        Self { gave_up: true, ..Self::error(call_id, message) }
    }
}

/// What was counted by whoever looked into the files of a job before `job_complete`: the content of that call's return, as
/// JSON, and `counts` of the job's result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct LookedInto {
    /// Quotes that were looked up, and found.
    pub quotes_checked: u64,
    /// Documents of the job.
    pub documents: u64,
    /// Of these, those that have a text to find quotes in.
    pub documents_extracted: u64,
}

impl LookedInto {
    /// As the content of a return.
    pub fn to_json(self) -> String {
        serde_json::to_string(&self).unwrap_or_default()
    }
}

/// A service is away that tool calls need.
#[derive(Clone, Debug, PartialEq)]
pub struct Outage {
    /// What the calls before the one that needs it gave, in their order.
    pub returns: Vec<ToolReturn>,
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

//! All outcomes of effects.

use crate::{
    GivenRow,
    conversation::ToolCall,
    ledger::Carried,
    vocabulary::{
        change::{FileWrite, Product, Source},
        request::{FailureClass, RequestRecord},
        shared_files::SharedFiles,
    },
};
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::{collections::BTreeMap, sync::Arc};
use strum::{EnumDiscriminants, EnumIter, IntoStaticStr};
use uuid::Uuid;

/// The answer to an [`crate::Effect`], or an event between two of them.
#[derive(Clone, Debug, PartialEq, EnumDiscriminants)]
#[strum_discriminants(name(OutcomeKind), derive(EnumIter, IntoStaticStr, PartialOrd, Ord))]
#[strum_discriminants(strum(serialize_all = "snake_case"), doc = "Which outcome it is.")]
pub enum Outcome {
    /// The job's documents and first files are available.
    IntakeDone(Intake),
    /// The job cannot be started: the sentence for its error.
    IntakeRefused {
        /// Whether none of its documents can be read.
        no_text: bool,
        /// What, where, what to do.
        reason: String,
    },
    /// A document is prepared, as far as possible.
    Prepared(Prepared),
    /// The findings of an earlier job are available.
    Carried(Carried),
    /// The model answered.
    ModelReplied(Reply),
    /// The model call failed.
    ModelFailed(Failure),
    /// The external calls are made; one return per requested call, in order.
    ToolsReturned(Vec<ToolReturn>),
    /// A service that one of these calls needs is unavailable; the calls before it are made.
    ToolsUnavailable(Outage),
    /// The commit of a call's dispatch was refused, because its approval is no longer valid; nothing of it is written,
    /// and the call was not sent.
    DispatchRefused,
    /// The wait is over.
    Woken,
    /// The user wrote feedback; may come between any two steps.
    FeedbackReceived(Vec<Feedback>),
    /// The user put files under `input/`; may come before any turn.
    FilesPlaced(Intake),
}

/// The input of a job at its start, or added later.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Intake {
    /// First files: `instructions.md`, `input/…`.
    pub files: Vec<FileWrite>,
    /// The files that it shares with other jobs: `tools/…`.
    pub shared: Option<Arc<SharedFiles>>,
    /// The documents under `input/`, with their page counts.
    pub sources: Vec<Source>,
    /// Number of requirements that wait to be judged, for a job that judges requirements; its opening says so.
    pub waiting: Option<u64>,
    /// The judgements by rule, if rules judge before the model does, and their products.
    pub by_rule: Option<Vec<Product>>,
    /// The job that worked on earlier versions of its documents, if it names one.
    pub previous: Option<Uuid>,
}

/// A document that was extracted and cut.
#[derive(Clone, Debug, PartialEq)]
pub struct Prepared {
    /// The document, as [`crate::Effect::Prepare`] named it.
    pub document: String,
    /// The text about it for the model: kind, pages, headings, chunks; or why it has no text.
    pub note: String,
    /// Its text, its chunks and its passages; without text, one passage that says so.
    pub products: Vec<Product>,
}

/// A model's answer, decoded.
#[derive(Clone, Debug, PartialEq)]
pub struct Reply {
    /// Its text; may be empty.
    pub content: String,
    /// Its calls, with the provider's ids (re-keyed by the engine) and unchanged arguments.
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
    /// Written into the provider's cache.
    pub cache_write_tokens: u32,
    /// The answer.
    pub completion_tokens: u32,
    /// The reasoning part of the answer.
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
    /// The answer is complete, with or without tool calls.
    Done,
    /// It reached the answer cap: calls may be cut and are never run.
    Truncated,
    /// The provider withheld the answer.
    Refused,
    /// The provider reports it as incomplete, but not because of its length: the turn is paused, or the reason is
    /// unknown.
    Unfinished,
}

/// A failed model call.
#[derive(Clone, Debug, PartialEq)]
pub struct Failure {
    /// Its class, which decides what happens next.
    pub class: FailureClass,
    /// One sentence with the provider's message.
    pub message: String,
    /// The delay requested by the provider, in seconds.
    pub retry_after_s: Option<u64>,
    /// The operator's remedy.
    pub hint: Option<String>,
    /// A possible other cause.
    pub suspicion: Option<Suspicion>,
    /// Whether it reveals a requirement of the endpoint for requests, so that the next request is different. The
    /// adapter learns each such requirement once.
    pub learnt: bool,
    /// Between 0 and 1, drawn by the caller: spreads retries.
    pub jitter: f64,
    /// For `llm_requests`.
    pub record: RequestRecord,
}

/// A possible cause of a failure whose message is ambiguous: the engine, which knows the job, decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Suspicion {
    /// The request may be larger than the window: it was refused without a reason, or with words like token and limit.
    Size,
    /// The model's own call was at fault: the provider could not parse it.
    Call,
    /// It may be transient: the status is that of an outage, or of a model that some providers deny temporarily.
    Passing,
}

/// The return of an external tool call.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ToolReturn {
    /// The call it answers.
    pub call_id: String,
    /// The text for the model.
    pub content: String,
    /// Whether it is an error. An error of a call with several items may carry the products of the valid ones.
    pub is_error: bool,
    /// Whether it failed in every attempt, for a reason that is not the call's own.
    pub gave_up: bool,
    /// Whether the same call is accepted when repeated ([`crate::OutsideCall::again`]).
    pub taken_again: bool,
    /// Its products; written in the commit of the result.
    pub products: Vec<Product>,
    /// Requirements of other jobs in the text, to be judged.
    pub gives: Vec<GivenRow>,
    /// Whether the text may contain untrusted text: from documents, pages, foreign tools, or rows derived from such
    /// text.
    pub untrusted: bool,
}

impl ToolReturn {
    /// A result with its products.
    pub fn ok(call_id: &str, content: impl Into<String>, products: Vec<Product>) -> Self {
        Self { call_id: call_id.into(), content: content.into(), products, ..Self::default() }
    }

    /// An error for the model to read; the text begins with `Error:`.
    pub fn error(call_id: &str, message: impl std::fmt::Display) -> Self {
        let content = format!("Error: {message}");
        Self { content, is_error: true, ..Self::ok(call_id, "", Vec::new()) }
    }

    /// The same for a tool that failed in all attempts.
    pub fn gave_up(call_id: &str, message: impl std::fmt::Display) -> Self {
        Self { gave_up: true, ..Self::error(call_id, message) }
    }
}

/// The outcome of the check of a job's files before `job_complete`: the content of that call's return, as JSON.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Inspected {
    /// `counts` of the job's result.
    #[serde(flatten)]
    pub counts: InspectionCounts,
    /// `rests_on` of the job's result: by file, the ids of the citations of its quotes, in the file's order, each once.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub rests_on: BTreeMap<String, Vec<String>>,
}

impl Inspected {
    /// As the content of a return.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// The counts of this check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct InspectionCounts {
    /// Quotes that were checked and found.
    pub quotes_checked: u64,
    /// Documents of the job.
    pub documents: u64,
    /// Of these, those with a text to find quotes in.
    pub documents_extracted: u64,
}

/// A service that tool calls need is unavailable.
#[derive(Clone, Debug, PartialEq)]
pub struct Outage {
    /// The results of the calls before the one that needs it, in order.
    pub returns: Vec<ToolReturn>,
    /// One sentence: which service, where, and what to do.
    pub reason: String,
    /// Whether waiting alone does not help: a key is wrong, an address leads elsewhere.
    pub needs_operator: bool,
    /// Between 0 and 1, drawn by the caller: spreads retries.
    pub jitter: f64,
}

/// A user's feedback to a job.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Feedback {
    /// Its row's id.
    pub id: i64,
    /// Verbatim.
    pub text: String,
    /// When it was written.
    pub created_at: DateTime<Utc>,
}

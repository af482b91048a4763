//! The types between the engine and its drivers: effects, outcomes, changes, settings.

mod approval;
mod canonical;
mod change;
mod effect;
mod error;
mod exit;
mod model_api;
pub(crate) mod nearest;
mod outcome;
pub mod path;
mod recorded;
mod request;
mod settings;
mod shared_files;
mod shown;
mod untrusted;
mod validation;
mod visible;
mod words;

pub(crate) use approval::Approvals;
pub use approval::{
    Approval, ApprovalChange, ApprovalRules, ApprovalState, ArgumentsReader, AskedCall, CallOutcome, Digest,
};
pub use canonical::{canonical, inexact_number};
pub use change::{Change, Citation, FileWrite, Judgement, Product, Requirement, Source, Verdict};
pub use effect::{Check, Effect, EffectKind, ModelRequest, OutsideCall, RequestMessage};
pub use error::{Corrupt, Illegal};
pub use exit::{JobError, JobExit};
pub use model_api::{Api, OutputCapField, ReasoningEcho, Streaming, ToolCallIds, ToolChoice};
pub use nearest::{nearest, nearest_by};
pub use outcome::{
    Failure, Feedback, FinishReason, Inspected, InspectionCounts, Intake, Outage, Outcome, OutcomeKind, Prepared,
    Reply, Suspicion, ToolReturn, Usage,
};
pub use recorded::{
    RecordedRequirement, RequirementChange, WITHDRAWN, apply_requirement_changes, candidate_id_of, known_keys,
};
pub use request::{FailureClass, Purpose, RequestRecord};
pub use settings::{
    Autonomy, ClosedTodos, CoverageSettings, DocumentStyle, HistoryAtBoundary, Limits, ModelSettings, OnToolFailure,
    OtherModels, Owed, OwedFile, PhaseSettings, Prepare, Prices, Prompts, RepeatedCalls, Settings,
    SystemPromptPrefixes, TodoListPosition, TokenCounter,
};
pub use shared_files::{SharedFile, SharedFiles};
pub use shown::{beginning, one_line, says_something};
pub use untrusted::{Reach, Untrusted, UntrustedRules};
pub(crate) use validation::NEXT_REQUIREMENT;
pub use validation::{Asked, HeldRequirement, KnownRequirement, Tally, place_of};
pub use visible::{shown, visible, without_comments};
pub use words::plain_words;

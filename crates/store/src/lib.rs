//! Postgres, and the only crate that knows SQL.
//!
//! Folders by subject; `queries/` has the same folders, one statement per file, checked against a real database when
//! `.sqlx` is regenerated. A job's path through this crate:
//!
//! 1. [`Store::enqueue`] inserts the row (users do the same with plain SQL).
//! 2. [`Store::claim`] hands it to a worker under a [`Lease`]: the job's id and a number, the epoch, that is one more
//!    with each claim. A holder of an older epoch can no longer write.
//! 3. [`Store::load`] returns the rows from which a run is rebuilt.
//! 4. [`Store::commit`] writes a step: one transaction, the fence first.
//! 5. The last commit, [`Store::release`] or [`Store::reject`] releases the job; [`Store::sweep`] does it for dead
//!    workers.
//!
//! A lease is valid while its worker's heartbeat is recent by the database's clock; there is one heartbeat per worker,
//! not per job. There is no session state, no connection is held between calls, and callers never see one.

mod address;
mod admin;
pub mod backoff;
mod bind;
mod commit;
mod endpoint;
mod error;
mod error_details;
pub mod fail_points;
mod pool;
mod queue;
mod requirements;
mod run;
mod search;
mod user_json;
mod views;
mod workspace;

pub use admin::{
    ApprovalRow, ApprovalTool, CallDecision, Command, DeletedJob, Health, KeptJobs, MIGRATOR, Prunable, PrunedJob,
    QueueCounts, ROLES, Retention, Violation, WaitingCalls,
};
pub use commit::{Commit, Committed};
pub use endpoint::{Amount, Draw, Drawn, EndpointKey, EndpointLimits, Refusal, Slots};
pub use error::{Error, READ_ONLY};
pub use pool::{AddressSource, ConnectOptions, Store};
pub use queue::{
    ClaimedJob, JobNotice, Knowing, Lease, Listener, NewDocument, NewJob, NewWorker, ReleaseReason, Rescued,
    UnknownType,
};
pub use requirements::{CoverageLine, PassageLine, RequirementRow};
pub use run::{InlineDocument, JobInput, JobSettings, MOST_DOCUMENT_BYTES, Oversized, PreviousStatus, StoredSettings};
pub use search::{FoundSegment, NearRequirement, NewSegment, Unembedded, UnembeddedRequirement, Unindexed};
pub use user_json::UserJson;
pub use views::{
    AttemptLine, CostBar, FilePart, FileSummary, FindingsCount, JobDetail, JobFilter, JobLine, JobSeen, JobsPulse,
    PhaseLine, RecordedApproval, RecordedJob, RecordedStep, ReplacedSettings, SeenFile, SourceText, StatusCount,
    StepCall, StepFile, StepLine, StepMessage, StepRequest, TodoRow, TraceEffect, TraceMessage, TracePage,
    TraceRequest, TraceStep, WatchRow, cost_of_budget,
};
pub use workspace::{ChangedFile, FileRow, facts};

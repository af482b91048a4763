//! Postgres, and the only crate that knows SQL.
//!
//! One file a verb, one statement a file in `queries/`, checked against a real database when `.sqlx` is regenerated.
//! A job's way through here:
//!
//! 1. [`Store::enqueue`] inserts the row (users do the same with plain SQL).
//! 2. [`Store::claim`] hands it to a worker under a [`Lease`]: the job's id and a number, the epoch, that is one more
//!    with each claim. Whoever holds an older epoch can no longer write.
//! 3. [`Store::load`] gives the rows a run is rebuilt from.
//! 4. [`Store::commit`] writes a step: one transaction, the fence first.
//! 5. The last commit, [`Store::release`] or [`Store::reject`] gives the job back; [`Store::sweep`] does it for workers
//!    that died.
//!
//! A lease lives as long as its worker's heartbeat is young by the database's clock; there is one heartbeat a worker,
//! not one a job. No session state is kept, no connection is held between calls, and no caller sees one.

mod address;
mod aside;
mod claim;
mod commit;
mod control;
mod dashboard;
mod details;
mod enqueue;
mod error;
pub mod fail_points;
mod files;
mod find;
mod findings;
mod fork;
mod given;
mod health;
mod input;
mod invariants;
mod lease;
mod listen;
mod load;
mod meaning;
mod passages;
mod pool;
mod previous;
mod prune;
mod recording;
mod release;
mod requirement;
mod rows;
mod schema;
mod search;
mod seen;
mod settings;
mod shared_files;
mod status;
mod sweep;
mod trace;
mod unknown;
mod validation;
mod worker;

pub use claim::ClaimedJob;
pub use commit::{Commit, Committed};
pub use control::Command;
pub use dashboard::{
    AttemptLine, CostBar, FilePart, FileSummary, FindingsCount, JobFilter, JobLine, JobsPulse, PhaseLine, SourceText,
    StatusCount, StepCall, StepFile, StepLine, StepMessage, StepRequest,
};
pub use enqueue::{NewDocument, NewJob};
pub use error::Error;
pub use files::{ChangedFile, FileRow, facts};
pub use given::Given;
pub use health::{Health, QueueCounts};
pub use input::{JobInput, MOST_DOCUMENT_BYTES, Oversized};
pub use invariants::Violation;
pub use lease::Lease;
pub use listen::{JobNotice, Listener};
pub use load::LoadedJob;
pub use meaning::{NearRequirement, Unembedded, UnembeddedRequirement};
pub use passages::{CoverageLine, PassageLine};
pub use pool::{ConnectOptions, Store};
pub use previous::PreviousStatus;
pub use prune::{DeletedJob, Prunable, PrunedJob, Retention};
pub use recording::{RecordedJob, RecordedStep};
pub use release::ReleaseReason;
pub use requirement::{HeldRequirement, RequirementRow};
pub use schema::MIGRATOR;
pub use search::{FoundPassage, NewPassage, Unindexed};
pub use seen::JobSeen;
pub use settings::{InlineDocument, StoredSettings};
pub use status::{JobDetail, TodoRow, WatchRow};
pub use sweep::Rescued;
pub use trace::{TraceEffect, TraceMessage, TracePage, TraceRequest, TraceStep};
pub use unknown::{Knowing, UnknownType};
pub use validation::{Asked, SimilarRequirement, ValidationTally};
pub use worker::NewWorker;

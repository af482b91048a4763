//! Read-only views of jobs: for the command line, the dashboard, traces and recordings.

mod dashboard;
mod find;
mod job;
mod recording;
mod seen;
mod trace;

pub use dashboard::{
    AttemptLine, CostBar, FilePart, FileSummary, FindingsCount, JobFilter, JobLine, JobsPulse, PhaseLine, SourceText,
    StatusCount, StepCall, StepFile, StepLine, StepMessage, StepRequest,
};
pub use job::{JobDetail, TodoRow, WatchRow, cost_of_budget};
pub use recording::{RecordedApproval, RecordedJob, RecordedStep, ReplacedSettings};
pub use seen::{JobSeen, SeenFile};
pub use trace::{TraceEffect, TraceMessage, TracePage, TraceRequest, TraceStep};

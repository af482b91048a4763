//! Queries of the dashboard and the metrics. Read-only.
//!
//! Two rules keep these reads cheap: every list is a page that an index can return from any position, so its cost does
//! not grow with the number of jobs or turns; and no query reads more of a document or a message than is shown.

mod files;
mod jobs;
mod requirements;
mod timeline;

pub use files::{FilePart, FileSummary, SourceText};
pub use jobs::{JobFilter, JobLine, JobsPulse, StatusCount};
pub use requirements::FindingsCount;
pub use timeline::{AttemptLine, CostBar, PhaseLine, StepCall, StepFile, StepLine, StepMessage, StepRequest};

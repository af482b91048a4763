//! What the dashboard and the metrics read. Nothing here writes.
//!
//! Two rules keep these reads harmless beside the work: every list is a page that an index gives from any place on, so
//! its cost does not grow with the number of jobs or turns; and nothing reads the content of a document or a message
//! further than it is shown.

mod files;
mod jobs;
mod requirements;
mod timeline;

pub use files::{FilePart, FileSummary, SourceText};
pub use jobs::{JobFilter, JobLine, JobsPulse, StatusCount};
pub use requirements::FindingsCount;
pub use timeline::{AttemptLine, CostBar, PhaseLine, StepCall, StepFile, StepLine, StepMessage, StepRequest};

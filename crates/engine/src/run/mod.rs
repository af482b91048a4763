//! The parts of a run, and what is read from the whole: the next effect, the request, figures, progress.

mod answer_calls;
mod deliverables;
mod figures;
mod given_rows;
mod job_rows;
pub(crate) mod next;
mod progress;
pub(crate) mod request;
mod snapshot;
pub(crate) mod state;
mod step;
mod workspace;

pub(crate) use answer_calls::{AnswerCall, AnswerCalls};
pub use answer_calls::{CallProgress, PhaseEnd};
pub(crate) use deliverables::Deliverables;
pub use deliverables::{CANDIDATE_LIST, REPORT, REQUIREMENT_LISTS, is_recorder};
pub use figures::{Figures, Judged};
pub use given_rows::{Given, GivenRow};
pub use job_rows::{FileChanges, JobRows, PhaseRow};
pub use progress::Progress;
pub use snapshot::{FileIndex, FileMeta, JobInfo, Snapshot, WorkspaceMemory};
pub(crate) use state::is_default;
pub use state::{
    Anchor, Beginning, ContextWindow, Guards, PhaseState, Retry, STATE_VERSION, Stage, StageKind, StagedPhase, State,
    Totals,
};
pub(crate) use step::Step;
pub use workspace::Workspace;

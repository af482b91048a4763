//! Every decision of a Plumbline job, as a pure, synchronous state machine.
//!
//! This crate has no clock, no ids, no randomness and no I/O of its own; everything impure is an argument. It cannot
//! name a runtime (see its manifest), and `clippy.toml` bans clocks and id makers.
//!
//! # Driving a run
//!
//! ```text
//! rows ──load──▶ Run ──next──▶ Effect ──(the outside)──▶ Outcome ──apply──▶ Changes ──▶ rows, one transaction
//! ```
//!
//! - [`Run::load`] rebuilds a run from a [`Snapshot`] of its rows.
//! - [`Run::next`] says what to do: a *read*. The same state gives the same answer however often it is asked, and that
//!   is all there is to crash recovery.
//! - [`Run::apply`] takes what came back, moves the run and says what to write. Pairs that do not belong together are
//!   [`Illegal`] and leave the run untouched.
//!
//! The driver performs the effect, writes the changes together with [`Run::state`] and [`Run::progress`], and asks
//! again. It commits after every [`Outcome`] except between a model's answer and the results of local tools, where
//! [`Effect::RunTools`] says so: those land in one commit.
//!
//! # The two loops
//!
//! The outer loop alternates strategic phases (plan, remember, write the next todos) and tactical phases (do them)
//! until [`tools`]' completion gate accepts `job_complete`. The inner loop runs turns, one todo after another, until
//! the phase's todos are done. Both kinds of phase are the same loop with other tools, another prompt and another todo
//! list.
//!
//! # Where to find what
//!
//! | question | file |
//! |---|---|
//! | what is asked of the outside, what may come back, what may be written | `effect`, `outcome`, `change` |
//! | what is next | `next`, `request`, `frame` |
//! | what an outcome leads to | `apply/` |
//! | how phases open and close | `boundary`, `orientation`, `summary`, `yaml` |
//! | the tools that decide about the job itself | `tools/` |
//! | how a conversation is held, and how it stays in bounds | `history`, `compaction` |
//! | which passages were read and answered | `ledger/`, `tools/coverage` |
//! | what a job leaves with | `tools/job_complete`, `deliver` |
//! | guardrails, budgets, retry | `guard`, `budget`, `retry` |

mod apply;
mod boundary;
mod budget;
mod change;
mod compaction;
mod deliver;
mod effect;
mod error;
mod excerpt;
mod failure;
mod fallback;
mod fingerprint;
mod frame;
pub mod guard;
mod history;
mod ledger;
mod listed;
mod message;
mod nearest;
mod next;
mod orientation;
mod outcome;
pub mod path;
mod phase;
mod placeholder;
pub mod plan;
mod reading;
mod recorded;
mod repeat;
mod request;
mod retry;
mod rows;
mod run;
mod settings;
mod shared_files;
mod snapshot;
mod state;
mod summary;
mod system_todo;
mod todo;
mod tool;
pub mod tools;
mod versions;
mod work;
mod yaml;

pub use apply::KEY_REFUSED;
pub use change::{
    Change, Citation, FileWrite, JobError, Judgement, Leave, PlacedFile, Product, Purpose, RequestRecord, Requirement,
    Source, Verdict,
};
pub use deliver::{REPORT, REQUIREMENT_LISTS};
pub use effect::{Effect, ModelRequest, RequestMessage};
pub use error::{Corrupt, Illegal};
pub use fallback::Fallback;
pub use history::{History, MessageRef, ToolCallRef};
pub use ledger::{
    AnsweredPassage, Block, Candidate, CutDocument, LONGEST_QUOTE, Passage, PassageState, Touched, blocks,
};
pub use message::{CLEARED_NOTE, Message, MessageKind, Role, ToolCall};
pub use nearest::{nearest, nearest_by};
pub use orientation::WAITING;
pub use outcome::{
    Failure, FailureClass, Feedback, Finish, Intake, LookedInto, Outage, Outcome, Prepared, Reply, Suspicion,
    ToolReturn, Usage,
};
pub use phase::{Opening, PhaseKind, PhaseOutcome};
pub use placeholder::is_placeholder;
pub use recorded::{RecordedRequirement, RequirementChange, WITHDRAWN, candidate_id_of, lay_requirements};
pub use repeat::Repeat;
pub use rows::{FileChanges, JobRows, PhaseRow};
pub use run::Run;
pub use settings::{
    Autonomy, CoverageSettings, HistoryAtBoundary, Limits, ModelSettings, OnToolFailure, OtherModels, Owed, OwedFile,
    PhaseSettings, Prepare, Prices, Prompts, RepeatedCalls, Settings, SystemBeginnings, TodoListPosition, TokenCounter,
};
pub use shared_files::{SharedFile, SharedFiles};
pub use snapshot::{FileFacts, FileIndex, JobFacts, Memory, Progress, Snapshot};
pub use state::{
    Anchor, Beginning, ContextWindow, Guards, PhaseState, Retry, STATE_VERSION, Stage, StagedPhase, State, Totals,
};
pub use system_todo::{AnsweredBy, StrategicTodos, SystemTodo};
pub use todo::{PlannedTodo, Todo, TodoPlan, TodoStatus};
pub use tool::{Handler, Phases, Replay, Schema, ToolSpec, Toolset};
pub use versions::{Carried, Previous, Versions};
pub use work::{Work, Worked};

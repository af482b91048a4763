//! Every decision of a Plumbline job, as a pure, synchronous state machine.
//!
//! This crate has no clock, no ids, no randomness and no I/O; everything impure is an argument. Its manifest has no
//! runtime, and `clippy.toml` bans clocks and id generators.
//!
//! # Driving a run
//!
//! ```text
//! rows ──load──▶ Run ──next──▶ Effect ──(the outside)──▶ Outcome ──apply──▶ Changes ──▶ rows, one transaction
//! ```
//!
//! - [`Run::load`] rebuilds a run from a [`Snapshot`] of its rows.
//! - [`Run::next`] returns the next effect: a *read*. The same state always gives the same answer; crash recovery needs
//!   nothing else.
//! - [`Run::apply`] applies an outcome, changes the run and returns the changes to write. An outcome that does not
//!   match the effect is [`Illegal`] and leaves the run unchanged.
//!
//! The driver performs the effect, writes the changes together with [`Run::state`] and [`Run::progress`], and asks
//! again. It commits when [`Run::commits_next`] says so: after every [`Outcome`] but a model's answer whose calls are
//! local, which is written together with their results. Such calls see uncommitted changes.
//!
//! ```
//! use chrono::{DateTime, Utc};
//! use plumbline_engine::{Effect, JobExit, JobRows, Outcome, Run, Settings};
//!
//! fn drive(
//!     rows: &mut JobRows,
//!     settings: Settings,
//!     perform: impl Fn(Effect<'_>) -> Outcome,
//!     now: fn() -> DateTime<Utc>,
//! ) -> Result<JobExit, Box<dyn std::error::Error>> {
//!     let mut run = Run::load(rows.snapshot(Vec::new(), true), settings.into())?;
//!     let mut changes = Vec::new();
//!     loop {
//!         let exit = run.exit().cloned();
//!         if exit.is_some() || run.commits_next(!changes.is_empty()) {
//!             let step = rows.job.step + 1;
//!             rows.commit(step, &std::mem::take(&mut changes), run.state());
//!             run.committed(step);
//!         }
//!         if let Some(exit) = exit {
//!             return Ok(exit);
//!         }
//!         let outcome = perform(run.next());
//!         changes.extend(run.apply(outcome, now())?);
//!     }
//! }
//! ```
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
//! | question | where |
//! |---|---|
//! | what is asked of the outside, what may come back, what may be written | `vocabulary/`: `effect`, `outcome`, `change` |
//! | a job in memory | `transition/run`, the only file that sees its fields; its parts: `run/`, each with its own rules |
//! | what is next | `run/`: `next`, `request` |
//! | what an outcome leads to | `transition/`, the only module that changes a run |
//! | how phases open and close, todos, the plan | `transition/phases`, `phase/` |
//! | the tools that decide about the job itself | `tools/`: each returns a `Deed`, which `transition/own_tools` carries out |
//! | how a conversation is held, and how it stays in bounds | `conversation/`, `transition/context` |
//! | which passages were read and answered | `ledger/`, `tools/coverage` |
//! | whether a requirement says what its quotes say | `comparison/` |
//! | what a job leaves with | `tools/job_complete`, `run/deliverables`, `transition/deliver` |
//! | which calls people decide on, and what their decision leads to | `transition/approvals`, `vocabulary/approval` |
//! | guardrails, budgets, retry | `guardrail/` |

pub mod comparison;
mod conversation;
mod guardrail;
mod ledger;
mod phase;
mod run;
pub mod tools;
mod transition;
mod vocabulary;

pub use conversation::{CLEARED_NOTE, History, Message, MessageKind, MessageRef, Role, Room, ToolCall, ToolCallRef};
pub use guardrail::{Fallback, News, PhaseEffects, Repeat, Rework, Seen, is_placeholder, loop_detection};
pub use ledger::{
    Account, AnsweredPassage, Block, Candidate, Carried, CarriedPassage, CutDocument, Decision, LONGEST_QUOTE, Ledger,
    Passage, PassageDecision, PassageState, PlacedQuote, Previous, SHORTEST_REASON, StandingRequirement, Touched,
    Versions, blocks, is_reason, quotes_of,
};
pub use phase::{
    AnsweredBy, NextPhase, Opening, PhaseKind, PhaseOutcome, PlannedTodo, StrategicTodos, SystemTodo, Todo, TodoPlan,
    TodoStatus, Todos, WAITING, Work, Worked, plan,
};
pub use run::{
    Anchor, Beginning, CANDIDATE_LIST, CallProgress, ContextWindow, Figures, FileChanges, FileIndex, FileMeta, Given,
    GivenRow, Guards, JobInfo, JobRows, Judged, PhaseEnd, PhaseRow, PhaseState, Progress, REPORT, REQUIREMENT_LISTS,
    Retry, STATE_VERSION, Snapshot, Stage, StageKind, StagedPhase, State, Totals, Workspace, WorkspaceMemory,
    is_recorder,
};
pub use tools::{Handler, HttpMethod, Phases, Replay, Schema, ToolSpec, Toolset};
pub use transition::{EDITED, HELD_RESULT, KEY_REFUSED, Run, SystemStatements};
pub use vocabulary::{
    Api, Approval, ApprovalChange, ApprovalRules, ApprovalState, ArgumentsReader, Asked, AskedCall, Autonomy,
    CallOutcome, Change, Check, Citation, ClosedTodos, Corrupt, CoverageSettings, Digest, DocumentStyle, Effect,
    EffectKind, Failure, FailureClass, Feedback, FileWrite, FinishReason, HeldRequirement, HistoryAtBoundary, Illegal,
    Inspected, InspectionCounts, Intake, JobError, JobExit, Judgement, KnownRequirement, Limits, ModelRequest,
    ModelSettings, OnToolFailure, OtherModels, Outage, Outcome, OutcomeKind, OutputCapField, OutsideCall, Owed,
    OwedFile, PhaseSettings, Prepare, Prepared, Prices, Product, Prompts, Purpose, Reach, ReasoningEcho,
    RecordedRequirement, RepeatedCalls, Reply, RequestMessage, RequestRecord, Requirement, RequirementChange, Settings,
    SharedFile, SharedFiles, Source, Streaming, Suspicion, SystemPromptPrefixes, Tally, TodoListPosition, TokenCounter,
    ToolCallIds, ToolChoice, ToolReturn, Untrusted, UntrustedRules, Usage, Verdict, WITHDRAWN,
    apply_requirement_changes, beginning, candidate_id_of, canonical, inexact_number, known_keys, nearest, nearest_by,
    one_line, path, place_of, plain_words, says_something, shown, visible, without_comments,
};

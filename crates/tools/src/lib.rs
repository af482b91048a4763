//! The tools that act outside the engine: files, documents, citations, requirements. One file per tool.
//!
//! A tool is a function from arguments and a view of the workspace to a text for the model and a list of products. It
//! writes nothing: the step's commit does. So a tool may be run again after a crash, a refused call leaves no trace,
//! and all results of a turn are written together.
//!
//! ```text
//! ToolCall ─▶ ToolRunner ── name known? arguments as its schema says? ──▶ tool ──▶ Output{content, products}
//!                                                                          │                │
//!                  Workspace (rows) ◀── WorkspaceOverlay (what this batch did) ◀─────────────┘
//! ```
//!
//! | question | module |
//! |---|---|
//! | what is a tool, which are there, how does one run | `tool`, `registry`, `runner` |
//! | how does a job read and write its files | `workspace` |
//! | how do documents become text, chunks and citations | `documents` |
//! | how is a requirement recorded, and later checked and integrated | `requirements` |
//! | how does a tool reach the graph, and which queries are allowed | [`graph`] |
//! | which tools of an operator can be called, and how | [`http`] |
//! | how are web searches and fetches done, and which addresses are refused | [`web`] |
//! | how are texts found by words and by meaning | [`search`] |
//! | which results of an earlier job does this one reuse | `carry` |
//! | which digests identify a call for a person's approval | [`approval`] |
//! | do the files that a job owes meet their requirements | `inspection` |
//! | which files are rendered from a job's rows when it ends | [`deliverables`] |
//! | how much of a gold list did a run find | [`evaluation`] |
//!
//! Each common rule is in one place: `workspace/path.rs` for paths and writable files, `arguments.rs` for schemas,
//! `documents/citation_check.rs` for the check that every citation's quote occurs in its source.

pub mod approval;
mod arguments;
mod carry;
pub mod deliverables;
pub mod digest;
mod documents;
mod error;
pub mod evaluation;
pub mod graph;
pub mod http;
mod inspection;
mod registry;
mod requirements;
mod runner;
mod schemas;
pub mod search;
mod tool;
pub mod web;
mod workspace;

pub use carry::{CHANGES, PreviousJob};
pub use documents::part_path;
pub use error::BatchError;
pub use inspection::{Inspection, OwedContent};
use plumbline_bounds::{Cancellation, run_blocking};
use plumbline_documents::candidates::Scan;
pub use registry::{catalog, reaches_out};
pub use requirements::{
    Graph, RecordDefaults, ValidationQueue, accept_by_rule, content_key, given_in, judged_in, row_of_name,
};
pub use runner::ToolRunner;
pub use schemas::SchemaBudget;
pub use search::{Ranked, RankedSegment, Ranking, SemanticMatches, TextIndex};
pub use tool::{Registry, ToolContext, is_source};
pub use workspace::{BoxFuture, KnownKeys, PassagePlace, Workspace, WorkspaceError};

/// Runs work with a scan: patterns of a configuration make it costly.
pub(crate) async fn run_scan<T: Send + 'static>(
    scan: &Scan,
    work: impl FnOnce(&Cancellation) -> T + Send + 'static,
) -> T {
    match scan.is_costly() {
        true => plumbline_bounds::run_costly(work).await,
        false => run_blocking(work).await,
    }
}

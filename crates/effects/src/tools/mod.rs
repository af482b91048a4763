//! The tools that act outside the engine: files, documents, citations, requirements. One file a tool.
//!
//! A tool is a function from arguments and a view of the workspace to a text for the model and a list of products. It
//! writes nothing: the step's commit does (DESIGN section 4). So a tool may be run again after a crash, a refused call
//! leaves no trace, and all results of a turn land together.
//!
//! ```text
//! ToolCall ─▶ Toolbox ── name known? arguments as its schema says? ──▶ tool ──▶ Output{content, products}
//!                                                                       │                │
//!                          Workspace (rows) ◀── Desk (what this batch did) ◀─────────────┘
//! ```
//!
//! The rules that hold for all of them are kept in one place each: `path.rs` for paths and what may be written,
//! `arguments.rs` for schemas, `evidence.rs` for the promise that every citation's quote occurs in its source.

mod add_requirement;
mod arguments;
mod carry;
mod chunk_document;
mod cite;
mod create_folder;
mod delete_file;
mod desk;
mod edit_file;
mod error;
mod evidence;
mod execute_cypher_query;
mod extract_document_text;
mod fetch_page;
mod get_graph_schema;
mod hand_over;
mod inspection;
mod integrate_requirement;
mod list_files;
mod long_text;
mod next_requirement;
mod path;
mod prepare;
mod query_similar_requirements;
mod quote_cache;
mod read_file;
mod recorded;
mod registry;
mod reject_requirement;
mod run_blocking;
mod search_files;
mod text_index;
mod toolbox;
mod validation;
mod web_search;
mod workspace;
mod write_file;

pub use add_requirement::key::of as content_key;
pub use carry::{CHANGES, PreviousJob};
pub use error::BatchError;
pub use hand_over::{Asked, Graph, HandOver, HeldRequirement, KnownRequirement, Tally};
pub use inspection::{Inspection, OwedContent};
pub use long_text::part_path;
pub use registry::catalog;
use run_blocking::run_blocking;
pub use text_index::{MeantAlike, Ranked, RankedPassage, Ranking, TextIndex};
pub use toolbox::{ToolContext, Toolbox};
pub use workspace::{BoxFuture, PassagePlace, Workspace, WorkspaceError};

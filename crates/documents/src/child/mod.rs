//! The child process that parses a document: started with limits by [`Parser`], run by [`run_child`].
//!
//! ```text
//! worker: Parser ──document on stdin──▶ child: run_child ──format──▶ pages
//!            ▲                                                        │
//!            └──────────── JSON lines on stdout (protocol) ◀──────────┘
//! ```

mod page_sink;
mod parser;
mod process;
pub(crate) mod protocol;

pub use parser::{Limits, Parser, ParserPermit};
pub use process::run_child;
pub(crate) use protocol::Parsed;

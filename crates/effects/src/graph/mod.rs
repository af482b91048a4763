//! The graph that requirements are integrated into: Neo4j, through its HTTP Query API.
//!
//! There is no driver in between: a statement is a POST, a transaction is an address, so the process has one TLS, one
//! set of time limits and no protocol version to follow. The API, with its transactions, is part of Neo4j from 5.26
//! on, and of Aura.
//!
//! ```text
//! tool ──▶ GraphClient ──POST /db/{db}/query/v2──────────▶ read
//!              │
//!              └─ Transaction: /tx ▶ /tx/{id} … ▶ /tx/{id}/commit ──▶ one requirement, whole or not at all
//! ```
//!
//! | question | file |
//! |---|---|
//! | how is the server spoken to, what can go wrong | `client`, `transaction`, `exchange`, `address`, `error` |
//! | which labels, relations and constraints are there | `vocabulary` |
//! | how does a requirement become a node, once | `integration` |
//! | which object does a name mean | `names` |
//! | what may a query of the model do | `guard` |
//! | what is written where no graph is configured | `script` |
//!
//! Everything that comes from a document or a model travels as a parameter; only names from `vocabulary` are put into
//! statements. The one exception is `script`, a file for people, where values are written as literals.

mod address;
mod client;
mod error;
mod exchange;
mod guard;
mod integration;
mod names;
mod script;
mod transaction;
mod vocabulary;

pub use client::{Access, GraphClient, GraphConfig, Rows, Statement};
pub use error::{GraphConfigError, GraphError};
pub use guard::{Forbidden, check as check_query};
pub use integration::{Integrated, Link, RequirementNode};
pub use names::{Found, Names};
pub use script::{append as script_of, head as script_head};
pub use transaction::Transaction;
pub use vocabulary::{CONSTRAINTS, End, RELATIONS, RelationKind, relation};

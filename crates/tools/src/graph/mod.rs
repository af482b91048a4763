//! The graph that requirements are integrated into: Neo4j, through its HTTP Query API.
//!
//! There is no driver: a statement is a POST, a transaction is a URL, so the process has one TLS implementation, one
//! set of timeouts and no driver protocol. The API, with its transactions, is part of Neo4j from 5.26 on, and of Aura.
//!
//! ```text
//! tool ──▶ GraphClient ──POST /db/{db}/query/v2──────────▶ read
//!              │
//!              └─ Transaction: /tx ▶ /tx/{id} … ▶ /tx/{id}/commit ──▶ one requirement, whole or not at all
//! ```
//!
//! | question | file |
//! |---|---|
//! | how does the client reach the server, what can go wrong | `client`, `transaction`, `http`, `address`, `error` |
//! | which labels, relations and constraints are there | `schema` |
//! | how does a requirement become a node, once | `integration` |
//! | which object does a name refer to | `entity_matching` |
//! | what may a query of the model do | `query_policy`, by the server's own `plan` of it |
//! | what may the configured user do | `rights` |
//! | what is written if no graph is configured | `cypher_export` |
//!
//! All values from a document or a model are sent as parameters; only names from `schema` are put into statements. The
//! only exception is `cypher_export`, a file for people, with values as literals.

mod address;
mod client;
mod cypher_export;
mod entity_matching;
mod error;
pub(crate) mod execute_cypher_query;
pub(crate) mod get_graph_schema;
mod http;
mod integration;
mod plan;
mod query_policy;
mod rights;
mod schema;
mod statement;
mod transaction;

pub use address::check_address;
pub use client::{GraphClient, GraphConfig};
pub use cypher_export::{UnknownKey, append as script_of, head as script_head};
pub use entity_matching::{Found, Names};
pub use error::{GraphConfigError, GraphError};
pub use integration::{Integrated, Link, RequirementNode};
pub use plan::Operator;
pub use query_policy::{Forbidden, check_plan, check_text};
pub use rights::Rights;
pub use schema::{CONSTRAINTS, End, PROPERTIES, RELATIONS, RelationKind, relation};
pub use statement::{Access, Rows, Statement};
pub use transaction::Transaction;

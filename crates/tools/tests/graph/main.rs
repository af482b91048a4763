//! The graph client and the validator's tools against a server with the shape of Neo4j's Query API.
//!
//! Two kinds of server: one gives recorded answers and remembers what it was asked; the other passes every request on to a
//! real Neo4j, so that MERGE, constraints and rollback mean what they mean there. `.ci/graph-engine` brings it from Maven
//! Central (`tests/neo4j`); without it these tests say that they are skipped.

#![allow(clippy::unwrap_used, reason = "a helper that fails is a test that fails")]

mod evasions;
mod exchanges;
mod integration;
mod judging;
mod kit;
mod tools;
mod validation_queue;

use kit::Server;
use plumbline_tools::graph::{GraphClient, GraphConfig};

impl Server {
    /// A client of it.
    fn client(&self) -> GraphClient {
        GraphClient::new(GraphConfig::new(self.uri.clone())).unwrap()
    }
}

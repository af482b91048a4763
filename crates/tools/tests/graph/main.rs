//! The graph client and the validator's tools against a server with the interface of Neo4j's Query API.
//!
//! Two kinds of server: one returns recorded answers and records its requests; the other forwards every request to a
//! real Neo4j, so that MERGE, constraints and rollback behave as in production. `.ci/graph-engine` downloads it from
//! Maven Central (`tests/neo4j`); without it these tests report that they are skipped.

#![allow(clippy::unwrap_used, reason = "a helper that fails is a test that fails")]

mod evasions;
mod exchanges;
mod integration;
mod judging;
mod kit;
mod tools;
mod validation_queue;
mod with_graph;

use kit::Server;
use plumbline_tools::graph::{GraphClient, GraphConfig};

impl Server {
    /// A client of this server.
    fn client(&self) -> GraphClient {
        GraphClient::new(GraphConfig::new(self.uri.clone())).unwrap()
    }
}

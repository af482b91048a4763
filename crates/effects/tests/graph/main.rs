//! The graph client and the validator's tools against a server with the shape of Neo4j's Query API.
//!
//! Two kinds of server: one gives recorded answers and remembers what it was asked; the other passes every statement on
//! to a real openCypher engine over Bolt, so that MERGE, constraints and rollback mean what they mean there. The engine
//! is `kglite-bolt-server` (`cargo install --locked kglite-bolt-server`), found on the PATH or by KGLITE_BOLT_SERVER;
//! without it these tests say that they are skipped. No Neo4j server was run.

#![allow(clippy::unwrap_used, reason = "a helper that fails is a test that fails")]

mod exchanges;
mod hand_over;
mod integration;
mod kit;
mod tools;

use kit::Server;
use plumbline_effects::graph::{GraphClient, GraphConfig};

impl Server {
    /// A client of it.
    fn client(&self) -> GraphClient {
        GraphClient::new(GraphConfig::new(self.uri.clone())).unwrap()
    }
}

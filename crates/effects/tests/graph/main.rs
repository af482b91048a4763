//! The graph client and the validator's tools against a server with the shape of Neo4j's Query API.
//!
//! Two kinds of server: one gives recorded answers and remembers what it was asked; the other passes every statement on
//! to a real openCypher engine over Bolt, so that MERGE, constraints and rollback mean what they mean there. The engine
//! is `kglite-bolt-server` (`cargo install --locked kglite-bolt-server`), found on the PATH or by KGLITE_BOLT_SERVER;
//! without it these tests say that they are skipped. No Neo4j server was run.

#![allow(clippy::unwrap_used, reason = "a helper that fails is a test that fails")]

mod bolt;
mod engine;
mod exchanges;
mod hand_over;
mod integration;
mod packstream;
mod server;
mod tools;

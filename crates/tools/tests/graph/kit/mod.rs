//! A graph server for tests: the interface of Neo4j's Query API with recorded answers or in front of a real Neo4j.
//!
//! Used by the tests of the graph client and, by its path, by the system tests' library.

#![allow(dead_code, unused_imports, reason = "each of the two users needs other parts")]
#![allow(unreachable_pub, reason = "it is public in one of the two users")]
#![allow(clippy::unwrap_used, reason = "a helper that fails is a test that fails")]

mod engine;
mod server;

pub use engine::Engine;
pub use server::{Moment, Seen, Server};

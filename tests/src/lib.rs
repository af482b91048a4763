//! Shared parts of the system tests: one world per test, with real processes and a real database.
//!
//! ```text
//! World ── pool       a database of this test's own, made by #[sqlx::test]
//!       ── workspace  a temporary folder, import/ included
//!       ── model      a chat-completions server: the rehearsal model's brain, which can also fail, hang or hold
//!       ── program    the real binary, as worker or as any other command
//! ```
//!
//! This crate enforces two rules for every test:
//!
//! - **Nothing outlives its test.** A process is killed with its whole group when its handle is dropped, including by a
//!   panic.
//! - **Every test ends with the invariants.** [`World::finish`] runs `invariants.sql` over the rows and compares each
//!   mirrored folder with its rows; a world that is dropped without it fails its test.

pub mod browser;
pub mod circles;
pub mod cluster;
pub mod documents;
/// The graph server of the client's own tests: one double, checked in one place.
#[path = "../../crates/tools/tests/graph/kit/mod.rs"]
pub mod graph_kit;
pub mod handover;
pub mod invariants;
pub mod jobs;
pub mod limited_model;
pub mod made;
pub mod mirror;
pub mod model;
pub mod pgbouncer;
pub mod planted;
pub mod port;
pub mod probe;
pub mod program;
pub mod proxy;
pub mod record;
pub mod removals;
pub mod scripted;
pub mod seed;
mod skip;
pub mod volume;
pub mod wait;
pub mod walls;
mod world;

pub use model::{Answer, Model};
pub use program::{Ended, Program};
pub use skip::skipped;
pub use wait::eventually;
pub use world::World;

pub use rustix::process::Signal;
pub use sqlx::PgPool;
pub use tokio::process::Command;
pub use uuid::Uuid;

//! What may cost as much as somebody else likes is made here, with its bound: regular expressions, and work that blocks a thread.
//! Clippy refuses both elsewhere (`clippy.toml`). JSON Schemas are made in `plumbline-tools` (`schemas.rs`), their one user.

pub mod blocking;
pub mod pattern;

pub use blocking::{Cancellation, run_blocking, run_costly};

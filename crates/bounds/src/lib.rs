//! Operations whose cost depends on foreign input are created here, with a bound: regular expressions, and work that
//! blocks a thread. Clippy rejects both elsewhere (`clippy.toml`). JSON Schemas are compiled in `plumbline-tools`
//! (`schemas.rs`), their only user.

pub mod blocking;
pub mod pattern;

pub use blocking::{Cancellation, run_blocking, run_costly};

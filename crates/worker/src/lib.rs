//! The worker: claims jobs, runs each through its steps, keeps their leases, mirrors their files.
//!
//! ```text
//! worker ──claim──▶ job ──▶ step: next → perform → apply → commit ──▶ mirror
//!   │                          ▲
//!   ├── heartbeat: the heartbeat, on its own thread and connection
//!   └── sweep: jobs of dead workers are taken back
//! ```
//!
//! | question | file |
//! |---|---|
//! | why did a job start, stop or hang | `worker`, `job`, `cancellation` |
//! | what happens in a step | `step` |
//! | when is a lease lost | `heartbeat` |
//! | how does a job begin | `intake` |
//! | what is a job run with | `setups`, `models`, `graphs`, `services` |
//! | is the worker alive and ready | `health`, `pulse` |
//!
//! Decisions about a job are the engine's, SQL is the store's, configuration, mirror, telemetry and HTTP have crates of their
//! own; this crate only brings them together.

mod active_jobs;
mod cancellation;
mod clock;
mod context;
mod desk;
mod error;
#[cfg(test)]
mod every_key;
mod graphs;
mod hand_over;
mod health;
mod heartbeat;
mod inbox;
pub mod intake;
mod job;
mod limits;
mod memory;
mod models;
mod notifier;
mod options;
mod previous;
mod pulse;
mod raising;
mod reload;
mod services;
mod setups;
mod step;
mod step_limits;
mod text_index;
mod validation_desk;
mod worker;

pub use error::Error;
pub use models::try_call;
pub use options::{Timing, WorkerOptions};
pub use worker::{Stop, run};

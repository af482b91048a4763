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
//! | what is in a job's settings | `config`, `prompts` |
//! | how do files get into the folder | `mirror`, `mirror_feed` |
//! | what does a person read of a job's documents | `report` |
//! | does a recorded job come out the same today | `replay` |
//! | what do probes, dashboards and collectors get | `http`, `health`, `pulse`, `telemetry` |
//!
//! Decisions about a job are the engine's, SQL is the store's, the outside world is the effects'; this crate only
//! brings them together.

mod active_jobs;
mod backoff;
mod cancellation;
mod clock;
pub mod config;
mod context;
mod desk;
mod error;
#[cfg(test)]
mod every_key;
mod graphs;
mod hand_over;
mod health;
mod heartbeat;
pub mod http;
mod inbox;
pub mod intake;
mod job;
mod leftovers;
mod memory;
pub mod mirror;
mod mirror_feed;
mod models;
mod notifier;
mod options;
mod previous;
pub mod prompts;
mod pulse;
mod raising;
mod reload;
mod rendering;
pub mod replay;
pub mod report;
mod services;
mod setups;
mod step;
pub mod telemetry;
mod templates;
mod text_index;
mod validation_desk;
mod worker;

pub use error::Error;
pub use models::try_call;
pub use options::{Timing, WorkerOptions};
pub use worker::{Stop, run};

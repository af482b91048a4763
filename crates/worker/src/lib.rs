//! The worker: claims jobs, runs each through its steps, keeps their leases, mirrors their files.
//!
//! ```text
//! worker ──claim──▶ job ──▶ step: next → perform → apply → commit ──▶ mirror
//!   │                          ▲
//!   ├── keeper: the heartbeat, on its own thread and connection
//!   └── sweep: jobs of dead workers are taken back
//! ```
//!
//! | question | file |
//! |---|---|
//! | why did a job start, stop or hang | `worker`, `job`, `signal` |
//! | what happens in a step | `step` |
//! | when is a lease lost | `keeper` |
//! | how does a job begin | `intake` |
//! | what is in a job's settings | `config`, `prompts` |
//! | how do files get into the folder | `mirror`, `mirror_feed` |
//! | does a recorded job come out the same today | `replay` |
//! | what do probes, dashboards and collectors get | `http`, `vitals`, `pulse`, `telemetry` |
//!
//! Decisions about a job are the engine's, SQL is the store's, the outside world is the effects'; this crate only
//! brings them together.

mod clock;
pub mod config;
mod context;
mod desk;
mod error;
mod graphs;
mod hand_over;
mod held;
mod hints;
pub mod http;
mod inbox;
pub mod intake;
mod job;
mod keeper;
mod known_lines;
mod memory;
pub mod mirror;
mod mirror_feed;
mod models;
mod options;
mod patience;
mod profiles;
pub mod prompts;
mod pulse;
pub mod replay;
mod services;
mod signal;
mod step;
pub mod telemetry;
mod text_index;
mod validation_desk;
mod vitals;
mod worker;

pub use error::Error;
pub use options::{Timing, WorkerOptions};
pub use worker::{Stop, run};

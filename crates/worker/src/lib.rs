//! The worker: claims jobs, runs each through its steps, keeps their leases, mirrors their files.
//!
//! ```text
//! worker ──claim──▶ job ──▶ step: next → perform → apply → commit ──▶ mirror
//!   │                          ▲
//!   ├── heartbeat: on its own thread and connection
//!   └── sweep: rescues jobs of dead workers
//! ```
//!
//! | question | file |
//! |---|---|
//! | why did a job start, stop or hang | `worker`, `run/job`, `run/cancellation` |
//! | what happens in a step | `run/step` |
//! | when is a lease lost | `heartbeat` |
//! | how does a job begin | `run/intake` |
//! | what is a job run with | `config_cache`, `clients` |
//! | is the worker alive and ready | `health`, `pulse` |
//!
//! The engine makes decisions about a job, the store has the SQL, and configuration, mirror, telemetry and HTTP have
//! their own crates; this crate only connects them.

mod active_jobs;
mod app;
mod clients;
mod clock;
mod config_cache;
mod error;
#[cfg(test)]
#[path = "../tests/every_key/mod.rs"]
mod every_key;
mod health;
mod heartbeat;
mod limits;
mod notifier;
mod options;
mod pulse;
mod reload;
mod run;
mod served;
mod worker;

pub use clients::graph::graph_rights;
pub use clients::model::try_call;
pub use error::Error;
pub use options::{Timing, WorkerOptions};
pub use worker::{Shutdown, run};

//! Configuration: what a job type may do, with which model, within which bounds.
//!
//! ```text
//! configs/defaults.json ◀─$extends─ configs/creator/config.json      files, built in or from a folder
//!                                        ▲
//!                                   environment                      PLUMBLINE_MODEL, OPENAI_BASE_URL, …
//!                                        ▲
//!                                   jobs.config                      one job's own overrides
//! ```
//!
//! The layers merge (`merge`), each is checked by itself against the JSON Schema made from the types (`check`, with
//! the line of every mistake from `locate`), then the whole is checked for contradictions (`validate`). What comes out
//! is a [`Resolved`] configuration. It is stored with the job, prompts included, when the job first starts, and used
//! for the rest of its life: a job does not change its ways because somebody edits a file.
//!
//! No secret is ever part of a configuration: keys name the environment variable that holds it.

mod check;
mod configs;
mod connections;
mod env;
mod error;
#[cfg(test)]
mod every_key;
mod files;
mod job;
mod layers;
mod levels;
mod limits;
mod llm;
mod locate;
mod merge;
mod nearest;
mod parse;
mod resolved;
mod schema;
mod secrets;
mod settings;
mod validate;

pub use configs::Configs;
pub use connections::{Connections, Embeddings, Neo4j, WebSearch};
pub use env::ModelEnv;
pub use error::{ConfigError, OVERRIDES, Problem};
pub use job::{JobConfig, OnComplete, PhaseSettings, Tools};
pub use levels::{Forbidden, Level};
pub use limits::{Limits, RepeatedCalls};
pub use llm::{Llm, LlmByPurpose, OutputCap, Prices};
pub use resolved::Resolved;
pub use schema::schema_json;
pub use secrets::{DEFAULT_KEY_ENV, Listed, Secrets};

//! Configuration: what a job type may do, with which model, within which bounds.
//!
//! ```text
//! configs/defaults.json                 built in or from a folder
//!          ▲
//! configs/providers.json                what is known of the model and its provider
//!          ▲
//!     environment                        PLUMBLINE_MODEL, OPENAI_BASE_URL, PLUMBLINE_MAX_ITERATIONS
//!          ▲
//! configs/creator/config.json            the files of the job type and of those that it extends
//!          ▲
//!     jobs.config                        one job's own overrides
//! ```
//!
//! The layers merge (`merge`), each is checked by itself against the JSON Schema made from the types (`check`, with
//! the line of every mistake from `locate`), then the whole is checked for contradictions (`validate`). What comes out
//! is a [`Resolved`] configuration. It is stored with the job, prompts included, when the job first starts, and used
//! for the rest of its life: a job does not change its ways because somebody edits a file.
//!
//! No secret is ever part of a configuration: keys name the environment variable that holds it.

mod check;
mod client;
mod configs;
mod connections;
mod coverage;
mod deliverables;
mod engine_settings;
mod env;
mod error;
mod fallback;
mod files;
mod job;
mod json_schema;
mod layers;
mod levels;
mod limits;
mod llm;
mod locate;
mod merge;
mod nearest;
mod origin;
mod parse;
mod prices;
mod profile;
mod raised;
mod resolved;
mod schema;
mod secrets;
mod settings;
mod token_cache;
mod validate;
pub(crate) mod yaml;

pub use configs::Configs;
pub use connections::{Connections, Embeddings, Neo4j, WebSearch};
pub use coverage::{Coverage, CoverageSettings, Documents};
pub use deliverables::{Deliverable, DescribedDeliverable};
pub use engine_settings::catalog;
pub use env::ModelEnv;
pub use error::{ConfigError, OVERRIDES, Problem};
pub use fallback::LlmFallback;
pub use job::{JobConfig, OnComplete, PhaseSettings, Tools};
pub use levels::{Forbidden, Level};
pub use limits::{Limits, RepeatedCalls};
pub use llm::{Llm, LlmByPurpose, OutputCap};
pub use origin::Origin;
pub use prices::{PriceTable, Prices};
pub use profile::{ProfileEntry, ProfileKeys, Profiles};
pub use resolved::Resolved;
pub use schema::schema_json;
pub use secrets::{DEFAULT_KEY_ENV, Listed, Secrets};

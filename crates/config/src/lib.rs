//! Configuration: the permissions, models and bounds of a job type.
//!
//! ```text
//! configs/defaults.json                 built in or from a folder
//!          ▲
//! configs/providers.json                known properties of the model and its provider
//!          ▲
//!     environment                        PLUMBLINE_MODEL, OPENAI_BASE_URL, PLUMBLINE_MAX_ITERATIONS
//!          ▲
//! configs/creator/config.json            the files of the job type and of those that it extends
//!          ▲
//!     jobs.config                        one job's own overrides
//! ```
//!
//! The layers merge (`layers`); each is checked separately against the JSON Schema derived from the types of `keys`
//! (`rules`, with the line of every mistake), then the whole is checked for contradictions (`rules::validate`, and the
//! [`OuterRules`] of the crates that act on a configuration). The result is a [`Resolved`] configuration. It is stored
//! with the job, including prompts, when the job first starts, and used for the rest of its life: editing a file does
//! not affect a running job.
//!
//! | question | module |
//! |---|---|
//! | which keys are there | `keys`, one file a section |
//! | from which files and variables, in which order | `layers` |
//! | what may be set, by whom, and what contradicts itself | `rules` |
//! | which job types are there, what is one's configuration | [`ConfigRegistry`] |
//! | what is one job's configuration, for its whole life | [`Resolved`] |
//! | which secret goes to which host | [`Secrets`] |
//!
//! No secret is ever part of a configuration: keys name the environment variable that holds it.

mod error;
mod keys;
mod layers;
mod prompts;
mod raised;
mod registry;
mod resolved;
mod rules;
mod secrets;

pub use error::{ConfigError, OVERRIDES, Problem};
pub use keys::approval::CallRules;
pub use keys::connections::{Connections, Embeddings, Neo4j, WebAccess, WebSearch};
pub use keys::coverage::{Coverage, CoverageSettings, Documents};
pub use keys::deliverables::{Deliverable, DescribedDeliverable, normal_path};
pub use keys::fallback::LlmFallback;
pub use keys::http_tools::{self, HttpTool};
pub use keys::job::{JobConfig, OnComplete, Tools};
pub use keys::llm::{Llm, LlmByPurpose, LlmLimits};
pub use keys::prices::{PriceTable, Prices};
pub use keys::profile::{ProfileEntry, ProfileKeys, Profiles};
pub use keys::record_defaults::RecordDefaults;
pub use layers::env::ModelEnv;
pub use layers::origin::Origin;
pub use prompts::PromptSources;
pub use registry::ConfigRegistry;
pub use resolved::{NO_MODEL, Resolved};
pub use rules::level::Level;
pub use rules::levels::Forbidden;
pub use rules::nearest::advice;
pub use rules::outer::OuterRules;
pub use rules::schema::schema_json;
pub use rules::violation::RuleViolation;
pub use rules::walk::{Place, visit};
pub use secrets::{DEFAULT_KEY_ENV, Listed, Secrets};

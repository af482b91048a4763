//! What a job is run with: turns a resolved configuration into the settings of the engine, of the model's client and of
//! the tools.
//!
//! ```text
//! files, environment, row ──plumbline_config──▶ Resolved ──this crate──▶ Settings         of the engine
//!                                                                        ModelConfig      of the model's client
//!                                                                        Registry, Scan,  of the tools
//!                                                                        RecordDefaults, Inspection
//! ```
//!
//! `plumbline-config` knows the keys, their layers and the rules between them. The tools know more: which tools there
//! are, and which patterns and schemas can be used. So configurations are loaded here, by [`configs`], which adds those
//! rules.
//!
//! | question | where |
//! |---|---|
//! | what is wrong with a configuration, besides what `plumbline-config` sees | [`configs`] |
//! | which tools are bound where, and with which models, limits and prompts does the engine work | [`engine_settings`] |
//! | how is a model asked, and with which key | [`client_config`], [`secret`] |
//! | which calls wait for people, and which reach beyond the job | `approval`, `untrusted` |
//! | which tools has the operator added | [`foreign_tools`], [`foreign_tools_by_type`] |
//! | what is looked up in documents and results | [`scan`], [`record_defaults`], [`inspection`] |

mod approval;
mod client;
mod deliverables;
mod foreign_tool;
mod http_tools;
mod patterns;
mod rules;
mod settings;
mod token_cache;
mod untrusted;

pub use client::{client_config, search_secret, secret};
pub use deliverables::inspection;
pub use foreign_tool::{ForeignTool, foreign_tools_by_type};
pub use http_tools::{foreign_tools, to_stored};
pub use patterns::{record_defaults, scan};
use plumbline_engine::ToolSpec;
pub use rules::configs;
pub use settings::{engine_settings, settings};
pub use untrusted::allowed_hosts;

/// All tools: the engine's own and the external ones.
pub fn catalog() -> Vec<ToolSpec> {
    let mut catalog = plumbline_engine::tools::specs();
    catalog.extend(plumbline_tools::catalog());
    catalog
}

//! The keys of a configuration, one file per section: types with the schema, defaults and meaning of each.

pub(crate) mod approval;
pub(crate) mod connections;
pub(crate) mod coverage;
pub(crate) mod deliverables;
pub(crate) mod fallback;
pub mod http_tools;
pub(crate) mod job;
pub(crate) mod llm;
pub(crate) mod part;
pub(crate) mod prices;
pub(crate) mod profile;
pub(crate) mod record_defaults;

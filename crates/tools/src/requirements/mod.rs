//! The tools that record requirements and, in a validator's job, check them and integrate them into the graph.

pub(crate) mod add_requirement;
mod by_rule;
pub(crate) mod checks;
pub(crate) mod comparison;
pub(crate) mod ids;
pub(crate) mod integrate_requirement;
pub(crate) mod judge_requirements;
mod judged;
pub(crate) mod next_requirement;
mod placement;
pub(crate) mod query_similar_requirements;
mod reason;
mod record_defaults;
pub(crate) mod record_passage;
pub(crate) mod recorded;
pub(crate) mod reject_requirement;
mod row_shown;
mod script;
mod similarity;
pub(crate) mod texts;
pub(crate) mod validation_queue;

pub use add_requirement::key::of as content_key;
pub use by_rule::accept_by_rule;
pub use judged::{given_in, judged_in, row_of_name};
pub use record_defaults::RecordDefaults;
pub use validation_queue::{Graph, ValidationQueue};

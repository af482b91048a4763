//! Rules for configurations: by schema, by level, and between keys.

pub(crate) mod check;
pub(crate) mod json_schema;
pub(crate) mod level;
pub(crate) mod levels;
pub(crate) mod nearest;
pub(crate) mod outer;
pub(crate) mod schema;
pub(crate) mod validate;
pub(crate) mod violation;
pub(crate) mod walk;

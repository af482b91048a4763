//! What a configuration may say: by its schema, by whose word it is, and as a whole.

pub(crate) mod check;
pub(crate) mod json_schema;
pub(crate) mod levels;
pub(crate) mod nearest;
pub(crate) mod schema;
pub(crate) mod validate;

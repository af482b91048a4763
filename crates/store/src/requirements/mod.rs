//! Requirements, their citations, and the passages that they answer.

pub(crate) mod coverage;
pub(crate) mod lookup;
pub(crate) mod row;
mod validation;

pub use coverage::{CoverageLine, PassageLine};
pub use row::RequirementRow;

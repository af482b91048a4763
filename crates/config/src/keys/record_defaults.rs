//! `record_defaults`: the values of a recorded requirement that the recording call omits.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Default values of a recorded requirement.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RecordDefaults {
    /// Its type.
    #[schemars(extend("enum" = ["functional", "non_functional", "compliance", "constraint"]))]
    pub r#type: String,
    /// Its confidence, 0 to 1.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub confidence: f64,
    /// Case-insensitive regular expressions, at most 100: a requirement whose text matches one of them is relevant to
    /// proper book-keeping. For `record_passage`.
    pub gobd: Vec<String>,
    /// The same for data protection.
    pub gdpr: Vec<String>,
}

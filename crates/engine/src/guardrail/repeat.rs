//! The latest calls, as the checkpoint has them.

use serde::{Deserialize, Serialize};

/// A call and how often in a row it gave the same result. Its keys are short because each step writes them anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Repeat {
    /// Fingerprint of the call.
    #[serde(rename = "c")]
    pub call: u32,
    /// Fingerprint of the result.
    #[serde(rename = "r")]
    pub result: u32,
    /// How often in a row.
    #[serde(rename = "n")]
    pub count: u32,
    /// For a call that changes nothing: fingerprint of the path that it looks at.
    #[serde(rename = "p", default, skip_serializing_if = "Option::is_none")]
    pub looks_at: Option<u32>,
    /// Whether that has changed since, so that the call is worth making again.
    #[serde(rename = "f", default, skip_serializing_if = "std::ops::Not::not")]
    pub fresh: bool,
}

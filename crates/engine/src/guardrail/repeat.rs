//! The latest calls, as stored in the checkpoint.

use serde::{Deserialize, Serialize};

/// A call and how many consecutive times it gave the same result. Its keys are short because each step writes them
/// again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Repeat {
    /// Fingerprint of the call.
    #[serde(rename = "c")]
    pub call: u32,
    /// Fingerprint of the result.
    #[serde(rename = "r")]
    pub result: u32,
    /// How many consecutive times.
    #[serde(rename = "n")]
    pub count: u32,
    /// For a call that changes nothing: fingerprint of the path that it reads.
    #[serde(rename = "p", default, skip_serializing_if = "Option::is_none")]
    pub looks_at: Option<u32>,
    /// Whether that path has changed since, so that the call may be repeated.
    #[serde(rename = "f", default, skip_serializing_if = "std::ops::Not::not")]
    pub fresh: bool,
}

//! Short fingerprints for recognising repeated calls. Equality within a handful of values is all they serve, so 32
//! bits of FNV-1a are enough and keep the checkpoint small.

use serde_json::Value;

/// Fingerprint of a text.
pub(crate) fn of_text(text: &str) -> u32 {
    text.bytes().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

/// Fingerprint of a call by name and normalized arguments: key order and white space do not matter.
pub(crate) fn of_call(name: &str, arguments: &Value) -> u32 {
    // `Value` keeps object keys sorted, so its text is a normal form.
    of_text(&format!("{name}\u{0}{arguments}"))
}

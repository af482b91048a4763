//! Digests of tools and of calls, by RFC 8785: an approval is bound to them.

use plumbline_engine::{Digest, ToolSpec, canonical};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

/// The digest of a tool: of its name, description, schema, and the address that it calls.
pub fn digest_of_tool(tool: &ToolSpec, address: &Value) -> Digest {
    digest_of(&tool.name, &tool.description, &tool.parameters, address)
}

/// The same from its parts.
pub(crate) fn digest_of(name: &str, description: &str, schema: &Value, address: &Value) -> Digest {
    digest(&json!({"name": name, "description": description, "schema": schema, "address": address}))
}

/// The digest of a value.
pub(crate) fn digest(value: &Value) -> Digest {
    Sha256::digest(canonical(value)).into()
}

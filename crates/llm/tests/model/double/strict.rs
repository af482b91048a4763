//! Common checks of all protocols: exactly these keys, of these kinds.

use serde_json::Value;
use std::collections::BTreeSet;

/// It is an object.
pub(super) fn object(value: &Value) -> Result<(), String> {
    if value.is_object() { Ok(()) } else { Err(format!("not an object: {value}")) }
}

/// It has these keys, no others than the optional ones, and no null unless the key has a `?`.
pub(super) fn keys(value: &Value, needed: &[&str], allowed: &[&str]) -> Result<(), String> {
    let fields = value.as_object().ok_or_else(|| format!("not an object: {value}"))?;
    for key in needed {
        if !fields.contains_key(key.trim_end_matches('?')) {
            return Err(format!("`{key}` is missing in {value}"));
        }
    }
    for (key, value) in fields {
        let known = needed.iter().chain(allowed).find(|known| known.trim_end_matches('?') == key);
        match known {
            None => return Err(format!("`{key}` is unknown: {value}")),
            Some(known) if value.is_null() && !known.ends_with('?') => return Err(format!("`{key}` is null")),
            Some(_) => {}
        }
    }
    Ok(())
}

pub(super) fn text(value: &Value) -> Result<&str, String> {
    value.as_str().ok_or_else(|| format!("not a string: {value}"))
}

pub(super) fn list(value: &Value) -> Result<&[Value], String> {
    value.as_array().map(Vec::as_slice).ok_or_else(|| format!("not a list: {value}"))
}

/// A tool's name.
pub(super) fn name(value: &Value) -> Result<(), String> {
    let name = text(value)?;
    let fits = (1..=64).contains(&name.len()) && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-".contains(&b));
    if fits { Ok(()) } else { Err(format!("no name of a tool: {name}")) }
}

/// Arguments are a text that holds an object.
pub(super) fn arguments(value: &Value) -> Result<(), String> {
    let inner: Value = serde_json::from_str(text(value)?).map_err(|error| error.to_string())?;
    object(&inner)
}

/// Calls that wait for their results.
#[derive(Default)]
pub(super) struct Waiting(BTreeSet<String>, BTreeSet<String>);

impl Waiting {
    pub(super) fn call(&mut self, id: &str) -> Result<(), String> {
        if !self.1.insert(id.to_owned()) || id.is_empty() {
            return Err(format!("two calls have the id `{id}`"));
        }
        self.0.insert(id.to_owned());
        Ok(())
    }

    pub(super) fn result(&mut self, id: &str) -> Result<(), String> {
        if self.0.remove(id) { Ok(()) } else { Err(format!("a result for `{id}`, which was not called")) }
    }

    pub(super) fn none(&self) -> Result<(), String> {
        if self.0.is_empty() { Ok(()) } else { Err(format!("no result for {:?}", self.0)) }
    }
}

//! A call's arguments, parsed once: they are needed several times in a turn, and they may be long.

use crate::{
    ToolCall,
    guardrail::fingerprint,
    transition::{CUT_OFF, INVALID_JSON, WHY},
};
use serde_json::{Map, Value};

/// One call's arguments.
#[derive(Debug)]
pub(crate) struct ParsedCall {
    /// The fields; empty if the arguments are not an object.
    pub(crate) fields: Map<String, Value>,
    /// The call's fingerprint.
    pub(crate) print: u32,
    /// Why the arguments cannot be used.
    trouble: Option<String>,
}

impl ParsedCall {
    pub(crate) fn of(call: &ToolCall) -> Self {
        let read: Result<Value, serde_json::Error> = serde_json::from_str(&call.arguments);
        let trouble = read.as_ref().err().map(not_json);
        let parsed = Self::of_value(&call.name, read.unwrap_or_default());
        Self { trouble: trouble.or(parsed.trouble), ..parsed }
    }

    /// For a call of the tool `name` whose arguments have already been parsed.
    pub(crate) fn of_value(name: &str, value: Value) -> Self {
        let (trouble, print) = (marked(&value), fingerprint::of_call(name, &value));
        let fields = match value {
            Value::Object(fields) => fields,
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => Map::new(),
        };
        Self { fields, print, trouble }
    }

    /// Whether the call can be executed with these arguments.
    ///
    /// # Errors
    /// The sentence that answers the call otherwise.
    pub(crate) fn check(&self) -> Result<(), String> {
        self.trouble.clone().map_or(Ok(()), Err)
    }

    /// The limit at which the answer was cut in this call, if it was.
    pub(crate) fn cut_off_at(&self) -> Option<&Value> {
        self.fields.get(CUT_OFF).filter(|_| self.fields.len() == 1)
    }

    pub(crate) fn is_usable(&self) -> bool {
        self.trouble.is_none()
    }
}

fn not_json(error: &serde_json::Error) -> String {
    format!("the arguments are not valid JSON ({error}).")
}

/// Arguments that are not a JSON object are kept under a special key, with what is wrong with them.
fn marked(value: &Value) -> Option<String> {
    let has_only = |key| value.as_object().is_some_and(|fields| fields.len() == 1 && fields.contains_key(key));
    if has_only(CUT_OFF) {
        return Some("not carried out: the answer was cut off in this call.".to_string());
    }
    let fields = value.as_object().filter(|fields| fields.len() == 2 && fields.contains_key(INVALID_JSON))?;
    fields.get(WHY)?.as_str().map(str::to_string)
}

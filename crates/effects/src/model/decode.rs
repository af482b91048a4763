//! Reads an answer, whichever dialect it is in (lesson 45).
//!
//! Only what is needed is turned into values, and nothing of it is typed: a typed decoder breaks on the first provider that
//! sends null where another sends nothing. What is needed and missing is an error; what is only unusual is not. What nobody
//! asks for is skipped over: as values it would take forty times its length.

use super::leaked;
use super::writer::CALL_EXTRAS;
use plumbline_engine::{Finish, ToolCall};
use serde::Deserialize;
use serde_json::{Map, Value, value::RawValue};
use std::collections::BTreeMap;

/// An answer in neutral form.
#[derive(Debug, PartialEq)]
pub(super) struct Decoded {
    pub(super) content: String,
    pub(super) tool_calls: Vec<ToolCall>,
    /// As the provider says; whether the cap was reached is judged with the token counts.
    pub(super) finish: Finish,
    pub(super) extra: Map<String, Value>,
    /// The usage object as it came.
    pub(super) raw_usage: Option<Value>,
}

impl Decoded {
    /// The same with the calls that stand in its text, where it has no others (see [`leaked`]).
    pub(super) fn with_leaked_calls(mut self, bound: &[&str]) -> Self {
        if self.tool_calls.is_empty()
            && self.finish == Finish::Done
            && let Some((calls, rest)) = leaked::recover(&self.content, bound)
        {
            (self.tool_calls, self.content) = (calls, rest);
        }
        self
    }
}

/// Why a body with status 200 is no answer.
#[derive(Debug, PartialEq)]
pub(super) enum NoAnswer {
    /// The text ends in the middle: the connection was cut where nothing else shows it.
    Cut,
    /// An error object in place of, or inside, the answer.
    Error(Value),
    /// It is not what was agreed on; with what is wrong.
    Malformed(String),
}

/// Most bytes of what goes back unchanged with a message; what is more is left out, for it would be part of every request.
const MOST_EXTRA_BYTES: usize = 256 << 10;

/// An object whose values are still text.
type Fields<'a> = BTreeMap<String, &'a RawValue>;

/// Reads the body of a 200.
pub(super) fn decode(body: &[u8]) -> Result<Decoded, NoAnswer> {
    let root: &RawValue =
        serde_json::from_slice(body).map_err(|error| match error.is_eof() && !body.trim_ascii().is_empty() {
            true => NoAnswer::Cut,
            false => NoAnswer::Malformed(format!("it is not JSON ({error})")),
        })?;
    let root = fields_of(root);
    if let Some(error) = error_of(&root) {
        return Err(NoAnswer::Error(error));
    }
    let raw_usage = value_of(root.get("usage")).filter(|usage| !usage.is_null());
    let choice = first_of(root.get("choices")).ok_or_else(|| malformed("it has no choices"))?;
    let choice = fields_of(choice);
    if let Some(error) = error_of(&choice) {
        return Err(NoAnswer::Error(error));
    }
    let finish = finish_of(value_of(choice.get("finish_reason")).as_ref().and_then(Value::as_str));
    match choice.get("message") {
        Some(message) if message.get().starts_with('{') => decode_message(fields_of(message), finish, raw_usage),
        _ => Err(malformed("its first choice has no message")),
    }
}

/// Empty for what is no object.
fn fields_of(raw: &RawValue) -> Fields<'_> {
    if raw.get().starts_with('{') { serde_json::from_str(raw.get()).unwrap_or_default() } else { Fields::new() }
}

/// None where there is nothing, or nothing that a value can hold.
fn value_of(raw: Option<&&RawValue>) -> Option<Value> {
    raw.and_then(|raw| serde_json::from_str(raw.get()).ok())
}

/// The first of a list.
fn first_of<'a>(raw: Option<&&'a RawValue>) -> Option<&'a RawValue> {
    let list = raw.and_then(|raw| Vec::<&RawValue>::deserialize(*raw).ok());
    list.and_then(|list| list.into_iter().next())
}

fn malformed(what: &str) -> NoAnswer {
    NoAnswer::Malformed(what.to_string())
}

fn decode_message(mut message: Fields<'_>, finish: Finish, raw_usage: Option<Value>) -> Result<Decoded, NoAnswer> {
    let mut content = text_of(value_of(message.remove("content").as_ref()));
    let (tool_calls, call_extras) = calls_of(value_of(message.remove("tool_calls").as_ref()))?;
    let refusal = value_of(message.get("refusal"));
    let refusal = refusal.as_ref().and_then(Value::as_str).filter(|text| !text.is_empty());
    if let (Some(refusal), true) = (refusal, content.is_empty()) {
        content = refusal.to_string();
    }
    let refused = refusal.is_some() && tool_calls.is_empty();
    let mut extra = extra_of(message);
    if call_extras.iter().any(|extra| extra.as_object().is_some_and(|fields| !fields.is_empty())) {
        extra.insert(CALL_EXTRAS.into(), Value::Array(call_extras));
    }
    let finish = if refused { Finish::Refused } else { finish };
    Ok(Decoded { content, tool_calls, finish, extra, raw_usage })
}

/// An `error` that is there and says something.
fn error_of(holder: &Fields<'_>) -> Option<Value> {
    value_of(holder.get("error")).filter(says_something)
}

fn finish_of(reason: Option<&str>) -> Finish {
    match reason.unwrap_or("").to_ascii_lowercase().as_str() {
        "length" | "max_tokens" | "max_output_tokens" | "model_length" => Finish::Truncated,
        "content_filter" | "safety" | "refusal" | "blocked" | "recitation" | "prohibited_content" => Finish::Refused,
        // `stop`, `tool_calls`, `function_call`, `end_turn`, `eos`, null and whatever comes next: it ended by itself.
        _ => Finish::Done,
    }
}

/// Text from a string, from a list of blocks, or from null.
fn text_of(content: Option<Value>) -> String {
    match content {
        Some(Value::String(text)) => text,
        Some(Value::Array(blocks)) => blocks.iter().map(block_text).collect(),
        Some(block @ Value::Object(_)) => block_text(&block).to_string(),
        Some(Value::Null | Value::Bool(_) | Value::Number(_)) | None => String::new(),
    }
}

fn block_text(block: &Value) -> &str {
    match block {
        Value::String(text) => text,
        // A block of thinking has a text too, but it is not the answer.
        Value::Object(fields) => match fields.get("type").and_then(Value::as_str) {
            None | Some("text" | "output_text") => fields.get("text").and_then(Value::as_str).unwrap_or(""),
            Some(_) => "",
        },
        _ => "",
    }
}

/// The calls, and beside each what the provider put into it besides id, type, index and function.
fn calls_of(calls: Option<Value>) -> Result<(Vec<ToolCall>, Vec<Value>), NoAnswer> {
    let calls = match calls {
        None | Some(Value::Null) => return Ok((Vec::new(), Vec::new())),
        Some(Value::Array(calls)) => calls,
        Some(_) => return Err(malformed("its tool_calls are not a list")),
    };
    let mut read = (Vec::with_capacity(calls.len()), Vec::with_capacity(calls.len()));
    for mut call in calls {
        read.0.push(call_of(&mut call)?);
        let mut fields = match call {
            Value::Object(fields) => fields,
            _ => Map::new(),
        };
        fields.retain(|key, value| !matches!(key.as_str(), "id" | "type" | "index" | "function") && !value.is_null());
        read.1.push(Value::Object(fields));
    }
    Ok(read)
}

/// Takes name and arguments out of the call: they may be long, and what is left is the provider's own.
fn call_of(call: &mut Value) -> Result<ToolCall, NoAnswer> {
    let id = call.get("id").and_then(Value::as_str).unwrap_or("").to_string();
    // Some servers leave the `function` wrapper out.
    let wrapped = call.get("function").is_some_and(Value::is_object);
    let function = if wrapped { &mut call["function"] } else { call };
    let mut take = |key: &str| function.get_mut(key).map(Value::take);
    let name = take("name").as_ref().and_then(Value::as_str).map(str::trim).unwrap_or("").to_string();
    if name.is_empty() {
        return Err(malformed("it has a tool call without a name"));
    }
    Ok(ToolCall { id, name, arguments: arguments_of(take("arguments")) })
}

/// Arguments as text. What is no valid JSON stays as it came: the engine answers it with what is wrong.
fn arguments_of(arguments: Option<Value>) -> String {
    match arguments {
        None | Some(Value::Null) => "{}".to_string(),
        // A tool without parameters is called with an empty string by some models.
        Some(Value::String(text)) if text.trim().is_empty() => "{}".to_string(),
        Some(Value::String(text)) => unwrapped(&text).unwrap_or(text),
        Some(value) => value.to_string(),
    }
}

/// The object in a text that was encoded twice: a JSON string that holds an object.
fn unwrapped(text: &str) -> Option<String> {
    let inner: String = text.trim_start().starts_with('"').then(|| serde_json::from_str(text).ok())??;
    serde_json::from_str::<Map<String, Value>>(&inner).is_ok().then_some(inner)
}

/// Fields of the message that must go back unchanged with it (FAULTS F44), which are all that are not the protocol's.
fn extra_of(mut message: Fields<'_>) -> Map<String, Value> {
    const PROTOCOL: [&str; 9] =
        ["role", "content", "tool_calls", "refusal", "annotations", "audio", "function_call", "name", "index"];
    message.retain(|key, _| !PROTOCOL.contains(&key.as_str()));
    let bytes: usize = message.iter().map(|(key, raw)| key.len() + raw.get().len()).sum();
    if bytes > MOST_EXTRA_BYTES {
        return Map::new();
    }
    let said = message.into_iter().filter_map(|(key, raw)| Some((key, value_of(Some(&raw)).filter(says_something)?)));
    said.collect()
}

fn says_something(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::String(text) => !text.is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Object(fields) => !fields.is_empty(),
        Value::Bool(_) | Value::Number(_) => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BODY: &str = r#"{"choices":[{"finish_reason":"tool_calls","message":{"content":"Grüße","tool_calls":[
        {"id":"a","function":{"name":"t","arguments":"{\"x\":1}"}}]}}],"usage":{"prompt_tokens":3}}"#;

    #[test]
    fn a_call_without_its_wrapper_goes_back_with_what_is_the_providers_own_alone() {
        let call = r#"{"id":"a","type":"function","name":"t","arguments":"{\"x\":1}","thought_signature":"s"}"#;
        let body = format!(r#"{{"choices":[{{"message":{{"tool_calls":[{call}]}}}}]}}"#);
        let answer = decode(body.as_bytes()).unwrap();
        let read = ToolCall { id: "a".into(), name: "t".into(), arguments: r#"{"x":1}"#.into() };
        assert_eq!(answer.tool_calls, [read]);
        assert_eq!(answer.extra[CALL_EXTRAS], serde_json::json!([{"thought_signature": "s"}]));
    }

    #[test]
    fn what_goes_back_with_a_message_is_bounded() {
        let body = |extra: &str| format!(r#"{{"choices":[{{"message":{{"content":"x","thoughts":[{extra}]}}}}]}}"#);
        assert_eq!(decode(body("1").as_bytes()).unwrap().extra["thoughts"], serde_json::json!([1]));
        let large = vec!["{}"; MOST_EXTRA_BYTES / 3 + 1].join(",");
        let answer = decode(body(&large).as_bytes()).unwrap();
        assert_eq!((answer.content.as_str(), answer.extra.len()), ("x", 0));
    }

    #[test]
    fn every_prefix_is_a_cut() {
        assert!(decode(BODY.as_bytes()).is_ok());
        for end in 1..BODY.len() {
            assert_eq!(decode(&BODY.as_bytes()[..end]), Err(NoAnswer::Cut), "after {end} bytes");
        }
    }

    #[test]
    fn damage_is_an_error_or_an_answer_but_never_a_panic() {
        let mut answers = 0;
        for place in 0..BODY.len() {
            for byte in [b'0', b'"', b'{', b'[', b',', b'n', 0, 0xff] {
                let mut damaged = BODY.as_bytes().to_vec();
                damaged[place] = byte;
                answers += u32::from(decode(&damaged).is_ok());
            }
        }
        assert!(answers > 0, "a changed letter inside a string is still an answer");
    }
}

//! Reads an answer of chat completions, whichever server's it is (lesson 45).

use crate::dialect::conversation::CALL_EXTRAS;
use crate::dialect::decoded::{Decoded, NoAnswer, of_some_length, word_of};
use crate::dialect::ending::{self, REFUSAL};
use crate::dialect::fields::{
    Fields, MOST_EXTRA_BYTES, arguments_of, error_of, fields_of, list, present, root_of, says_something, text_of,
    value_of,
};
use plumbline_engine::ToolCall;
use serde_json::{Map, Value};

/// The protocol's own fields of a message. All others must go back unchanged with it (FAULTS F44).
pub(crate) const PROTOCOL: [&str; 9] =
    ["role", "content", "tool_calls", "refusal", "annotations", "audio", "function_call", "name", "index"];

/// The protocol's own fields of a call.
pub(crate) const PROTOCOL_OF_CALLS: [&str; 4] = ["id", "type", "index", "function"];

/// Reads the body of a 200.
pub(in crate::dialect) fn decode(body: &[u8]) -> Result<Decoded, NoAnswer> {
    let root = root_of(body)?;
    if let Some(error) = error_of(&root) {
        return Err(NoAnswer::Error(error));
    }
    let choices = list(root.get("choices")).unwrap_or_default();
    let choice = choices.first().ok_or_else(|| NoAnswer::malformed("it has no choices"))?;
    let choice = fields_of(choice);
    if let Some(error) = error_of(&choice) {
        return Err(NoAnswer::Error(error));
    }
    let mut decoded = match choice.get("message") {
        Some(message) if message.get().starts_with('{') => decode_message(fields_of(message))?,
        _ => return Err(NoAnswer::malformed("its first choice has no message")),
    };
    decoded.finish_reason = decoded.finish_reason.or_else(|| finish_reason(&choice));
    // Moonshot has it in the choice.
    decoded.raw_usage = present(&root, "usage").or_else(|| present(&choice, "usage"));
    decoded.service_tier = word_of(present(&root, "service_tier").as_ref());
    Ok(decoded)
}

/// The word that tells the truth: aggregators hand on that of whoever stands behind them.
fn finish_reason(choice: &Fields<'_>) -> Option<String> {
    let [word, native] = ["finish_reason", "native_finish_reason"].map(|key| value_of(choice.get(key)));
    let telling = ending::telling(word.as_ref().and_then(Value::as_str), native.as_ref().and_then(Value::as_str));
    telling.map(of_some_length)
}

fn decode_message(mut message: Fields<'_>) -> Result<Decoded, NoAnswer> {
    let mut content = text_of(value_of(message.remove("content").as_ref()));
    let (tool_calls, call_extras) = calls_of(value_of(message.remove("tool_calls").as_ref()))?;
    let refusal = value_of(message.get("refusal"));
    let refusal = refusal.as_ref().and_then(Value::as_str).filter(|text| !text.is_empty());
    if let (Some(refusal), true) = (refusal, content.is_empty()) {
        content = refusal.to_string();
    }
    let refused = refusal.is_some() && tool_calls.is_empty();
    let mut extra = extra_of(message);
    if call_extras.iter().any(says_something) {
        extra.insert(CALL_EXTRAS.into(), Value::Array(call_extras));
    }
    let finish_reason = refused.then(|| REFUSAL.to_owned());
    Ok(Decoded { content, tool_calls, finish_reason, extra, ..Decoded::default() })
}

/// The calls, and beside each what the provider put into it besides id, type, index and function.
fn calls_of(calls: Option<Value>) -> Result<(Vec<ToolCall>, Vec<Value>), NoAnswer> {
    let calls = match calls {
        None | Some(Value::Null) => return Ok((Vec::new(), Vec::new())),
        Some(Value::Array(calls)) => calls,
        Some(_) => return Err(NoAnswer::malformed("its tool_calls are not a list")),
    };
    let mut read = (Vec::with_capacity(calls.len()), Vec::with_capacity(calls.len()));
    for mut call in calls {
        read.0.push(call_of(&mut call)?);
        let mut fields = match call {
            Value::Object(fields) => fields,
            _ => Map::new(),
        };
        fields.retain(|key, value| !PROTOCOL_OF_CALLS.contains(&key.as_str()) && !value.is_null());
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
        return Err(NoAnswer::malformed("it has a tool call without a name"));
    }
    Ok(ToolCall { id, name, arguments: arguments_of(take("arguments")) })
}

fn extra_of(mut message: Fields<'_>) -> Map<String, Value> {
    message.retain(|key, _| !PROTOCOL.contains(&key.as_str()));
    let bytes: usize = message.iter().map(|(key, raw)| key.len() + raw.get().len()).sum();
    if bytes > MOST_EXTRA_BYTES {
        return Map::new();
    }
    let said = message.into_iter().filter_map(|(key, raw)| Some((key, value_of(Some(&raw)).filter(says_something)?)));
    said.collect()
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

//! Reads an answer of chat completions, from any server.

use crate::dialect::conversation::CALL_EXTRAS;
use crate::dialect::decoded::{Decoded, NoAnswer, word_of};
use crate::dialect::ending::{self, REFUSAL};
use crate::dialect::fields::{
    Fields, MOST_EXTRA_BYTES, arguments_of, content, error_of, fields_of, id, list, object, present, root_of,
    says_something, text, text_or_empty, under, value_of,
};
use plumbline_engine::ToolCall;
use serde_json::{Map, Value};

/// The standard fields of a message. All others must be sent back unchanged with it.
pub(crate) const PROTOCOL: [&str; 9] =
    ["role", "content", "tool_calls", "refusal", "annotations", "audio", "function_call", "name", "index"];

/// The standard fields of a call.
pub(crate) const PROTOCOL_OF_CALLS: [&str; 4] = ["id", "type", "index", "function"];

/// Reads the body of a 200.
pub(in crate::dialect) fn decode(body: &[u8]) -> Result<Decoded, NoAnswer> {
    let root = root_of(body)?;
    let choices = list(&root, "choices")?;
    let choice = choices.first().map(|choice| fields_of(choice)).transpose()?;
    let reason = choice.as_ref().map(finish_reason).transpose()?.flatten();
    let of_choice = choice.as_ref().map(error_of).transpose()?.flatten();
    // Some providers also report the cap as an error.
    if let (Some(error), false) = (error_of(&root)?.or(of_choice), ending::is_cut(reason.as_deref())) {
        return Err(NoAnswer::Error(error));
    }
    let choice = choice.ok_or_else(|| NoAnswer::malformed("it has no choices"))?;
    let message = under(&choice, "message").filter(|message| message.get().starts_with('{'));
    let message = message.ok_or_else(|| NoAnswer::malformed("its first choice has no message"))?;
    let mut decoded = decode_message(fields_of(message)?)?;
    decoded.finish_reason = decoded.finish_reason.or(reason);
    // Moonshot has it in the choice.
    decoded.raw_usage = present(&root, "usage")?.or(present(&choice, "usage")?);
    decoded.service_tier = word_of(present(&root, "service_tier")?.as_ref());
    Ok(decoded)
}

/// The real finish reason: aggregators pass on the upstream provider's.
fn finish_reason(choice: &Fields<'_>) -> Result<Option<String>, NoAnswer> {
    let word = |key: &str| present(choice, key).map(|value| word_of(value.as_ref()));
    let (word, native) = (word("finish_reason")?, word("native_finish_reason")?);
    Ok(ending::telling(word.as_deref(), native.as_deref()).map(str::to_owned))
}

fn decode_message(message: Fields<'_>) -> Result<Decoded, NoAnswer> {
    let mut said = content(&message, "content")?;
    let (tool_calls, call_extras) = calls_of(&message)?;
    let refusal = text(&message, "refusal")?.filter(|refusal| !refusal.is_empty());
    let refused = refusal.is_some() && tool_calls.is_empty();
    if said.is_empty() {
        said = refusal.unwrap_or_default();
    }
    let mut extra = extra_of(message)?;
    if call_extras.iter().any(says_something) {
        extra.insert(CALL_EXTRAS.into(), Value::Array(call_extras));
    }
    let finish_reason = refused.then(|| REFUSAL.to_owned());
    Ok(Decoded { content: said, tool_calls, finish_reason, extra, ..Decoded::default() })
}

/// The calls, each with the provider's fields other than id, type, index and function.
fn calls_of(message: &Fields<'_>) -> Result<(Vec<ToolCall>, Vec<Value>), NoAnswer> {
    let mut read = (Vec::new(), Vec::new());
    for call in list(message, "tool_calls")? {
        let (call, own) = call_of(fields_of(call)?)?;
        read.0.push(call);
        read.1.push(own);
    }
    // The older form of a single call.
    if let (true, Some(function)) = (read.0.is_empty(), under(message, "function_call")) {
        read.0.push(called(String::new(), &fields_of(function)?)?);
        read.1.push(Value::Object(Map::new()));
    }
    Ok(read)
}

/// One call, and the provider's own fields in it.
fn call_of(mut call: Fields<'_>) -> Result<(ToolCall, Value), NoAnswer> {
    let id = id(&call, "id")?;
    let read = match is_wrapped(&call) {
        true => called(id, &object(&call, "function")?)?,
        false => {
            let read = called(id, &call)?;
            call.retain(|key, _| !["name", "arguments"].contains(&key.as_str()));
            read
        }
    };
    Ok((read, Value::Object(own_fields(call)?)))
}

/// Some servers omit the `function` wrapper.
pub(crate) fn is_wrapped(call: &Fields<'_>) -> bool {
    call.get("function").is_some_and(|function| function.get().starts_with('{'))
}

/// The non-standard fields of a call.
pub(crate) fn own_fields(mut call: Fields<'_>) -> Result<Map<String, Value>, NoAnswer> {
    call.retain(|key, raw| !PROTOCOL_OF_CALLS.contains(&key.as_str()) && raw.get() != "null");
    values(call)
}

fn called(id: String, function: &Fields<'_>) -> Result<ToolCall, NoAnswer> {
    let name = text_or_empty(function, "name")?.trim().to_string();
    if name.is_empty() {
        return Err(NoAnswer::malformed("it has a tool call without a name"));
    }
    Ok(ToolCall { id, name, arguments: arguments_of(under(function, "arguments"))? })
}

fn extra_of(mut message: Fields<'_>) -> Result<Map<String, Value>, NoAnswer> {
    message.retain(|key, _| !PROTOCOL.contains(&key.as_str()));
    let bytes: usize = message.iter().map(|(key, raw)| key.len() + raw.get().len()).sum();
    if bytes > MOST_EXTRA_BYTES {
        return Ok(Map::new());
    }
    let mut said = values(message)?;
    said.retain(|_, value| says_something(value));
    Ok(said)
}

fn values(fields: Fields<'_>) -> Result<Map<String, Value>, NoAnswer> {
    fields.into_iter().map(|(key, raw)| Ok((key, value_of(raw)?))).collect()
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

//! An answer never becomes shorter by receiving more of it: in each protocol, an unreadable part is an error, never an
//! absence.

use super::{Assembly, NoAnswer, decode, mended};
use crate::Api;
use crate::dialect::decoded::Decoded;
use serde_json::{Value, json};

const APIS: [Api; 3] = [Api::Chat, Api::Responses, Api::Messages];

/// An answer with every part that a protocol defines.
fn answer(api: Api) -> Value {
    let arguments = r#"{"path":"a😀.md"}"#;
    match api {
        Api::Chat => {
            let calls: Vec<Value> = [0, 1]
                .map(|at| {
                    json!({"id": format!("c{at}"), "index": at, "type": "function", "extra_content": {"google": {"s": "sig"}},
                           "function": {"name": "read_file", "arguments": arguments}})
                })
                .into();
            let message = json!({"role": "assistant", "content": "shall not 😀 delete", "reasoning_content": "hm 😀",
                "reasoning_details": [{"type": "reasoning.text", "text": "hm"}], "tool_calls": calls});
            json!({"id": "x", "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}],
                "usage": {"prompt_tokens": 10, "completion_tokens": 5}, "service_tier": "default"})
        }
        Api::Responses => json!({"id": "r", "status": "completed", "service_tier": "default", "output": [
            {"type": "reasoning", "id": "rs", "summary": [{"type": "summary_text", "text": "hm 😀"}], "encrypted_content": "e"},
            {"type": "message", "id": "m", "phase": "commentary",
             "content": [{"type": "output_text", "text": "shall not 😀 delete"}]},
            {"type": "function_call", "id": "f0", "call_id": "c0", "name": "read_file", "arguments": arguments},
            {"type": "function_call", "id": "f1", "call_id": "c1", "name": "read_file", "arguments": arguments}],
            "usage": {"input_tokens": 10, "output_tokens": 5}}),
        Api::Messages => json!({"id": "m", "role": "assistant", "stop_reason": "tool_use", "content": [
            {"type": "thinking", "thinking": "hm 😀", "signature": "s"},
            {"type": "text", "text": "shall not 😀 delete"},
            {"type": "tool_use", "id": "c0", "name": "read_file", "input": {"path": "a😀.md"}},
            {"type": "tool_use", "id": "c1", "name": "read_file", "input": {"path": "a😀.md"}}],
            "usage": {"input_tokens": 10, "output_tokens": 5}}),
    }
}

fn read(api: Api, body: &str) -> Result<Decoded, NoAnswer> {
    decode(api, &mended(body.as_bytes().to_vec()))
}

/// How much of an answer was read.
fn size(answer: &Decoded) -> usize {
    let calls: usize = answer.tool_calls.iter().map(|call| call.name.len() + call.arguments.len()).sum();
    answer.content.len() + calls + answer.tool_calls.len() + json!(answer.extra).to_string().len()
}

/// The paths of all values of a document that are neither lists nor objects.
fn places(value: &Value, at: &str, found: &mut Vec<String>) {
    match value {
        Value::Object(fields) => fields.iter().for_each(|(key, value)| places(value, &format!("{at}/{key}"), found)),
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(i, value)| places(value, &format!("{at}/{i}"), found))
        }
        _ => found.push(at.to_owned()),
    }
}

/// The answer with another text in place of one value.
fn with(api: Api, place: &str, text: &str) -> String {
    let mut changed = answer(api);
    *changed.pointer_mut(place).unwrap() = "PLACE".into();
    changed.to_string().replace("\"PLACE\"", text)
}

fn all_places(api: Api) -> Vec<String> {
    let mut found = Vec::new();
    places(&answer(api), "", &mut found);
    found
}

#[test]
fn half_a_character_anywhere_takes_nothing_away() {
    for api in APIS {
        let before = read(api, &answer(api).to_string()).unwrap();
        for place in all_places(api) {
            let document = answer(api);
            let Some(text) = document.pointer(&place).unwrap().as_str() else { continue };
            // A keyword of the protocol followed by half a character is a different word.
            if ["type", "role"].iter().any(|key| place.ends_with(key)) {
                continue;
            }
            for half in [r"\ud83d", r"\ude00", r"\ud83d and more"] {
                let grown = Value::from(text).to_string();
                let grown = format!("{}{half}\"", grown.strip_suffix('"').unwrap());
                let after = read(api, &with(api, &place, &grown)).unwrap();
                assert!(size(&after) >= size(&before), "{api:?} {place} {half}: {after:?}");
                assert_eq!(after.tool_calls.len(), 2, "{api:?} {place}");
            }
        }
    }
}

#[test]
fn what_cannot_be_read_is_an_error_or_stays_as_it_came() {
    let deep = "[".repeat(500) + &"]".repeat(500);
    for api in APIS {
        let before = read(api, &answer(api).to_string()).unwrap();
        let mut refused = 0;
        for place in all_places(api) {
            for unreadable in ["1e999", &deep, r#"{"a":-1e999}"#] {
                match read(api, &with(api, &place, unreadable)) {
                    Err(NoAnswer::Malformed(_)) => refused += 1,
                    Err(other) => panic!("{api:?} {place}: {other:?}"),
                    // Arguments go to the engine, which answers that call; other places are not read.
                    Ok(after) => {
                        let said = after.tool_calls.iter().any(|call| call.arguments.contains(unreadable));
                        assert!(said || after == before, "{api:?} {place} {unreadable}: {after:?}");
                    }
                }
            }
        }
        assert!(refused > 20, "{api:?}: {refused}");
    }
}

#[test]
fn every_prefix_of_a_plain_answer_is_a_cut() {
    for api in APIS {
        let body = answer(api).to_string();
        for end in 1..body.len() {
            let cut = decode(api, &mended(body.as_bytes()[..end].to_vec()));
            assert_eq!(cut, Err(NoAnswer::Cut), "{api:?} after {end} bytes");
        }
    }
}

/// The events of a streamed answer with one text in two pieces, for each position between its UTF-16 units.
fn sliced(events: &dyn Fn(&str, &str) -> Vec<String>, text: &str) -> Vec<Vec<String>> {
    let units: Vec<u16> = text.encode_utf16().collect();
    let json = |units: &[u16]| -> String {
        let text: String = units.iter().map(|unit| format!("\\u{unit:04x}")).collect();
        format!("\"{text}\"")
    };
    (0..=units.len()).map(|cut| events(&json(&units[..cut]), &json(&units[cut..]))).collect()
}

fn streamed(api: Api, events: &[String]) -> Result<Decoded, NoAnswer> {
    let mut assembly = Assembly::new(api);
    for event in events {
        assembly.add(None, event)?;
    }
    decode(api, &assembly.into_body()?)
}

#[test]
fn a_text_may_be_sliced_at_every_utf_16_unit() {
    let text = r#"{"a":"𝑥 must 😀 not"}"#;
    let chat = |delta: &dyn Fn(&str) -> String, first: &str, second: &str| -> Vec<String> {
        let mut events: Vec<String> =
            [first, second].map(|piece| format!(r#"{{"choices":[{{"delta":{}}}]}}"#, delta(piece))).into();
        events.push(r#"{"choices":[{"delta":{},"finish_reason":"stop"}]}"#.into());
        events
    };
    let messages = |block: &str, kind: &str, first: &str, second: &str| -> Vec<String> {
        let delta = |piece: &str| {
            format!(r#"{{"type":"content_block_delta","index":0,"delta":{{"type":"x","{kind}":{piece}}}}}"#)
        };
        vec![
            format!(r#"{{"type":"content_block_start","index":0,"content_block":{block}}}"#),
            delta(first),
            delta(second),
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"s"}}"#.into(),
            r#"{"type":"message_stop"}"#.into(),
        ]
    };
    let call = |name: &str, piece: &str| {
        format!(r#"{{"tool_calls":[{{"index":0,"function":{{{name}"arguments":{piece}}}}}]}}"#)
    };
    type Events<'a> = Box<dyn Fn(&str, &str) -> Vec<String> + 'a>;
    let ways: [(Api, Events<'_>); 6] = [
        (Api::Chat, Box::new(|a, b| chat(&|piece| format!(r#"{{"content":{piece}}}"#), a, b))),
        (Api::Chat, Box::new(|a, b| chat(&|piece| format!(r#"{{"reasoning":{piece}}}"#), a, b))),
        (Api::Chat, Box::new(|a, b| chat(&|piece| call(r#""name":"t","#, piece), a, b))),
        (Api::Messages, Box::new(|a, b| messages(r#"{"type":"text","text":""}"#, "text", a, b))),
        (Api::Messages, Box::new(|a, b| messages(r#"{"type":"thinking","thinking":""}"#, "thinking", a, b))),
        (Api::Messages, Box::new(|a, b| messages(r#"{"type":"tool_use","id":"c","name":"t"}"#, "partial_json", a, b))),
    ];
    for (at, (api, events)) in ways.iter().enumerate() {
        for (cut, events) in sliced(events, text).into_iter().enumerate() {
            let read = streamed(*api, &events).unwrap();
            let mut words = vec![read.content.clone()];
            words.extend(read.tool_calls.iter().map(|call| call.arguments.clone()));
            words.push(read.extra.get("reasoning").and_then(Value::as_str).unwrap_or_default().to_owned());
            let blocks = read.extra.get("blocks").and_then(Value::as_array).cloned().unwrap_or_default();
            words.extend(blocks.iter().filter_map(|block| block["thinking"].as_str().map(str::to_owned)));
            assert!(words.iter().any(|words| words == text), "{at} at {cut}: {read:?}");
        }
    }
}

#[test]
fn an_unreadable_piece_of_a_stream_is_an_error() {
    for (api, event) in [
        (Api::Chat, r#"{"choices":{"delta":{}}}"#),
        (Api::Chat, r#"{"choices":[{"delta":{"content":7}}]}"#),
        (Api::Chat, r#"{"choices":[{"delta":{"tool_calls":{"name":"t"}}}]}"#),
        (Api::Chat, r#"{"choices":[{"delta":{"reasoning":{"a":1e999}}}]}"#),
        (Api::Messages, r#"{"type":"content_block_start","index":"first","content_block":{"type":"text"}}"#),
        (Api::Messages, r#"{"type":"content_block_delta","index":0,"delta":{"text":["a"]}}"#),
        (Api::Responses, r#"{"type":"response.output_item.done","output_index":0}"#),
        (Api::Responses, r#"{"type":"response.output_item.done","output_index":-1,"item":{}}"#),
    ] {
        let failed = Assembly::new(api).add(None, event);
        assert!(matches!(failed, Err(NoAnswer::Malformed(_))), "{event}: {failed:?}");
    }
}

#[test]
fn finished_items_are_taken_though_the_last_event_has_fewer() {
    let item = |text: &str| format!(r#"{{"type":"message","content":[{{"type":"output_text","text":"{text}"}}]}}"#);
    let done = |at: &str, text: &str| format!(r#"{{"type":"response.output_item.done",{at}"item":{}}}"#, item(text));
    let last =
        format!(r#"{{"type":"response.completed","response":{{"status":"completed","output":[{}]}}}}"#, item("one"));
    let read = streamed(Api::Responses, &[done("", "one"), done("", "two"), last]).unwrap();
    assert_eq!(read.content, "one\n\ntwo");
    let bare = r#"{"type":"response.completed","response":{"status":"completed","output":[]}}"#.to_owned();
    let delta = r#"{"type":"response.output_text.delta","delta":"lost"}"#.to_owned();
    assert!(matches!(streamed(Api::Responses, &[delta, bare]), Err(NoAnswer::Malformed(_))));
}

#[test]
fn the_call_of_old_is_a_call() {
    let body = r#"{"choices":[{"message":{"content":null,"function_call":{"name":"t","arguments":"{\"a\":1}"}},"finish_reason":"function_call"}]}"#;
    let plain = decode(Api::Chat, body.as_bytes()).unwrap();
    let piece = |function: &str| format!(r#"{{"choices":[{{"delta":{{"function_call":{function}}}}}]}}"#);
    let end = r#"{"choices":[{"delta":{},"finish_reason":"function_call"}]}"#.to_owned();
    let events = [
        piece(r#"{"name":"t","arguments":""}"#),
        piece(r#"{"arguments":"{\"a\":"}"#),
        piece(r#"{"arguments":"1}"}"#),
        end,
    ];
    let stream = streamed(Api::Chat, &events).unwrap();
    for read in [plain, stream] {
        assert_eq!((read.tool_calls[0].name.as_str(), read.tool_calls[0].arguments.as_str()), ("t", r#"{"a":1}"#));
    }
}

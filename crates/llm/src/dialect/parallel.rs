//! Several calls wrapped in one.
//!
//! OpenAI's models know a wrapper for parallel calls, and call it even if it is not offered: `multi_tool_use.parallel`,
//! in responses `parallel`, with `tool_uses` of `recipient_name` and `parameters` (vercel/ai#2786, vercel/ai#19067).
//! Its content is the intended calls.

use super::conversation::CALL_EXTRAS;
use super::inline_tool_calls;
use plumbline_engine::ToolCall;
use serde_json::{Map, Value};

/// The names under which models call it.
const WRAPPERS: [&str; 4] = ["multi_tool_use.parallel", "multi_tool_use_parallel", "multi_tool_use", "parallel"];

/// The calls with each wrapper replaced by its content. A wrapper that cannot be read completely is kept, and answered
/// as a call of an unknown tool. `extra` has the extra data of single calls, in their order.
pub(crate) fn unwrapped(calls: Vec<ToolCall>, extra: &mut Map<String, Value>, bound: &[&str]) -> Vec<ToolCall> {
    let mut out = Vec::with_capacity(calls.len());
    let mut own = match extra.get_mut(CALL_EXTRAS) {
        Some(Value::Array(own)) => Some(own),
        _ => None,
    };
    for call in calls {
        match inner(&call, bound) {
            Some(inner) => {
                // The wrapper's extra data belongs to its first call.
                if let Some(own) = own.as_mut().filter(|own| own.len() > out.len()) {
                    let behind = out.len() + 1;
                    own.splice(behind..behind, inner.iter().skip(1).map(|_| Value::Null));
                }
                out.extend(inner);
            }
            None => out.push(call),
        }
    }
    out
}

/// The calls in a wrapper; none if the call is not a wrapper, or in doubt.
fn inner(call: &ToolCall, bound: &[&str]) -> Option<Vec<ToolCall>> {
    let name = inline_tool_calls::name(&call.name, bound);
    let is_wrapper = WRAPPERS.contains(&name.strip_prefix("functions.").unwrap_or(name)) && !bound.contains(&name);
    let arguments: Value = is_wrapper.then(|| serde_json::from_str(&call.arguments).ok())??;
    let uses = arguments.get("tool_uses")?.as_array().filter(|uses| !uses.is_empty())?;
    uses.iter().map(|used| call_of(used, &call.id, bound)).collect()
}

fn call_of(used: &Value, id: &str, bound: &[&str]) -> Option<ToolCall> {
    let said = ["recipient_name", "name"].iter().find_map(|key| used.get(*key)?.as_str())?.trim();
    let name = inline_tool_calls::name(said, bound);
    let arguments = match ["parameters", "arguments"].iter().find_map(|key| used.get(*key)) {
        None | Some(Value::Null) => "{}".to_owned(),
        Some(Value::String(text)) => text.clone(),
        Some(value) => value.to_string(),
    };
    (!name.is_empty()).then(|| ToolCall { id: id.to_owned(), name: name.to_owned(), arguments })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const BOUND: [&str; 2] = ["read_file", "todo_complete"];

    fn call(name: &str, arguments: &Value) -> ToolCall {
        ToolCall { id: "p".into(), name: name.into(), arguments: arguments.to_string() }
    }

    fn two() -> Value {
        json!({"tool_uses": [{"recipient_name": "functions.read_file", "parameters": {"path": "a"}},
            {"recipient_name": "todo_complete", "parameters": "{}"}]})
    }

    #[test]
    fn a_wrapper_is_the_calls_in_it() {
        for name in ["multi_tool_use.parallel", "parallel", "functions.parallel", "multi_tool_use.parallel<|channel|>x"]
        {
            let found = unwrapped(vec![call(name, &two())], &mut Map::new(), &BOUND);
            let found: Vec<(&str, &str)> = found.iter().map(|call| (&*call.name, &*call.arguments)).collect();
            assert_eq!(found, [("read_file", r#"{"path":"a"}"#), ("todo_complete", "{}")], "{name}");
        }
    }

    #[test]
    fn text_with_calls_stays_with_them() {
        let mut extra = json!({CALL_EXTRAS: [{"s": 1}, {"s": 2}]}).as_object().cloned().unwrap();
        let calls = vec![call("parallel", &two()), call("read_file", &json!({}))];
        assert_eq!(unwrapped(calls, &mut extra, &BOUND).len(), 3);
        assert_eq!(extra[CALL_EXTRAS], json!([{"s": 1}, null, {"s": 2}]));
    }

    #[test]
    fn any_doubt_leaves_the_wrapper() {
        for (name, arguments) in [
            ("read_file", two()),
            ("parallel", json!({"tool_uses": []})),
            ("parallel", json!({"tool_uses": [{"parameters": {}}]})),
            ("parallel", json!({"tool_uses": [{"recipient_name": "read_file"}, 1]})),
            ("parallel", json!({"tool_uses": "[]"})),
            ("parallel", json!([])),
            ("parallelise", two()),
        ] {
            let calls = vec![call(name, &arguments)];
            assert_eq!(unwrapped(calls.clone(), &mut Map::new(), &BOUND), calls, "{name} {arguments}");
        }
        let bound = ["parallel"];
        let calls = vec![call("parallel", &two())];
        assert_eq!(unwrapped(calls.clone(), &mut Map::new(), &bound), calls, "a tool of that name is bound");
    }
}

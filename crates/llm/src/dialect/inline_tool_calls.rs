//! Calls that a model wrote into its text instead of calling.
//!
//! Servers that do not know a model's call syntax pass it on as text. A call is taken from the text only if it is
//! unambiguous: a known form, a bound tool, arguments that parse as an object, and every marked piece of the text is
//! such a call. Otherwise it stays text, and the engine tells the model that nothing happened.

use super::{
    text_forms::{self, pattern},
    thinking,
};
use plumbline_engine::ToolCall;
use regex::{Captures, Regex};
use serde_json::Value;
use std::sync::LazyLock;

/// `<tool_call>{"name": …, "arguments": {…}}</tool_call>`: Hermes, Qwen and their kin.
static TAGGED: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?s)<tool_call>\s*(?P<json>.*?)\s*</tool_call>"));

/// A fenced block of JSON.
static FENCED: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?ms)^[ \t]*```(?:json|tool_call|tool_code)?[ \t]*\n(?P<json>.*?)\n[ \t]*```[ \t]*$"));

/// `<function=name>{…}</function>`: Llama 3.
static FUNCTION: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?s)<function=(?P<name>[\w.-]+)>\s*(?P<json>.*?)\s*</function>"));

/// gpt-oss (harmony): a call is a message to a function, on a channel, with the format's marks or, if a server dropped
/// them, without.
static HARMONY: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?s)(?:<\|start\|>)?(?:assistant)?(?:<\|channel\|>)?(?:commentary|analysis)? ?to=(?:functions\.)?(?P<name>[\w.-]+?)\s*(?:<\|channel\|>(?:commentary|analysis)\s*)?(?:<\|constrain\|>)?\s*(?:json|code)?\s*(?:<\|message\|>)?(?P<json>\{.*?\})\s*(?:<\|call\|>|$)",
    )
});

/// Words around a fenced block that say it is an example, or that it will not be done. Only for fences: the other forms are
/// a model's own syntax for calls, while a fence is also how one shows a call to a reader.
static SHOWN_ONLY: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)\b(?:for example|for instance|e\.g\.|an? example|would look like|will not|won['’]t|am not going to|zum beispiel|z\. ?b\.|ein beispiel|werde (?:ich )?(?:das |dies |es )?nicht)",
    )
});

/// What models take for the place of the tools.
const NAMESPACES: [&str; 2] = ["functions", "default_api"];

/// The text before the last channel in harmony's format, with its marks or without.
static TO_LAST_CHANNEL: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?s)^\s*(?:<\|channel\|>analysis<\|message\|>|analysis).*?(?:<\|start\|>assistant<\|channel\|>final<\|message\|>|assistantfinal)",
    )
});

/// The calls in a text, and the text without them; none if there is none or any ambiguity. What was thought counts if
/// nothing is said behind it.
pub(crate) fn recover(text: &str, bound: &[&str]) -> Option<(Vec<ToolCall>, String)> {
    let said = thinking::said(text);
    if said.trim().is_empty() {
        return in_what_is_said(text, bound);
    }
    let (calls, rest) = in_what_is_said(said, bound)?;
    let thought = text.strip_suffix(said).unwrap_or_default();
    Some((calls, format!("{thought}{rest}")))
}

fn in_what_is_said(text: &str, bound: &[&str]) -> Option<(Vec<ToolCall>, String)> {
    let in_json = [&*TAGGED, &*FUNCTION, &*FENCED, &*HARMONY].into_iter().find_map(|form| {
        let calls: Vec<ToolCall> = form.captures_iter(text).map(|found| call(&found, bound)).collect::<Option<_>>()?;
        let rest = form.replace_all(text, "").trim().to_string();
        let is_shown_only = std::ptr::eq(form, &*FENCED) && SHOWN_ONLY.is_match(&rest);
        (!calls.is_empty() && !is_shown_only).then_some((calls, rest))
    });
    in_json.or_else(|| {
        let (calls, rest) = text_forms::recover(text, bound)?;
        let call =
            |(name, arguments): (String, Value)| ToolCall { id: String::new(), name, arguments: arguments.to_string() };
        Some((calls.into_iter().map(call).collect(), rest))
    })
}

/// A tool's name without harmony's marks, `read_file<|channel|>commentary`, and without what other models put around
/// it: `functions.read_file`, Kimi's `functions.read_file:0`, Gemini's `default_api.read_file`.
pub(crate) fn name<'a>(called: &'a str, bound: &[&str]) -> &'a str {
    let called = called.split("<|").next().unwrap_or(called).trim_end();
    let name = called.split_once('.').or(called.split_once(':')).filter(|(space, _)| NAMESPACES.contains(space));
    let name = name.map_or(called, |(_, name)| name);
    let name = name.split_once(':').map_or(name, |(name, _)| name);
    match bound.contains(&name) && !bound.contains(&called) {
        true => name,
        false => called,
    }
}

/// The answer in a text that also contains reasoning, if it is in harmony's format.
pub(crate) fn last_channel(text: &str) -> Option<&str> {
    let thought = TO_LAST_CHANNEL.find(text)?;
    let answer = &text[thought.end()..];
    Some(answer.split("<|").next().unwrap_or(answer).trim())
}

/// One marked piece as a call.
fn call(found: &Captures<'_>, bound: &[&str]) -> Option<ToolCall> {
    let json: Value = serde_json::from_str(found.name("json")?.as_str()).ok()?;
    let (name, arguments) = match found.name("name") {
        Some(name) => (name.as_str().to_string(), json),
        None => text_forms::named(json)?,
    };
    let known = bound.contains(&name.as_str()) && arguments.is_object();
    known.then(|| ToolCall { id: String::new(), name, arguments: arguments.to_string() })
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOUND: [&str; 2] = ["read_file", "todo_complete"];

    fn found(text: &str) -> Option<(Vec<(String, String)>, String)> {
        let (calls, rest) = recover(text, &BOUND)?;
        Some((calls.into_iter().map(|call| (call.name, call.arguments)).collect(), rest))
    }

    #[test]
    fn known_forms_become_calls() {
        let call = |name: &str, arguments: &str| (name.to_string(), arguments.to_string());
        for text in [
            "Reading.\n<tool_call>\n{\"name\": \"read_file\", \"arguments\": {\"path\": \"a.md\"}}\n</tool_call>",
            "Reading.\n```json\n{\"name\": \"read_file\", \"arguments\": {\"path\": \"a.md\"}}\n```",
            "Reading.\n<function=read_file>{\"path\": \"a.md\"}</function>",
            "Reading.\n```\n{\"name\": \"read_file\", \"parameters\": {\"path\": \"a.md\"}}\n```\n",
        ] {
            let expected = (vec![call("read_file", r#"{"path":"a.md"}"#)], "Reading.".to_string());
            assert_eq!(found(text), Some(expected), "{text}");
        }
        let two = "<function=read_file>{\"path\": \"a\"}</function> <function=todo_complete>{}</function>";
        let expected = vec![call("read_file", r#"{"path":"a"}"#), call("todo_complete", "{}")];
        assert_eq!(found(two), Some((expected, String::new())));
    }

    #[test]
    fn calls_in_what_the_model_thought_count_where_it_says_nothing_else() {
        let thought =
            "I must read.\n<tool_call>{\"name\": \"read_file\", \"arguments\": {\"path\": \"a.md\"}}</tool_call>";
        let answer = |content: &str| crate::dialect::Decoded {
            content: content.into(),
            finish_reason: Some("stop".into()),
            extra: serde_json::json!({"reasoning_content": thought}).as_object().cloned().unwrap_or_default(),
            ..crate::dialect::Decoded::default()
        };
        assert_eq!(answer("").with_leaked_calls(&BOUND).tool_calls.len(), 1);
        assert_eq!(answer("It is read.").with_leaked_calls(&BOUND).tool_calls.len(), 0);
    }

    #[test]
    fn calls_in_thinking_that_a_server_passed_on_as_text_count_where_nothing_else_is_said() {
        let call = "<tool_call>{\"name\": \"read_file\", \"arguments\": {\"path\": \"a.md\"}}</tool_call>";
        let expected = vec![("read_file".to_string(), r#"{"path":"a.md"}"#.to_string())];
        for (text, rest) in [
            (format!("<think>Perhaps {call}, no.</think>It is read."), None),
            (format!("Perhaps {call}, no.</think>\n\nIt is read."), None),
            (format!("[THINK]Perhaps {call}, no.[/THINK]It is read."), None),
            (format!("<think>I must read.</think>\n{call}"), Some("<think>I must read.</think>")),
            (format!("Not {call}.</think>Reading.\n{call}"), Some("Not {call}.</think>Reading.")),
            (format!("<think>I must read. {call}"), Some("<think>I must read.")),
            (format!("<think>I must read. {call}</think>\n"), Some("<think>I must read. </think>")),
        ] {
            let rest = rest.map(|rest| (expected.clone(), rest.replace("{call}", call)));
            assert_eq!(found(&text), rest, "{text}");
        }
    }

    #[test]
    fn calls_and_words_in_the_format_of_gpt_oss() {
        let call = (vec![("read_file".to_string(), r#"{"path":"a.md"}"#.to_string())], String::new());
        for text in [
            "<|channel|>commentary to=functions.read_file <|constrain|>json<|message|>{\"path\": \"a.md\"}<|call|>",
            "<|start|>assistant<|channel|>analysis to=functions.read_file code<|message|>{\"path\": \"a.md\"}",
            "assistantcommentary to=functions.read_file json{\"path\": \"a.md\"}",
            "<|start|>assistant to=functions.read_file<|channel|>commentary json<|message|>{\"path\": \"a.md\"}<|call|>",
        ] {
            assert_eq!(found(text).as_ref(), Some(&call), "{text}");
        }
        for (text, answer) in [
            ("analysisI must read.assistantfinalIt is read.", Some("It is read.")),
            (
                "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>Done.<|return|>",
                Some("Done."),
            ),
            ("The analysis is in the assistantfinal report.", None),
            ("analysis of the text", None),
        ] {
            assert_eq!(last_channel(text), answer, "{text}");
        }
        for (called, expected) in [
            ("query_dataset<|channel|>commentary", "query_dataset"),
            ("functions.read_file", "read_file"),
            ("functions.read_file<|channel|>analysis", "read_file"),
            ("functions.read_file:12", "read_file"),
            ("default_api.read_file", "read_file"),
            ("default_api:read_file", "read_file"),
            ("functions.remove_all", "functions.remove_all"),
            ("other.read_file", "other.read_file"),
            ("read_file", "read_file"),
        ] {
            assert_eq!(name(called, &BOUND), expected, "{called}");
        }
    }

    #[test]
    fn any_doubt_leaves_the_text_alone() {
        for text in [
            "I would call read_file(path=\"a.md\") now.",
            "<tool_call>{\"name\": \"read_file\", \"arguments\": {\"path\": \"a</tool_call>",
            "<tool_call>{\"name\": \"remove_all\", \"arguments\": {}}</tool_call>",
            "<tool_call>{\"name\": \"read_file\", \"arguments\": \"a.md\"}</tool_call>",
            "```json\n{\"name\": \"read_file\", \"arguments\": {}, \"why\": \"an example\"}\n```",
            "```json\n{\"name\": \"read_file\", \"arguments\": {}}\n```\nand\n```\nsome output\n```",
            "<function=read_file>{\"path\": \"a\"}</function> <function=read_file>{broken</function>",
            "For example:\n```json\n{\"name\": \"read_file\", \"arguments\": {\"path\": \"a\"}}\n```",
            "I will not do this:\n```json\n{\"name\": \"todo_complete\", \"arguments\": {}}\n```\nIt is too early.",
            "```\n{\"name\": \"todo_complete\", \"arguments\": {}}\n```\nist nur ein Beispiel.",
            "",
        ] {
            assert_eq!(found(text), None, "{text}");
        }
    }
}

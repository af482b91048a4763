//! Requests without tools, which ask for a summary.

use plumbline_rehearsal::{ChatRequest, answer};
use serde_json::{Value, json};

fn said(messages: &Value) -> String {
    let request: ChatRequest = serde_json::from_value(json!({"model": "m", "messages": messages})).unwrap();
    let choice = answer(&request).choices.remove(0);
    assert_eq!((choice.finish_reason, choice.message.tool_calls.len()), ("stop", 0));
    choice.message.content.unwrap()
}

#[test]
fn a_summary_says_what_was_done_and_is_shorter_than_the_conversation() {
    let function = |name: &str, args: Value| json!({"name": name, "arguments": args.to_string()});
    let call = |id: &str, name: &str, args| json!({"id": id, "type": "function", "function": function(name, args)});
    let calls = json!([
        call("a", "read_file", json!({"path": "chunks/chunk_007.md"})),
        call("b", "record_passage", json!({"passage": 7, "items": [{"s": "1"}]})),
        call("c", "write_file", json!({"path": "output/answer.md", "content": "- x"})),
        call("d", "todo_complete", json!({"notes": "1 requirement recorded"})),
    ]);
    let result = |id: &str, text: String| json!({"role": "tool", "tool_call_id": id, "content": text});
    let chunk = "Boxes must be shut. ".repeat(300);
    let messages = json!([
        {"role": "system", "content": "## The job\n\nExtract the rules."},
        {"role": "assistant", "content": null, "tool_calls": calls},
        result("a", chunk.clone()), result("b", "recorded".into()), result("c", "ok".into()), result("d", "ok".into()),
        {"role": "user", "content": "Summarize the conversation above."},
    ]);
    let said = said(&messages);
    assert!(said.len() < chunk.len(), "{said}");
    for part in [
        "no LLM",
        "Extract the rules.",
        "recorded in this stretch: 1",
        "between 7 and 7",
        "output/answer.md",
        "1 requirement recorded",
    ] {
        assert!(said.contains(part), "{part} is missing in: {said}");
    }
}

#[test]
fn a_conversation_that_comes_as_one_text_is_summarized_by_the_files_it_names() {
    let text = format!("assistant read chunks/chunk_003.md and chunks/chunk_005.md. {}", "More was said. ".repeat(200));
    let said = said(&json!([{"role": "user", "content": text}]));
    assert!(said.contains("2 between 3 and 5") && said.len() < text.len(), "{said}");
}

#[test]
fn a_greeting_is_answered_with_what_it_is() {
    assert!(said(&json!([{"role": "user", "content": "Hello"}])).contains("rule-based, no LLM"));
}

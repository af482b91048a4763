//! Reading one answer in many dialects.

use crate::server::Server;
use crate::talk::{ask, completion, message, now, request};
use plumbline_engine::{FinishReason, ModelRequest, Purpose, Reply, RequestRecord, Role, ToolCall};
use plumbline_llm::{Api, Learnt, ModelClient, ModelConfig};
use serde_json::{Map, Value, json};

async fn reply_to(body: &Value) -> Reply {
    let server = Server::saying(200, body.to_string()).await;
    ask(ModelConfig::new(&server.base_url, "m")).await.unwrap()
}

fn call(id: &str, name: &str, arguments: &str) -> ToolCall {
    ToolCall { id: id.into(), name: name.into(), arguments: arguments.into() }
}

#[tokio::test]
async fn the_whole_reply() {
    let mut body = completion(
        json!({"role": "assistant", "content": "Reading.", "tool_calls": [
            {"id": "call_1", "type": "function", "function": {"name": "read_file", "arguments": "{\"path\":\"a\"}"}}
        ]}),
        "tool_calls",
    );
    body["usage"]["prompt_tokens_details"] = json!({"cached_tokens": 8});
    let mut reply = reply_to(&body).await;
    assert!(reply.record.duration_ms >= 0);
    reply.record.duration_ms = 0;
    let expected = Reply {
        content: "Reading.".into(),
        tool_calls: vec![call("call_1", "read_file", "{\"path\":\"a\"}")],
        finish: FinishReason::Done,
        extra: Map::new(),
        record: RequestRecord {
            prompt_tokens: 10,
            cached_tokens: 8,
            completion_tokens: 5,
            finish_reason: Some("tool_calls".into()),
            raw_usage: Some(body["usage"].clone()),
            server_window: None,
            api: Some("chat".into()),
            endpoint: reply.record.endpoint.clone(),
            ..RequestRecord::sent("m", Purpose::Tactical, 1, now())
        },
    };
    assert_eq!(reply, expected);
}

#[tokio::test]
async fn a_byte_order_mark_is_no_part_of_an_answer() {
    let delta = json!({"choices": [{"index": 0, "delta": {"content": "Done."}, "finish_reason": "stop"}]});
    let whole = completion(json!({"content": "Done."}), "stop").to_string();
    for body in [format!("\u{feff}{whole}"), format!("\u{feff}\n{whole}"), format!("\u{feff}data: {delta}\n\n")] {
        let server = Server::saying(200, body.clone()).await;
        let reply = ask(ModelConfig::new(&server.base_url, "m")).await;
        assert_eq!(reply.map(|reply| reply.content).ok().as_deref(), Some("Done."), "{body}");
    }
}

/// A summary stands for the conversation; in a turn the thinking stays, because some models want it back.
#[tokio::test]
async fn a_summary_is_without_the_thinking_in_its_text() {
    for (content, expected) in [
        ("<think>What happened?</think>Two files are written.", "Two files are written."),
        ("What happened?</think>Two files are written.", "Two files are written."),
        ("<think>What happened?</think>", ""),
        ("Two files are written.", "Two files are written."),
    ] {
        let body = completion(json!({"content": content}), "stop");
        assert_eq!(reply_to(&body).await.content, content);
        let server = Server::saying(200, body.to_string()).await;
        let messages = [message(1, Role::User, "Sum it up.")];
        let asked = || ModelRequest { purpose: Purpose::Summary, ..request(&messages, &[]) };
        let client = ModelClient::new(ModelConfig::new(&server.base_url, "m")).unwrap();
        let summary = client.call(asked(), asked, now, &Learnt::default()).await.unwrap();
        assert_eq!(summary.content, expected, "{content}");
    }
}

#[tokio::test]
async fn lesson_45_content_in_every_form() {
    for (content, expected) in [
        (json!("text"), "text"),
        (json!(null), ""),
        (json!([{"type": "text", "text": "one "}, {"type": "output_text", "text": "two"}]), "one two"),
        (json!([{"type": "thinking", "text": "hm"}, {"text": "said"}, "plain"]), "saidplain"),
        (json!({"type": "text", "text": "alone"}), "alone"),
        (json!([]), ""),
    ] {
        let reply = reply_to(&completion(json!({"content": content}), "stop")).await;
        assert_eq!(reply.content, expected, "{content}");
    }
    let reply = reply_to(&completion(json!({"role": "assistant"}), "stop")).await;
    assert_eq!((reply.content.as_str(), reply.tool_calls.len()), ("", 0));
}

#[tokio::test]
async fn tool_calls_in_every_form() {
    for (given, expected) in [
        (
            json!({"id": "a", "type": "function", "function": {"name": "t", "arguments": "{\"x\":1}"}}),
            call("a", "t", "{\"x\":1}"),
        ),
        (json!({"function": {"name": "t", "arguments": {"x": 1}}}), call("", "t", "{\"x\":1}")),
        (json!({"id": null, "function": {"name": " t ", "arguments": ""}}), call("", "t", "{}")),
        (json!({"id": "", "function": {"name": "t"}}), call("", "t", "{}")),
        (json!({"id": "a", "name": "t", "arguments": null}), call("a", "t", "{}")),
        // Broken JSON is kept: the engine answers it with the error.
        (json!({"id": "a", "function": {"name": "t", "arguments": "{\"x\":"}}), call("a", "t", "{\"x\":")),
    ] {
        let reply = reply_to(&completion(json!({"tool_calls": [given]}), "tool_calls")).await;
        assert_eq!(reply.tool_calls, [expected], "{given}");
    }
    let reply = reply_to(&completion(json!({"content": "x", "tool_calls": null}), "stop")).await;
    assert!(reply.tool_calls.is_empty());
}

#[tokio::test]
async fn f38_a_cut_answer_is_known_by_its_reason_or_by_its_length() {
    for (reason, completion_tokens, expected) in [
        ("stop", 99, FinishReason::Done),
        ("tool_calls", 5, FinishReason::Done),
        ("something_new", 5, FinishReason::Unfinished),
        ("length", 50, FinishReason::Truncated),
        ("max_tokens", 50, FinishReason::Truncated),
        ("MAX_TOKENS", 50, FinishReason::Truncated),
        ("tool_calls", 100, FinishReason::Truncated),
        ("stop", 101, FinishReason::Truncated),
        ("content_filter", 5, FinishReason::Refused),
    ] {
        let mut body = completion(json!({"content": "x"}), reason);
        body["usage"]["completion_tokens"] = completion_tokens.into();
        let reply = reply_to(&body).await;
        assert_eq!(reply.finish, expected, "{reason} {completion_tokens}");
        assert_eq!(reply.record.finish_reason.as_deref(), Some(reason), "the provider's own word");
    }
}

#[tokio::test]
async fn a_refusal_is_one_and_keeps_its_words() {
    let reply = reply_to(&completion(json!({"content": null, "refusal": "I cannot."}), "stop")).await;
    assert_eq!((reply.finish, reply.content.as_str()), (FinishReason::Refused, "I cannot."));
    assert_eq!(reply.record.finish_reason.as_deref(), Some("refusal"));
}

#[tokio::test]
async fn f36_without_usage_the_counts_are_ours_and_say_so() {
    for usage in [json!(null), json!({}), json!({"prompt_tokens": null})] {
        let mut body = completion(json!({"content": "four words are here"}), "stop");
        body["usage"] = usage.clone();
        let record = reply_to(&body).await.record;
        assert!(record.estimated, "{usage}");
        assert_eq!(record.completion_tokens, 4);
        assert!(record.prompt_tokens > 10, "{record:?}");
    }
}

#[tokio::test]
async fn white_space_before_the_answer_is_keep_alive() {
    let body = format!("\n \n \n{}", completion(json!({"content": "x"}), "stop"));
    let server = Server::saying(200, body).await;
    assert_eq!(ask(ModelConfig::new(&server.base_url, "m")).await.unwrap().content, "x");
}

#[tokio::test]
async fn thoughts_within_their_budget_do_not_cut_an_answer() {
    for (tokens, finish) in [(2099, FinishReason::Done), (2100, FinishReason::Truncated)] {
        let said = json!({"content": [{"type": "text", "text": "ok"}], "stop_reason": "end_turn",
            "usage": {"input_tokens": 5, "output_tokens": tokens}});
        let server = Server::saying(200, said.to_string()).await;
        let mut config = ModelConfig::new(&server.base_url, "m");
        (config.api, config.reasoning_level) = (Some(Api::Messages), Some("2000".into()));
        assert_eq!(ask(config).await.unwrap().finish, finish, "{tokens}");
    }
}

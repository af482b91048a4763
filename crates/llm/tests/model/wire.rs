//! Requests byte by byte, because a provider's prefix cache compares bytes.

use crate::server::Server;
use crate::talk::{calling, completion, message, now, request, result, tool};
use plumbline_engine::{Message, ModelRequest, RequestMessage, Role, ToolSpec};
use plumbline_llm::{ApiKey, Learnt, ModelClient, ModelConfig, OutputCapField, Streaming};
use serde_json::{Value, json};

async fn sent(configure: impl FnOnce(&mut ModelConfig), request: &ModelRequest<'_>) -> (Server, String) {
    let server = Server::saying(200, completion(json!({"content": "ok"}), "stop").to_string()).await;
    let mut config = ModelConfig::new(&server.base_url, "test-model");
    configure(&mut config);
    ModelClient::new(config).unwrap().call(request.clone(), || request.clone(), now, &Learnt::default()).await.unwrap();
    let body = server.seen()[0].body.clone();
    (server, body)
}

fn conversation() -> Vec<Message> {
    let mut cleared = result(5, "c2", "[result cleared to save space: done at step 3]");
    cleared.cleared = true;
    let mut thoughtful = calling(3, "", &[("c1", "read_file", r#"{"path": "a"}"#), ("c2", "list_files", "{}")]);
    thoughtful.extra.insert("reasoning_content".into(), "hm".into());
    thoughtful.extra.insert("tool_calls".into(), json!([{"extra_content": {"signature": "s"}}, {}]));
    vec![
        message(1, Role::System, "You work."),
        message(2, Role::User, "Grüße \"all\"\n"),
        thoughtful,
        result(4, "c1", "text"),
        cleared,
        calling(6, "Done.", &[]),
    ]
}

#[tokio::test]
async fn the_body_is_sent_with_its_length_and_not_in_chunks() {
    let messages = conversation();
    let (server, body) = sent(|_| {}, &request(&messages, &[])).await;
    let headers = &server.seen()[0].headers;
    assert_eq!(headers["content-length"], body.len().to_string());
    assert!(!headers.contains_key("transfer-encoding"), "small servers do not read chunked requests");
}

/// It is sent in pieces, which are not visible.
#[tokio::test]
async fn a_long_conversation_arrives_whole() {
    let text = |length: usize| "A \"line\" of text\n".repeat(length / 17);
    let lengths = (0..60).map(|place| match place {
        20 | 59 => 300_000,
        _ => place * 400,
    });
    let messages: Vec<Message> =
        lengths.zip(1..).map(|(length, seq)| message(seq, Role::User, &text(length))).collect();
    let (server, body) = sent(|_| {}, &request(&messages, &[tool("read_file")])).await;
    assert_eq!(server.seen()[0].headers["content-length"], body.len().to_string());
    let read: Value = serde_json::from_str(&body).unwrap();
    let read: Vec<&str> = read["messages"].as_array().unwrap().iter().map(|m| m["content"].as_str().unwrap()).collect();
    let said: Vec<&str> = messages.iter().map(|message| message.content.as_str()).collect();
    assert!(body.len() > 1_000_000 && read == said);
}

#[tokio::test]
async fn the_whole_body() {
    let tools = [tool("read_file"), tool("list_files")];
    let messages = conversation();
    let mut request = request(&messages, &tools);
    request.messages.push(RequestMessage::User("todo list".into()));
    let (server, body) = sent(
        |config| {
            config.temperature = Some(0.5);
            config.reasoning_level = Some("high".into());
            config.parallel_tool_calls = Some(true);
        },
        &request,
    )
    .await;
    let parameters = r#"{"properties":{"path":{"type":"string"}},"type":"object"}"#;
    let expected = [
        r#"{"model":"test-model","tools":["#,
        r#"{"type":"function","function":{"name":"read_file","description":"Does read_file.","parameters":"#,
        parameters,
        r#"}},{"type":"function","function":{"name":"list_files","description":"Does list_files.","parameters":"#,
        parameters,
        r#"}}],"parallel_tool_calls":true,"messages":["#,
        r#"{"role":"system","content":"You work."},"#,
        r#"{"role":"user","content":"Grüße \"all\"\n"},"#,
        r#"{"role":"assistant","content":null,"tool_calls":["#,
        r#"{"id":"c1","type":"function","function":{"name":"read_file","arguments":"{\"path\": \"a\"}"},"extra_content":{"signature":"s"}},"#,
        r#"{"id":"c2","type":"function","function":{"name":"list_files","arguments":"{}"}}],"reasoning_content":"hm"},"#,
        r#"{"role":"tool","tool_call_id":"c1","content":"text"},"#,
        r#"{"role":"tool","tool_call_id":"c2","content":"[result cleared to save space: done at step 3]"},"#,
        r#"{"role":"assistant","content":"Done."},"#,
        r#"{"role":"user","content":"todo list"}],"#,
        r#""max_tokens":100,"temperature":0.5,"reasoning_effort":"high","#,
        r#""stream":true,"stream_options":{"include_usage":true}}"#,
    ]
    .concat();
    assert_eq!(body, expected);
    assert_eq!(server.seen()[0].path, "/v1/chat/completions");
}

#[tokio::test]
async fn what_is_not_configured_is_not_sent() {
    let messages = [message(1, Role::User, "hi")];
    let (_, body) = sent(
        |config| {
            config.parallel_tool_calls = Some(false);
            config.stream = Streaming::Off;
        },
        &request(&messages, &[]),
    )
    .await;
    assert_eq!(body, r#"{"model":"test-model","messages":[{"role":"user","content":"hi"}],"max_tokens":100}"#);
}

#[tokio::test]
async fn lesson_43_a_cap_is_always_sent_under_the_configured_name() {
    let messages = [message(1, Role::User, "hi")];
    let (_, body) =
        sent(|config| config.output_cap = OutputCapField::MaxCompletionTokens, &request(&messages, &[])).await;
    let body: Value = serde_json::from_str(&body).unwrap();
    assert_eq!(body["max_completion_tokens"], 100);
    assert!(body.get("max_tokens").is_none());
}

#[tokio::test]
async fn an_appended_turn_keeps_every_byte_before_it() {
    let tools: Vec<ToolSpec> = vec![tool("read_file")];
    let before = conversation();
    let mut after = conversation();
    after.extend([calling(7, "", &[("c3", "read_file", "{}")]), result(8, "c3", "more")]);
    let (_, first) = sent(|_| (), &request(&before, &tools)).await;
    let (_, second) = sent(|_| (), &request(&after, &tools)).await;
    let shared = first.split_once(r#"],"max_tokens":100"#).unwrap().0;
    assert!(second.starts_with(shared), "{second}\ndoes not begin with\n{shared}");
}

#[tokio::test]
async fn the_key_goes_into_one_header_and_only_if_there_is_one() {
    let messages = [message(1, Role::User, "hi")];
    let (server, body) = sent(|config| config.api_key = ApiKey::new("sk-test"), &request(&messages, &[])).await;
    assert_eq!(server.seen()[0].headers["authorization"], "Bearer sk-test");
    assert_eq!(server.seen()[0].headers["content-type"], "application/json");
    assert!(!body.contains("sk-test"));
    let (server, _) = sent(|_| (), &request(&messages, &[])).await;
    assert!(!server.seen()[0].headers.contains_key("authorization"));
}

#[tokio::test]
async fn a_slash_at_the_end_of_the_address_is_no_matter() {
    let messages = [message(1, Role::User, "hi")];
    let (server, _) = sent(|config| config.base_url.push('/'), &request(&messages, &[])).await;
    assert_eq!(server.seen()[0].path, "/v1/chat/completions");
}

#[tokio::test]
async fn a_query_in_the_address_stays() {
    let messages = [message(1, Role::User, "hi")];
    let (server, _) = sent(|config| config.base_url.push_str("?api-version=2"), &request(&messages, &[])).await;
    assert_eq!(server.seen()[0].path, "/v1/chat/completions?api-version=2");
}

#[test]
fn an_unusable_address_is_refused_before_anything_is_sent() {
    for address in ["localhost:8000/v1", "ftp://host/v1", "", "http://"] {
        let error = ModelClient::new(ModelConfig::new(address, "m")).unwrap_err().to_string();
        assert!(error.starts_with("llm.base_url"), "{address}: {error}");
    }
}

#[tokio::test]
async fn what_a_provider_adds_goes_back_unchanged() {
    let said = json!({
        "role": "assistant",
        "content": null,
        "reasoning_details": [{"type": "reasoning.text", "text": "hm", "signature": "abc"}],
        "refusal": null,
        "annotations": [],
        "tool_calls": [
            {"id": "p1", "type": "function", "index": 0, "function": {"name": "read_file", "arguments": "{}"},
             "extra_content": {"google": {"thought_signature": "xyz"}}}
        ]
    });
    let server = Server::saying(200, completion(said, "tool_calls").to_string()).await;
    let client = ModelClient::new(ModelConfig::new(&server.base_url, "m")).unwrap();
    let messages = [message(1, Role::User, "hi")];
    let reply =
        client.call(request(&messages, &[]), || request(&messages, &[]), now, &Learnt::default()).await.unwrap();
    let mut stored = calling(2, &reply.content, &[("ours", "read_file", "{}")]);
    stored.extra = reply.extra;
    let messages = [message(1, Role::User, "hi"), stored, result(3, "ours", "text")];
    client.call(request(&messages, &[]), || request(&messages, &[]), now, &Learnt::default()).await.unwrap();
    let body: Value = serde_json::from_str(&server.seen()[1].body).unwrap();
    assert_eq!(
        body["messages"][1],
        json!({
            "role": "assistant",
            "content": null,
            "tool_calls": [{"id": "ours", "type": "function", "function": {"name": "read_file", "arguments": "{}"},
                "extra_content": {"google": {"thought_signature": "xyz"}}}],
            "reasoning_details": [{"type": "reasoning.text", "text": "hm", "signature": "abc"}]
        })
    );
}

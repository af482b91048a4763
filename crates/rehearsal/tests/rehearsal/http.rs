//! The server over real HTTP on loopback.

use std::sync::Once;
use std::time::{Duration, Instant};

use plumbline_rehearsal::{Options, Rehearsal};
use serde_json::{Value, json};

static PROVIDER: Once = Once::new();

async fn start(delay: Duration) -> (Rehearsal, reqwest::Client) {
    // The client is built without a TLS provider of its own.
    PROVIDER.call_once(|| drop(rustls::crypto::ring::default_provider().install_default()));
    let server = Rehearsal::start("127.0.0.1:0".parse().unwrap(), Options { delay }).await.unwrap();
    (server, reqwest::Client::new())
}

async fn post(client: &reqwest::Client, url: String, body: &Value) -> (u16, Value) {
    let response = client.post(url).body(body.to_string()).send().await.unwrap();
    (response.status().as_u16(), response.json().await.unwrap())
}

fn strategic() -> Value {
    let frame = "ACTIVE TODO LIST\nPhase: Initial (1 of 1)\n[ ] 1. Explore: read instructions.md  ← CURRENT\n";
    let tool = |name: &str| json!({"type": "function", "function": {"name": name, "parameters": {}}});
    json!({
        "model": "some-model",
        "messages": [
            {"role": "system", "content": "## The job\n\nExtract."},
            {"role": "user", "content": frame},
        ],
        "tools": [tool("read_file"), tool("list_files"), tool("todo_write")],
    })
}

#[tokio::test]
async fn a_completion_has_the_shape_of_openai() {
    let (server, client) = start(Duration::ZERO).await;
    let (status, body) = post(&client, format!("{}/chat/completions", server.base_url()), &strategic()).await;
    assert_eq!(status, 200, "{body}");
    assert_eq!((&body["object"], &body["model"]), (&json!("chat.completion"), &json!("some-model")));
    let choice = &body["choices"][0];
    assert_eq!(choice["finish_reason"], "tool_calls");
    assert!(choice["message"]["content"].as_str().unwrap().contains("rule-based, no LLM"));
    let call = &choice["message"]["tool_calls"][0];
    assert_eq!((&call["type"], &call["function"]["name"]), (&json!("function"), &json!("read_file")));
    let arguments: Value = serde_json::from_str(call["function"]["arguments"].as_str().unwrap()).unwrap();
    assert_eq!(arguments, json!({"path": "instructions.md"}));
    let usage = &body["usage"];
    let sum = usage["prompt_tokens"].as_u64().unwrap() + usage["completion_tokens"].as_u64().unwrap();
    assert_eq!(usage["total_tokens"], sum);
    assert_eq!(usage["prompt_tokens_details"]["cached_tokens"], 0);
    server.shutdown().await.unwrap();
}

/// Puts a stream together again, as clients do.
fn joined(events: &str) -> Value {
    let chunks: Vec<Value> = events
        .split_terminator("\n\n")
        .map(|event| event.strip_prefix("data: ").expect("an event has data"))
        .take_while(|data| *data != "[DONE]")
        .map(|data| serde_json::from_str(data).expect("a chunk is JSON"))
        .collect();
    assert!(events.ends_with("data: [DONE]\n\n"), "{events}");
    let mut answer = chunks[0].clone();
    answer["object"] = json!("chat.completion");
    answer["usage"] = chunks.last().expect("a chunk")["usage"].clone();
    let mut choice = json!({"index": 0, "message": {"role": "assistant", "content": "", "tool_calls": []},
                            "finish_reason": null});
    for chunk in &chunks {
        assert_eq!((&chunk["object"], &chunk["id"]), (&json!("chat.completion.chunk"), &answer["id"]));
        let part = &chunk["choices"][0];
        if let Some(text) = part["delta"]["content"].as_str() {
            choice["message"]["content"] = json!(format!("{}{text}", choice["message"]["content"].as_str().unwrap()));
        }
        for call in part["delta"]["tool_calls"].as_array().into_iter().flatten() {
            let arguments = call["function"]["arguments"].as_str().unwrap();
            let index = call["index"].as_u64().unwrap() as usize;
            let known = choice["message"]["tool_calls"].as_array_mut().unwrap();
            if index == known.len() {
                let mut first = call.clone();
                first.as_object_mut().unwrap().remove("index");
                known.push(first);
            } else {
                let before = known[index]["function"]["arguments"].as_str().unwrap();
                known[index]["function"]["arguments"] = json!(format!("{before}{arguments}"));
            }
        }
        if !part["finish_reason"].is_null() {
            choice["finish_reason"] = part["finish_reason"].clone();
        }
    }
    answer["choices"] = json!([choice]);
    answer
}

#[tokio::test]
async fn a_stream_says_what_the_whole_answer_says() {
    let (server, client) = start(Duration::ZERO).await;
    let url = format!("{}/chat/completions", server.base_url());
    let (_, whole) = post(&client, url.clone(), &strategic()).await;
    let mut request = strategic();
    request["stream"] = json!(true);
    request["stream_options"] = json!({"include_usage": true});
    let response = client.post(&url).body(request.to_string()).send().await.unwrap();
    assert_eq!(response.headers()["content-type"], "text/event-stream");
    assert_eq!(joined(&response.text().await.unwrap()), whole);

    request["stream_options"] = json!(null);
    let without = client.post(&url).body(request.to_string()).send().await.unwrap().text().await.unwrap();
    assert!(!without.contains("usage"), "{without}");
    server.shutdown().await.unwrap();
}

#[tokio::test]
async fn equal_requests_have_equal_answers_under_any_prefix() {
    let (server, client) = start(Duration::ZERO).await;
    let root = format!("http://{}", server.address());
    let mut answers = Vec::new();
    for prefix in ["", "/v1", "/v1", "/api/openai/v1"] {
        answers.push(post(&client, format!("{root}{prefix}/chat/completions"), &strategic()).await);
    }
    assert!(answers.iter().all(|answer| *answer == answers[0] && answer.0 == 200));
}

#[tokio::test]
async fn the_model_lists_itself_and_says_what_it_is() {
    let (server, client) = start(Duration::ZERO).await;
    let body: Value = client.get(format!("{}/models", server.base_url())).send().await.unwrap().json().await.unwrap();
    assert_eq!(body["data"][0]["id"], plumbline_rehearsal::MODEL);
    assert!(body["data"][0]["description"].as_str().unwrap().contains("without an LLM"));
}

#[tokio::test]
async fn wrong_requests_get_an_error_in_openai_shape() {
    let (server, client) = start(Duration::ZERO).await;
    let url = format!("{}/chat/completions", server.base_url());
    let call = json!({"id": "a", "type": "function", "function": {"name": "read_file", "arguments": "{}"}});
    let unanswered = json!({"role": "assistant", "content": null, "tool_calls": [call]});
    let orphan = json!({"role": "tool", "tool_call_id": "b", "content": "x"});
    for (body, says) in [
        (json!({"model": "m"}), "not a chat-completions request"),
        (json!({"model": "m", "messages": [], "tools": null}), "messages is empty"),
        (json!({"model": "m", "messages": [unanswered]}), "tool call 'a' has no result"),
        (json!({"model": "m", "messages": [orphan]}), "result of tool call 'b'"),
    ] {
        let (status, error) = post(&client, url.clone(), &body).await;
        assert_eq!((status, &error["error"]["type"]), (400, &json!("invalid_request_error")), "{body}");
        assert!(error["error"]["message"].as_str().unwrap().contains(says), "{error}");
    }
    assert_eq!(post(&client, format!("{}/moderations", server.base_url()), &json!({})).await.0, 404);
    assert_eq!(client.get(&url).send().await.unwrap().status(), 405);
}

#[tokio::test]
async fn embeddings_have_the_shape_of_openai_and_bring_like_to_like() {
    let (server, client) = start(Duration::ZERO).await;
    let url = format!("{}/embeddings", server.base_url());
    let texts = ["Invoices are kept for ten years.", "Keep invoices ten years", "The gate is locked at night."];
    let (status, body) = post(&client, url.clone(), &json!({"model": "e", "input": texts})).await;
    assert_eq!((status, &body["object"], &body["model"]), (200, &json!("list"), &json!("e")), "{body}");
    assert_eq!(body["usage"]["prompt_tokens"], body["usage"]["total_tokens"]);
    let data: Vec<Vec<f64>> = (0..texts.len())
        .map(|index| {
            let entry = &body["data"][index];
            assert_eq!((&entry["object"], &entry["index"]), (&json!("embedding"), &json!(index)));
            serde_json::from_value(entry["embedding"].clone()).unwrap()
        })
        .collect();
    let nearness = |a: usize, b: usize| data[a].iter().zip(&data[b]).map(|(a, b)| a * b).sum::<f64>();
    assert!(nearness(0, 1) > 2.0 * nearness(0, 2), "{} {}", nearness(0, 1), nearness(0, 2));

    let (_, one) = post(&client, url.clone(), &json!({"model": "e", "input": texts[0]})).await;
    assert_eq!(one["data"][0], body["data"][0], "a text alone has the same embedding");
    for body in [json!({"model": "e", "input": []}), json!({"model": "e", "input": ""}), json!({"model": "e"})] {
        let (status, error) = post(&client, url.clone(), &body).await;
        assert_eq!((status, &error["error"]["type"]), (400, &json!("invalid_request_error")), "{body}");
        assert!(error["error"]["message"].as_str().unwrap().contains("input"), "{error}");
    }
    assert_eq!(client.get(&url).send().await.unwrap().status(), 405);
}

#[tokio::test]
async fn a_request_of_many_megabytes_is_answered() {
    let (server, client) = start(Duration::ZERO).await;
    let mut request = strategic();
    request["messages"][0]["content"] = json!(format!("## The job\n\n{}", "long text ".repeat(800_000)));
    let (status, body) = post(&client, format!("{}/chat/completions", server.base_url()), &request).await;
    assert_eq!(status, 200);
    assert!(body["usage"]["prompt_tokens"].as_u64().unwrap() > 2_000_000);
}

#[tokio::test]
async fn the_delay_is_waited() {
    let delay = Duration::from_millis(60);
    let (server, client) = start(delay).await;
    let before = Instant::now();
    let (status, _) = post(&client, format!("{}/chat/completions", server.base_url()), &strategic()).await;
    assert_eq!(status, 200);
    assert!(before.elapsed() >= delay);
}

#[tokio::test]
async fn dropping_the_handle_ends_the_server() {
    let (server, client) = start(Duration::ZERO).await;
    let url = format!("{}/models", server.base_url());
    assert_eq!(client.get(&url).send().await.unwrap().status(), 200);
    server.shutdown().await.unwrap();
    assert!(client.get(&url).send().await.unwrap_err().is_connect());
}

/// The same request in the other protocols.
fn strategic_elsewhere(protocol: &str) -> Value {
    let chat = strategic();
    let (system, user) = (&chat["messages"][0]["content"], &chat["messages"][1]["content"]);
    let names = ["read_file", "list_files", "todo_write"];
    match protocol {
        "responses" => json!({
            "model": "some-model", "store": false, "instructions": system,
            "input": [{"type": "message", "role": "user", "content": user}],
            "tools": names.map(|name| json!({"type": "function", "name": name, "parameters": {}, "strict": false})),
        }),
        _ => json!({
            "model": "some-model", "max_tokens": 1000, "system": [{"type": "text", "text": system}],
            "messages": [{"role": "user", "content": [{"type": "text", "text": user}]}],
            "tools": names.map(|name| json!({"name": name, "input_schema": {"type": "object"}})),
        }),
    }
}

#[tokio::test]
async fn the_other_protocols_have_the_same_answer_plain_and_in_events() {
    let (server, client) = start(Duration::ZERO).await;
    for protocol in ["responses", "messages"] {
        let url = format!("{}/{protocol}", server.base_url());
        let mut request = strategic_elsewhere(protocol);
        let (status, body) = post(&client, url.clone(), &request).await;
        assert_eq!(status, 200, "{body}");
        let called = match protocol {
            "responses" => {
                let call =
                    body["output"].as_array().unwrap().iter().find(|item| item["type"] == "function_call").unwrap();
                serde_json::from_str(call["arguments"].as_str().unwrap()).unwrap()
            }
            _ => body["content"].as_array().unwrap().iter().find(|block| block["type"] == "tool_use").unwrap()["input"]
                .clone(),
        };
        assert_eq!(called, json!({"path": "instructions.md"}), "{protocol}");
        request["stream"] = true.into();
        let events = client.post(&url).body(request.to_string()).send().await.unwrap().text().await.unwrap();
        let last = events.trim_end().rsplit("\n\n").next().unwrap();
        match protocol {
            "responses" => {
                let (name, data) = last.split_once("\ndata: ").unwrap();
                let data: Value = serde_json::from_str(data).unwrap();
                assert_eq!((name, &data["response"]), ("event: response.completed", &body));
            }
            _ => assert_eq!(last, "event: message_stop\ndata: {\"type\":\"message_stop\"}"),
        }
    }
    server.shutdown().await.unwrap();
}

#[tokio::test]
async fn short_forms_of_the_other_protocols_are_read() {
    let (server, client) = start(Duration::ZERO).await;
    let user = json!([{"role": "user", "content": "Say yes."}]);
    for (protocol, request) in [
        ("responses", json!({"model": "m", "store": false, "input": user})),
        ("responses", json!({"model": "m", "store": false, "input": "Say yes.", "instructions": "Be short."})),
        ("messages", json!({"model": "m", "max_tokens": 1, "messages": user, "system": "Be short."})),
    ] {
        let (status, body) = post(&client, format!("{}/{protocol}", server.base_url()), &request).await;
        assert_eq!(status, 200, "{request}: {body}");
    }
    server.shutdown().await.unwrap();
}

#[tokio::test]
async fn what_the_other_protocols_refuse_is_refused() {
    let (server, client) = start(Duration::ZERO).await;
    let mut stored = strategic_elsewhere("responses");
    stored["store"] = true.into();
    let mut twice = strategic_elsewhere("messages");
    let turn = twice["messages"][0].clone();
    twice["messages"].as_array_mut().unwrap().push(turn);
    let mut unpaired = strategic_elsewhere("responses");
    let call = json!({"type": "function_call", "call_id": "a", "name": "read_file", "arguments": "{}"});
    unpaired["input"].as_array_mut().unwrap().push(call);
    for (protocol, request, says) in
        [("responses", stored, "store: false"), ("messages", twice, "alternate"), ("responses", unpaired, "no result")]
    {
        let (status, body) = post(&client, format!("{}/{protocol}", server.base_url()), &request).await;
        assert_eq!(status, 400, "{body}");
        assert!(body["error"]["message"].as_str().unwrap().contains(says), "{body}");
    }
    server.shutdown().await.unwrap();
}

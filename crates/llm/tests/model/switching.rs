//! A job whose model changes repeatedly: every request is checked against the rules of its endpoint (the numbers are
//! those of `src/QUIRKS.md`), with the built-in profiles.

use crate::double::{Said, body, check};
use crate::talk::{calling, message, now, request, result, tool};
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use plumbline_engine::{Message, ModelRequest, Purpose, Reply, RequestMessage, Role, ToolSpec};
use plumbline_llm::{Api, ApiKey, Learnt, ModelClient, ModelConfig, OutputCapField, Profile, ToolChoice};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};

/// An endpoint, and its deviations from the protocol.
struct Endpoint {
    /// Data in its answers that may be sent back only to it.
    name: &'static str,
    api: Api,
    /// Entries of `providers.json`, the general ones first.
    profiles: &'static [&'static str],
    /// The field with data to be sent back, in an answer of chat completions.
    put: fn(&mut Value, &str),
    /// Whether it accepts a message's fields and the whole request; removes its own fields, so that the rest is
    /// OpenAI's.
    takes: fn(&mut Value) -> Result<(), String>,
    /// Whether its data is sent back to it.
    hears_itself: bool,
}

const ENDPOINTS: [Endpoint; 8] = [
    Endpoint {
        name: "openai",
        api: Api::Responses,
        profiles: &["openai", "openai gpt-5"],
        put: |_, _| (),
        takes: |_| Ok(()),
        hears_itself: true,
    },
    Endpoint {
        name: "anthropic",
        api: Api::Messages,
        profiles: &["claude", "anthropic"],
        put: |_, _| (),
        takes: takes_anthropic,
        hears_itself: true,
    },
    Endpoint {
        name: "gemini",
        api: Api::Chat,
        profiles: &["gemini", "gemini 3"],
        put: put_signature,
        takes: takes_gemini,
        hears_itself: true,
    },
    Endpoint {
        name: "mistral",
        api: Api::Chat,
        profiles: &["mistral models elsewhere", "mistral"],
        put: put_thinking,
        takes: takes_mistral,
        hears_itself: false,
    },
    Endpoint {
        name: "deepseek",
        api: Api::Chat,
        profiles: &["deepseek"],
        put: |message, said| message["reasoning_content"] = said.into(),
        takes: takes_deepseek,
        hears_itself: true,
    },
    Endpoint {
        name: "moonshot",
        api: Api::Chat,
        profiles: &["kimi", "moonshot"],
        put: |message, said| message["reasoning_content"] = said.into(),
        takes: takes_moonshot,
        hears_itself: true,
    },
    Endpoint {
        name: "ollama",
        api: Api::Chat,
        profiles: &[],
        put: |message, said| message["reasoning"] = said.into(),
        takes: |request| take_off(request, "reasoning"),
        hears_itself: true,
    },
    Endpoint {
        name: "vllm",
        api: Api::Chat,
        profiles: &[],
        put: |message, said| message["reasoning"] = said.into(),
        takes: takes_vllm,
        hears_itself: true,
    },
];

fn messages_of(request: &mut Value) -> impl Iterator<Item = &mut Value> {
    request["messages"].as_array_mut().into_iter().flatten()
}

fn calls_of(message: &mut Value) -> impl Iterator<Item = &mut Value> {
    message.get_mut("tool_calls").and_then(Value::as_array_mut).into_iter().flatten()
}

fn refuse(refused: bool, why: impl std::fmt::Display) -> Result<(), String> {
    if refused { Err(why.to_string()) } else { Ok(()) }
}

/// The field that the endpoint accepts in addition to OpenAI's.
fn take_off(request: &mut Value, field: &str) -> Result<(), String> {
    for message in messages_of(request).filter(|message| message["role"] == "assistant") {
        if let Some(said) = message.as_object_mut().and_then(|message| message.remove(field)) {
            refuse(!said.is_string(), format!("`{field}` is no text: {said}"))?;
        }
    }
    Ok(())
}

/// Q44: tools are there when the history has calls.
fn takes_anthropic(request: &mut Value) -> Result<(), String> {
    let calls = request["messages"].to_string().contains("\"tool_use\"");
    refuse(calls && request.get("tools").is_none(), "calls without tools")
}

/// Q13: with the first of parallel calls.
fn put_signature(message: &mut Value, said: &str) {
    if let Some(first) = calls_of(message).next() {
        first["extra_content"] = json!({"google": {"thought_signature": said}});
    }
}

/// Q13: a foreign signature is refused, except the placeholder for calls of another model; and so is a first call
/// without one. Gemini checks only calls since the last user message, which does not help: a job has few user messages.
fn takes_gemini(request: &mut Value) -> Result<(), String> {
    for message in messages_of(request) {
        for (at, call) in calls_of(message).enumerate() {
            let extra = call.as_object_mut().and_then(|call| call.remove("extra_content"));
            let signature = extra.as_ref().map(|extra| &extra["google"]["thought_signature"]);
            let known = ["gemini", "skip_thought_signature_validator"];
            let is_known = |signature: &&Value| signature.as_str().is_some_and(|signature| known.contains(&signature));
            refuse(!signature.iter().all(is_known), "a signature of somebody else's")?;
            refuse(at == 0 && signature.is_none(), "Function call is missing a thought_signature")?;
        }
    }
    Ok(())
}

/// Its own blocks.
fn put_thinking(message: &mut Value, said: &str) {
    let text = message["content"].take();
    let thinking = json!({"type": "thinking", "thinking": [{"type": "text", "text": said}]});
    message["content"] = json!([thinking, {"type": "text", "text": text}]);
}

/// Q17, Q43; and it takes neither options of a stream nor OpenAI's newer name of the cap (422, `extra_forbidden`).
fn takes_mistral(request: &mut Value) -> Result<(), String> {
    for key in ["stream_options", "max_completion_tokens"] {
        refuse(request.get(key).is_some(), format!("extra_forbidden: {key}"))?;
    }
    let mut before = Value::Null;
    for message in messages_of(request) {
        refuse(before == "tool" && message["role"] == "user", "Unexpected role 'user' after role 'tool'")?;
        before = message["role"].clone();
        let called = calls_of(message).map(|call| call["id"].clone()).collect::<Vec<_>>();
        for id in called.iter().chain(message.get("tool_call_id")).map(|id| id.as_str().unwrap_or_default()) {
            let fits = id.len() == 9 && id.bytes().all(|byte| byte.is_ascii_alphanumeric());
            refuse(!fits, format!("Tool call id was {id} but must be a-z, A-Z, 0-9, with a length of 9"))?;
        }
    }
    Ok(())
}

/// Q11: with every answer, empty where it thought nothing.
fn takes_deepseek(request: &mut Value) -> Result<(), String> {
    let is_mute = |message: &mut Value| message["role"] == "assistant" && !message["reasoning_content"].is_string();
    let missing = messages_of(request).any(is_mute);
    refuse(missing, "The `reasoning_content` in the thinking mode must be passed back to the API.")?;
    take_off(request, "reasoning_content")
}

/// Q20, Q42: ids by name and index, and no forced calls.
fn takes_moonshot(request: &mut Value) -> Result<(), String> {
    refuse(request["tool_choice"] == "required", "tool_choice 'required' is not supported")?;
    let calls = messages_of(request).flat_map(calls_of);
    for (place, call) in calls.enumerate() {
        let wanted = format!("functions.{}:{place}", call["function"]["name"].as_str().unwrap_or_default());
        refuse(call["id"] != wanted.as_str(), format!("{} in place of {wanted}", call["id"]))?;
    }
    take_off(request, "reasoning_content")
}

/// Q48: one system message, and it begins.
fn takes_vllm(request: &mut Value) -> Result<(), String> {
    let late = messages_of(request).skip(1).any(|message| message["role"] == "system");
    refuse(late, "System message must be at the beginning.")?;
    take_off(request, "reasoning")
}

/// A running endpoint.
struct Running {
    endpoint: &'static Endpoint,
    seen: Mutex<Vec<Value>>,
}

fn said(endpoint: &Endpoint) -> Said {
    let calls = vec![("p1", "read_file", r#"{"path":"a.md"}"#), ("p2", "read_file", r#"{"path":"b.md"}"#)];
    Said { secret: Some(endpoint.name), text: "I read both.", calls, ..Said::default() }
}

fn answer_of(endpoint: &Endpoint) -> Value {
    let mut answer = body(endpoint.api, &said(endpoint));
    if endpoint.api == Api::Chat {
        let message = &mut answer["choices"][0]["message"];
        message.as_object_mut().map(|message| message.remove("reasoning_content"));
        (endpoint.put)(message, endpoint.name);
    }
    answer
}

/// The data of an endpoint in this request, by the mark in its answers.
fn mark(endpoint: &Endpoint) -> String {
    format!("\"{}\"", endpoint.name)
}

fn judge(running: &Running, uri: &Uri, headers: &HeaderMap, request: &Value) -> Result<(), String> {
    let text = request.to_string();
    for other in ENDPOINTS.iter().filter(|other| other.name != running.endpoint.name) {
        refuse(text.contains(&mark(other)), format!("it has what {} said", other.name))?;
    }
    let been_here = running.seen.lock().unwrap().len() > 1;
    let missing = been_here && running.endpoint.hears_itself && !text.contains(&mark(running.endpoint));
    refuse(missing, "what came from here is missing")?;
    let mut request = request.clone();
    (running.endpoint.takes)(&mut request)?;
    check(running.endpoint.api, uri.path(), headers, &request)
}

async fn answer(State(running): State<Arc<Running>>, uri: Uri, headers: HeaderMap, body: Bytes) -> Response {
    let request: Value = serde_json::from_slice(&body).unwrap();
    running.seen.lock().unwrap().push(request.clone());
    match judge(&running, &uri, &headers, &request) {
        Ok(()) => answer_of(running.endpoint).to_string().into_response(),
        Err(fault) => (StatusCode::BAD_REQUEST, json!({"error": {"message": fault}}).to_string()).into_response(),
    }
}

/// The profile that is built in for an endpoint, key by key, and the field of the cap.
fn profile(names: &[&str]) -> (Profile, OutputCapField) {
    let file: Value = serde_json::from_str(include_str!("../../../../configs/providers.json")).unwrap();
    let mut keys = json!({});
    for name in names {
        let entry = file["profiles"].as_array().unwrap().iter().find(|entry| entry["name"] == *name).unwrap();
        keys.as_object_mut().unwrap().extend(entry.as_object().unwrap().clone());
    }
    let cap = match keys["output_cap"].as_str() {
        Some("max_completion_tokens") => OutputCapField::MaxCompletionTokens,
        _ => OutputCapField::MaxTokens,
    };
    (serde_json::from_value(keys).unwrap(), cap)
}

/// A job's client for an endpoint under these profiles, and the endpoint.
async fn start(endpoint: &'static Endpoint, profiles: &[&str]) -> (ModelClient, Arc<Running>) {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let mut config = ModelConfig::new(format!("http://{}/v1", listener.local_addr().unwrap()), "test-model");
    let running = Arc::new(Running { endpoint, seen: Mutex::default() });
    let router = axum::Router::new().fallback(answer).with_state(Arc::clone(&running));
    tokio::spawn(async move { axum::serve(listener, router).await });
    (config.profile, config.output_cap) = profile(profiles);
    config.profile.api = Some(endpoint.api);
    config.api_key = ApiKey::new("sk-test");
    config.tool_choice = ToolChoice::Required;
    (ModelClient::new(config).unwrap(), running)
}

async fn ask(client: &ModelClient, learnt: &Learnt, request: ModelRequest<'_>) -> Reply {
    let asked = client.call(request.clone(), || request.clone(), now, learnt).await;
    asked.unwrap_or_else(|failure| panic!("{}", failure.message))
}

/// A turn as the engine keeps it.
fn keep(messages: &mut Vec<Message>, reply: &Reply) {
    let seq = messages.len() as i64 + 1;
    let ids: Vec<String> = (1..=reply.tool_calls.len()).map(|n| format!("call_{seq}_{n}")).collect();
    let calls = ids.iter().zip(&reply.tool_calls);
    let calls: Vec<_> = calls.map(|(id, call)| (id.as_str(), call.name.as_str(), call.arguments.as_str())).collect();
    messages.push(Message { extra: reply.extra.clone(), ..calling(seq, &reply.content, &calls) });
    for id in &ids {
        messages.push(result(messages.len() as i64 + 1, id, "what the tool says"));
    }
}

fn with_todo_list<'a>(messages: &[Message], tools: &'a [ToolSpec]) -> ModelRequest<'a> {
    let mut asked = request(messages, tools);
    asked.messages.push(RequestMessage::User("the todo list".into()));
    asked
}

#[tokio::test]
async fn a_model_that_is_changed_in_the_middle_of_a_job_is_refused_nothing() {
    let mut clients = Vec::new();
    for endpoint in &ENDPOINTS {
        clients.push(start(endpoint, endpoint.profiles).await);
    }
    let mut messages = vec![message(1, Role::System, "You work."), message(2, Role::User, "Begin.")];
    let (tools, learnt) = ([tool("read_file"), tool("todo_complete")], Learnt::default());
    // Forwards, backwards and forwards again: each endpoint follows each neighbour, and gets its own data back.
    let order = (0..clients.len()).chain((0..clients.len()).rev()).chain(0..clients.len());
    for at in order {
        let reply = ask(&clients[at].0, &learnt, with_todo_list(&messages, &tools)).await;
        let name = ENDPOINTS[at].name;
        assert_eq!((reply.content.as_str(), reply.tool_calls.len()), ("I read both.", 2), "{name}");
        keep(&mut messages, &reply);
    }
    // A summary of all that, by each.
    for (client, running) in &clients {
        let mut asked = request(&messages, &[]);
        asked.purpose = Purpose::Summary;
        asked.messages.push(RequestMessage::User("Sum it up.".into()));
        ask(client, &learnt, asked).await;
        assert_eq!(running.seen.lock().unwrap().len(), 4, "{}: each was asked once a turn", running.endpoint.name);
    }
    assert_eq!(learnt.lessons(), 0, "nothing had to be learnt by being refused");
}

/// The test above depends on the profiles: without them, endpoints with deviations refuse.
#[tokio::test]
async fn without_its_profile_an_endpoint_of_its_own_ways_refuses() {
    let mut messages = vec![message(1, Role::System, "You work."), message(2, Role::User, "Begin.")];
    let (tools, learnt) = ([tool("read_file")], Learnt::default());
    let (client, _running) = start(&ENDPOINTS[0], ENDPOINTS[0].profiles).await;
    let reply = ask(&client, &learnt, with_todo_list(&messages, &tools)).await;
    keep(&mut messages, &reply);
    let mut refusing = Vec::new();
    for endpoint in &ENDPOINTS {
        let (client, _running) = start(endpoint, &[]).await;
        let asked = || with_todo_list(&messages, &tools);
        if client.call(asked(), asked, now, &learnt).await.is_err() {
            refusing.push(endpoint.name);
        }
    }
    assert_eq!(refusing, ["gemini", "mistral", "deepseek", "moonshot"]);
}

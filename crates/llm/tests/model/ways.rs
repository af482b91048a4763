//! Deviations of endpoints: from their profiles, and from their own refusals.

use crate::double::{APIS, Double, Said};
use crate::server::Server;
use crate::talk::{calling, completion, message, now, request, result, tool};
use axum::http::StatusCode;
use axum::response::IntoResponse;
use plumbline_engine::{FailureClass, Message, RequestMessage, Role};
use plumbline_llm::{
    Api, ApiKey, Learnt, ModelClient, ModelConfig, ModelList, Profile, ReasoningEcho, Streaming, ToolCallIds,
    answers_as, has_taught, list_models, request_body,
};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

fn conversation() -> Vec<Message> {
    let mut thoughtful = calling(3, "", &[("call_3_1", "read_file", "{}"), ("call_3_2", "list_files", "{}")]);
    thoughtful.extra.insert("reasoning_content".into(), "hm".into());
    vec![
        message(1, Role::System, "You work."),
        message(2, Role::User, "Begin."),
        thoughtful,
        result(4, "call_3_1", "one"),
        result(5, "call_3_2", "two"),
        calling(6, "Next.", &[("call_6_1", "read_file", "{}")]),
        result(7, "call_6_1", "three"),
    ]
}

/// The body under a profile, with the todo list at its end.
fn body(profile: Profile) -> Value {
    let mut config = ModelConfig::new("http://127.0.0.1:1/v1", "m");
    config.profile = profile;
    let (messages, tools) = (conversation(), [tool("read_file")]);
    let mut request = request(&messages, &tools);
    request.messages.push(RequestMessage::User("todo list".into()));
    serde_json::from_slice(&request_body(&config, &request)).unwrap()
}

#[test]
fn ids_have_the_form_that_the_model_wants() {
    for (form, expected) in [
        (ToolCallIds::Plain, ["call_3_1", "call_3_2", "call_6_1"]),
        (ToolCallIds::FunctionsIndex, ["functions.read_file:0", "functions.list_files:1", "functions.read_file:2"]),
        (ToolCallIds::Alnum9, ["000000000", "000000001", "000000002"]),
    ] {
        let body = body(Profile { tool_call_id: form, ..Profile::default() });
        let messages = body["messages"].as_array().unwrap();
        let calls = messages.iter().flat_map(|message| message["tool_calls"].as_array().into_iter().flatten());
        let called: Vec<&str> = calls.map(|call| call["id"].as_str().unwrap()).collect();
        let answered: Vec<&str> = messages.iter().filter_map(|message| message["tool_call_id"].as_str()).collect();
        assert_eq!((called.as_slice(), answered.as_slice()), (&expected[..], &expected[..]));
    }
}

#[test]
fn reasoning_goes_back_as_the_endpoint_wants_it() {
    let reasoning = |profile: Profile| {
        let body = body(profile);
        let of = |place: usize| {
            let message = &body["messages"][place];
            ["reasoning_content", "reasoning"].map(|key| message.get(key).and_then(Value::as_str).map(str::to_owned))
        };
        [of(2), of(5)]
    };
    let text = |text: &str| Some(text.to_owned());
    let default = Profile::default;
    assert_eq!(reasoning(default()), [[text("hm"), None], [None, None]]);
    let never = Profile { reasoning_echo: ReasoningEcho::Never, ..default() };
    assert_eq!(reasoning(never), [[None, None], [None, None]]);
    let empty = Profile { reasoning_echo: ReasoningEcho::EmptyString, ..default() };
    assert_eq!(reasoning(empty), [[text("hm"), None], [text(""), None]]);
    let renamed = Profile { reasoning_field: Some("reasoning".into()), ..default() };
    assert_eq!(reasoning(renamed), [[None, text("hm")], [None, None]]);
}

#[test]
fn reasoning_of_another_model_or_endpoint_goes_along_only_where_it_always_does() {
    for (echo, goes) in [(ReasoningEcho::SameEndpoint, false), (ReasoningEcho::Always, true)] {
        for (origin, same_protocol) in [
            ("chat https://elsewhere.example/v1 m", true),
            ("chat http://127.0.0.1:1/v1 elsewhere", true),
            ("chat http://127.0.0.1:1/elsewhere/v1 m", true),
            ("messages https://elsewhere.example/v1 m", false),
            // In the earlier stored form without the model.
            ("chat http://127.0.0.1:1", true),
        ] {
            let mut messages = conversation();
            messages[2].extra.insert("origin".into(), origin.into());
            let mut config = ModelConfig::new("http://127.0.0.1:1/v1", "m");
            config.profile.reasoning_echo = echo;
            let body = request_body(&config, &request(&messages, &[]));
            let body = String::from_utf8(body).unwrap();
            assert_eq!(body.contains("\"hm\""), goes && same_protocol, "{echo:?} {origin}");
            assert!(!body.contains("elsewhere"), "{body}");
        }
    }
    let mut messages = conversation();
    messages[2].extra.insert("origin".into(), "chat http://127.0.0.1:1/v1 m".into());
    let config = ModelConfig::new("http://user:word@127.0.0.1:1/v1/?version=1", "m");
    let body = String::from_utf8(request_body(&config, &request(&messages, &[]))).unwrap();
    assert!(body.contains("\"hm\""), "its own: {body}");
}

#[test]
fn a_user_does_not_follow_on_results_where_that_is_refused() {
    let roles = |profile: Profile| -> Vec<String> {
        let body = body(profile);
        body["messages"].as_array().unwrap().iter().map(|m| m["role"].as_str().unwrap().to_owned()).collect()
    };
    let bridged = Profile { user_after_tool: false, ..Profile::default() };
    assert_eq!(roles(Profile::default())[6..], ["tool", "user"]);
    assert_eq!(roles(bridged)[6..], ["tool", "assistant", "user"]);
}

#[test]
fn there_is_one_system_message_where_no_other_is_taken() {
    let mut config = ModelConfig::new("http://127.0.0.1:1/v1", "m");
    config.profile.system_in_middle = false;
    let messages = conversation();
    let mut request = request(&messages, &[]);
    request.messages.insert(1, RequestMessage::System("todo list".into()));
    let body: Value = serde_json::from_slice(&request_body(&config, &request)).unwrap();
    assert_eq!(body["messages"][1], json!({"role": "user", "content": "todo list"}));
}

#[test]
fn tools_are_named_for_a_summary_where_the_endpoint_wants_them() {
    let mut config = ModelConfig::new("http://127.0.0.1:1/v1", "m");
    let messages = conversation();
    let body = |config: &ModelConfig| -> Value {
        serde_json::from_slice(&request_body(config, &request(&messages, &[]))).unwrap()
    };
    assert!(body(&config).get("tools").is_none());
    config.profile.tools_in_summary = true;
    let named = body(&config);
    let names: Vec<&str> =
        named["tools"].as_array().unwrap().iter().map(|tool| tool["function"]["name"].as_str().unwrap()).collect();
    assert_eq!((names.as_slice(), named["tool_choice"].as_str()), (&["read_file", "list_files"][..], Some("none")));
}

/// A key in another protocol's header is not a key.
#[tokio::test]
async fn an_endpoint_is_asked_for_its_models_in_its_own_protocol() {
    for (api, header, value) in [
        (Api::Chat, "authorization", "Bearer sk-test"),
        (Api::Responses, "authorization", "Bearer sk-test"),
        (Api::Messages, "x-api-key", "sk-test"),
    ] {
        let server = Server::saying(200, json!({"data": [{"id": "one"}]}).to_string()).await;
        let (key, patience) = (ApiKey::new("sk-test"), std::time::Duration::from_secs(60));
        let found = list_models(&server.base_url, api, key.as_ref(), patience).await.unwrap();
        assert_eq!(found, ModelList::Models(vec!["one".into()]));
        assert!(answers_as(&server.base_url, api, "two", key.as_ref(), patience).await);
        let seen = server.seen();
        assert!(seen.iter().all(|seen| seen.headers[header] == value), "{api:?}");
        let paths: Vec<&str> = seen.iter().map(|seen| seen.path.as_str()).collect();
        assert_eq!(paths, ["/v1/models".to_owned(), format!("/v1{}", api.path())], "{api:?}");
    }
}

/// The results of a client with this configuration for consecutive answers of a server; a failure with a lesson has no
/// class here.
async fn asked(
    server: &Server,
    configure: impl FnOnce(&mut ModelConfig),
    times: usize,
) -> Vec<Result<String, Option<FailureClass>>> {
    let mut config = ModelConfig::new(&server.base_url, "m");
    configure(&mut config);
    let (client, learnt) = (ModelClient::new(config).unwrap(), Learnt::default());
    let messages = [message(1, Role::User, "hello")];
    let mut outcomes = Vec::new();
    for _ in 0..times {
        let asked = || request(&messages, &[]);
        let answer = client.call(asked(), asked, now, &learnt).await;
        outcomes.push(answer.map(|reply| reply.content).map_err(|failure| {
            assert_eq!(failure.learnt, has_taught(&failure.message), "a recording knows it by its words");
            if failure.learnt { None } else { Some(failure.class) }
        }));
    }
    outcomes
}

/// Refuses the first request and answers the others.
async fn refusing_once(words: &'static str, then: Value) -> Server {
    let asked = AtomicUsize::new(0);
    Server::start(move || match asked.fetch_add(1, SeqCst) {
        0 => (StatusCode::BAD_REQUEST, json!({"error": {"message": words}}).to_string()).into_response(),
        _ => then.to_string().into_response(),
    })
    .await
}

const USE_RESPONSES: &str = "Function tools with reasoning_effort are not supported for gpt-5.6-sol in /v1/chat/completions. To use \
                             function tools, use /v1/responses or set reasoning_effort to 'none'.";

#[tokio::test]
async fn the_protocol_is_changed_once_where_the_endpoint_asks_for_another() {
    let said = crate::double::body(Api::Responses, &Said { text: "ok", ..Said::default() });
    let server = refusing_once(USE_RESPONSES, said.clone()).await;
    let outcomes = asked(&server, |_| (), 3).await;
    assert_eq!(outcomes, [Err(None), Ok("ok".into()), Ok("ok".into())]);
    let paths: Vec<String> = server.seen().into_iter().map(|seen| seen.path).collect();
    assert_eq!(paths, ["/v1/chat/completions", "/v1/responses", "/v1/responses"]);
    // With an explicit choice, it is not changed.
    let server = refusing_once(USE_RESPONSES, said).await;
    let outcomes = asked(&server, |config| config.api = Some(Api::Chat), 1).await;
    assert_eq!(outcomes, [Err(Some(FailureClass::Permanent))]);
}

#[tokio::test]
async fn an_endpoint_that_refuses_streams_gets_plain_requests_from_then_on() {
    let plain = completion(json!({"content": "ok"}), "stop");
    let words = "Your organization must be verified to stream this model.";
    let server = refusing_once(words, plain.clone()).await;
    assert_eq!(asked(&server, |_| (), 3).await, [Err(None), Ok("ok".into()), Ok("ok".into())]);
    let streamed: Vec<bool> = server.seen().iter().map(|seen| seen.body.contains("\"stream\":true")).collect();
    assert_eq!(streamed, [true, false, false]);
    let server = refusing_once(words, plain).await;
    assert_eq!(asked(&server, |config| config.stream = Streaming::On, 1).await, [Err(Some(FailureClass::Permanent))]);
}

/// Aggregators, and any stream that has begun, refuse inside an answer.
#[tokio::test]
async fn a_refusal_inside_an_answer_teaches_as_well() {
    let plain = completion(json!({"content": "ok"}), "stop").to_string();
    let words = "messages.2: property 'reasoning_content' is unsupported";
    for error in [
        json!({"error": {"code": 400, "message": words}}).to_string(),
        format!("data: {}\n\n", json!({"error": {"type": "invalid_request_error", "message": words}})),
    ] {
        let (then, times) = (plain.clone(), AtomicUsize::new(0));
        let server = Server::start(move || match times.fetch_add(1, SeqCst) {
            0 => error.clone().into_response(),
            _ => then.clone().into_response(),
        })
        .await;
        assert_eq!(asked(&server, |_| (), 2).await, [Err(None), Ok("ok".into())]);
    }
}

#[tokio::test]
async fn a_profile_says_the_protocol_where_the_configuration_leaves_it_open() {
    for api in APIS {
        let double = Double::saying(api, [Said { text: "ok", ..Said::default() }]).await;
        let mut config = double.config();
        (config.api, config.profile.api) = (None, Some(api));
        let (client, learnt) = (ModelClient::new(config).unwrap(), Learnt::default());
        let messages = [message(1, Role::User, "hello")];
        let asked = || request(&messages, &[]);
        assert_eq!(client.call(asked(), asked, now, &learnt).await.unwrap().content, "ok", "{api:?}");
    }
}

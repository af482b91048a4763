//! Refusals of request fields, in the words of providers: each is learnt once, and the job continues.

use crate::double::{APIS, Said, body};
use crate::server::Server;
use crate::talk::{calling, completion, message, now, request, result, tool};
use axum::http::StatusCode;
use axum::response::IntoResponse;
use plumbline_engine::{FailureClass, Message, Role};
use plumbline_llm::{Api, Learnt, ModelClient, ModelConfig, OutputCapField, has_taught};
use serde_json::{Value, json};

/// A job's conversation that continues after a lesson, like the engine's.
struct Talk {
    client: ModelClient,
    learnt: Learnt,
    messages: Vec<Message>,
    /// The sentence about the lesson.
    taught: Vec<String>,
}

impl Talk {
    fn new(server: &Server, configure: impl FnOnce(&mut ModelConfig)) -> Self {
        let mut config = ModelConfig::new(&server.base_url, "m");
        configure(&mut config);
        let messages = vec![message(1, Role::System, "You work."), message(2, Role::User, "Begin.")];
        Self { client: ModelClient::new(config).unwrap(), learnt: Learnt::default(), messages, taught: Vec::new() }
    }

    /// Asks until it is answered or refused for good; a call is answered.
    async fn turn(&mut self) -> Result<(), (FailureClass, String)> {
        let tools = [tool("read_file")];
        loop {
            let asked = || request(&self.messages, &tools);
            match self.client.call(asked(), asked, now, &self.learnt).await {
                Ok(reply) => {
                    let seq = self.messages.len() as i64 + 1;
                    let id = format!("call_{seq}_1");
                    let calls: Vec<(&str, &str, &str)> =
                        reply.tool_calls.iter().map(|call| (&*id, &*call.name, &*call.arguments)).collect();
                    self.messages.push(Message { extra: reply.extra.clone(), ..calling(seq, &reply.content, &calls) });
                    if !calls.is_empty() {
                        self.messages.push(result(seq + 1, &id, "what the tool says"));
                    }
                    return Ok(());
                }
                Err(failure) if failure.learnt => {
                    assert!(has_taught(&failure.message), "{}", failure.message);
                    self.taught.push(failure.message);
                }
                Err(failure) => return Err((failure.class, failure.message)),
            }
        }
    }
}

fn refused(status: u16, body: String) -> axum::response::Response {
    (StatusCode::from_u16(status).unwrap(), body).into_response()
}

/// The path of a value in a request, e.g. `messages[2].reasoning`.
fn place_of(request: &Value, field: &str) -> Option<usize> {
    let messages = request["messages"].as_array()?;
    messages.iter().position(|message| message.get(field).is_some())
}

/// How providers refuse a field of a message.
fn wordings(field: &str, at: usize) -> [(u16, String); 6] {
    let said = |words: String| json!({"error": {"message": words, "type": "invalid_request_error"}}).to_string();
    [
        (400, said(format!("'messages.{at}' : for 'role:assistant' the following must be satisfied[('messages.{at}' : property '{field}' is unsupported)]"))),
        (422, json!({"object": "error", "message": {"detail": [{"type": "extra_forbidden", "loc": ["body", "messages", at, "assistant", field], "msg": "Extra inputs are not permitted"}]}}).to_string()),
        (400, said(format!("Extra inputs are not permitted, field: 'messages[{at}].{field}', value: 'I think'"))),
        (400, said(format!("Unknown parameter: 'messages[{at}].{field}'."))),
        (400, json!({"error": {"message": "Unknown parameter", "param": format!("messages[{at}].{field}")}}).to_string()),
        (400, format!("Unrecognized request argument supplied: {field}")),
    ]
}

#[tokio::test]
async fn a_field_of_the_providers_that_it_refuses_back_is_left_out_from_then_on() {
    for (field, value) in [
        ("reasoning", json!("I think")),
        ("reasoning_content", json!("I think")),
        ("channel", json!("analysis")),
        ("provider_specific_fields", json!({"refusal": "none"})),
        ("citations", json!(["a"])),
        ("thinking_blocks", json!([{"type": "thinking", "thinking": "I think", "signature": "s"}])),
    ] {
        for wording in 0..wordings(field, 0).len() {
            let value = value.clone();
            let server = Server::judging(move |body| {
                let request: Value = serde_json::from_str(body).unwrap();
                if let Some(at) = place_of(&request, field) {
                    let (status, body) = wordings(field, at)[wording].clone();
                    return refused(status, body);
                }
                let call = json!({"id": "p", "type": "function", "function": {"name": "read_file", "arguments": "{}"}});
                completion(json!({"content": "", "tool_calls": [call], field: value, "kept": "it"}), "tool_calls")
                    .to_string()
                    .into_response()
            })
            .await;
            let mut talk = Talk::new(&server, |_| ());
            for _ in 0..3 {
                talk.turn().await.unwrap_or_else(|failed| panic!("{field} {wording}: {failed:?}"));
            }
            assert_eq!(talk.taught.len(), 1, "{field} {wording}: {:?}", talk.taught);
            let last = server.seen().pop().unwrap().body;
            assert!(last.contains(r#""kept":"it""#), "{field} {wording}: what is taken still goes back");
        }
    }
}

/// The same in blocks and items: a field of theirs is left out, and without one that an item cannot miss nothing goes back.
#[tokio::test]
async fn a_field_of_an_item_that_is_refused_is_left_out() {
    for (api, field) in [(Api::Responses, "phase"), (Api::Responses, "encrypted_content"), (Api::Messages, "signature")]
    {
        let list = if api == Api::Responses { "input" } else { "messages" };
        let server = Server::judging(move |text| {
            let request: Value = serde_json::from_str(text).unwrap();
            let items = request[list].as_array().unwrap();
            if let Some(at) = items.iter().position(|item| item.to_string().contains(&format!("\"{field}\""))) {
                let words = format!("Unknown parameter: '{list}[{at}].{field}'.");
                return refused(400, json!({"error": {"message": words}}).to_string());
            }
            let calls = vec![("p", "read_file", "{}")];
            body(api, &Said { secret: Some("s3cr3t"), text: "I read.", calls, ..Said::default() })
                .to_string()
                .into_response()
        })
        .await;
        let mut talk = Talk::new(&server, |config| config.api = Some(api));
        for _ in 0..3 {
            talk.turn().await.unwrap_or_else(|failed| panic!("{api:?} {field}: {failed:?}"));
        }
        assert_eq!(talk.taught.len(), 1, "{api:?} {field}: {:?}", talk.taught);
        let still = server.seen().pop().unwrap().body.contains("s3cr3t");
        assert_eq!(still, field == "phase", "{api:?} {field}");
    }
}

/// Nothing that is known is at fault: the turn that is named goes as text, once.
#[tokio::test]
async fn a_turn_that_a_provider_finds_fault_with_goes_as_text_before_the_job_fails() {
    for api in APIS {
        let list = if api == Api::Responses { "input" } else { "messages" };
        for is_cured in [true, false] {
            let server = Server::judging(move |text| {
                let request: Value = serde_json::from_str(text).unwrap();
                let items = request[list].as_array().unwrap();
                let is_faulty = |item: &Value| item.to_string().contains("read_file") && (!is_cured || has_call(item));
                if let Some(at) = items.iter().position(is_faulty) {
                    let words = format!("Invalid '{list}[{at}]': the value is not as expected");
                    return refused(400, json!({"error": {"message": words}}).to_string());
                }
                let calls = vec![("p", "read_file", r#"{"path":"a"}"#)];
                body(api, &Said { text: "I read.", calls, ..Said::default() }).to_string().into_response()
            })
            .await;
            let mut talk = Talk::new(&server, |config| config.api = Some(api));
            talk.turn().await.unwrap();
            let asked = talk.turn().await;
            assert_eq!(asked.is_ok(), is_cured, "{api:?}: {asked:?}");
            assert_eq!(talk.taught.len(), 1, "{api:?}: {:?}", talk.taught);
            let last = server.seen().pop().unwrap().body;
            for told in ["I read.", "called read_file with", "result of read_file", "what the tool says"] {
                assert!(last.contains(told), "{api:?}: {told} is not told in {last}");
            }
        }
    }
}

fn has_call(item: &Value) -> bool {
    ["\"tool_calls\"", "\"tool_use\"", "\"function_call\""].iter().any(|kind| item.to_string().contains(kind))
}

/// A setting that is refused with its cure is sent otherwise, and nothing else is.
#[tokio::test]
async fn a_setting_that_is_refused_with_its_cure_is_sent_as_it_is_taken() {
    type Case = (Api, fn(&Value) -> Option<&'static str>, fn(&Value) -> bool);
    let cases: [Case; 6] = [
        (
            Api::Chat,
            |sent| {
                sent.get("max_tokens")
                    .map(|_| "max_tokens is not supported with this model. Use max_completion_tokens instead.")
            },
            |sent| sent["max_completion_tokens"] == 100,
        ),
        (
            Api::Chat,
            |sent| {
                sent.get("temperature")
                    .map(|_| "temperature does not support 0.2. Only the default (1) value is supported.")
            },
            |sent| sent["reasoning_effort"] == "minimal",
        ),
        (
            Api::Responses,
            |sent| {
                (sent["reasoning"]["effort"] == "minimal")
                    .then_some("Reasoning effort 'minimal' is not supported: low, medium, high")
            },
            |sent| sent["reasoning"]["effort"] == "low",
        ),
        (
            Api::Chat,
            |sent| (sent["max_tokens"] == 100).then_some("max_tokens: 100 > 40, which is the maximum"),
            |sent| sent["max_tokens"] == 40,
        ),
        (
            Api::Messages,
            |sent| sent.get("temperature").map(|_| "`temperature` may only be set to 1 when thinking is enabled"),
            |sent| sent["output_config"]["effort"] == "minimal",
        ),
        (
            Api::Messages,
            |sent| {
                (sent["max_tokens"] == 100)
                    .then_some("max_tokens: 100 > 50, the maximum allowed number of output tokens")
            },
            |sent| sent["max_tokens"] == 50,
        ),
    ];
    for (api, refuses, is_as_taken) in cases {
        let server = Server::judging(move |text| match refuses(&serde_json::from_str(text).unwrap()) {
            Some(words) => refused(400, json!({"error": {"message": words}}).to_string()),
            None => body(api, &Said { text: "ok", ..Said::default() }).to_string().into_response(),
        })
        .await;
        let mut talk = Talk::new(&server, |config| {
            (config.api, config.temperature, config.reasoning_level) = (Some(api), Some(0.2), Some("minimal".into()));
            config.output_cap = OutputCapField::MaxTokens;
        });
        for _ in 0..2 {
            talk.turn().await.unwrap_or_else(|failed| panic!("{api:?}: {failed:?}"));
        }
        let sent: Value = serde_json::from_str(&server.seen().pop().unwrap().body).unwrap();
        assert!(is_as_taken(&sent), "{api:?}: {sent}");
        assert_eq!((talk.taught.len(), server.seen().len()), (1, 3), "{api:?}: {:?}", talk.taught);
    }
}

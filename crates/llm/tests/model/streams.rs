//! Answers that come in pieces: whole, or not at all.

use crate::double::{APIS, Said, error_event, events};
use crate::server::Server;
use crate::talk::{ask, completion, message, now, request};
use axum::body::{Body, Bytes};
use axum::response::IntoResponse;
use futures_util::{StreamExt, stream};
use plumbline_engine::{Failure, FailureClass, FinishReason, Reply, Role};
use plumbline_llm::{Api, Learnt, ModelClient, ModelConfig, Streaming, Timeouts};
use serde_json::{Value, json};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::Duration;

fn said() -> Said {
    Said {
        secret: Some("s3cr3t"),
        text: "Grüße",
        calls: vec![("p1", "read_file", r#"{"path":"a"}"#), ("p2", "list_files", "{}")],
        ..Said::default()
    }
}

async fn reply_to(api: Api, body: impl Into<Bytes>) -> Result<Reply, Box<Failure>> {
    let body: Bytes = body.into();
    let server = Server::start(move || body.clone().into_response()).await;
    let mut config = ModelConfig::new(&server.base_url, "m");
    config.api = Some(api);
    ask(config).await
}

/// The part that must be equal for all deliveries.
fn heard(reply: &Reply) -> (String, Vec<(String, String)>, FinishReason, Value) {
    let calls = reply.tool_calls.iter().map(|call| (call.name.clone(), call.arguments.clone())).collect();
    let mut extra = Value::Object(reply.extra.clone());
    extra["origin"] = Value::Null;
    (reply.content.clone(), calls, reply.finish, extra)
}

#[tokio::test]
async fn a_stream_says_what_the_plain_answer_says() {
    for api in APIS {
        let plain = reply_to(api, crate::double::body(api, &said()).to_string()).await.unwrap();
        let streamed = reply_to(api, events(api, &said())).await.unwrap();
        assert_eq!(heard(&plain), heard(&streamed), "{api:?}");
        assert_eq!(plain.record.raw_usage, streamed.record.raw_usage, "{api:?}");
        assert_eq!(plain.record.finish_reason, streamed.record.finish_reason, "{api:?}");
    }
}

/// As short as one with everything in it can be: it is cut at every byte.
fn short() -> Said {
    Said { secret: Some("s"), text: "ü", calls: vec![("p", "t", r#"{"a":1}"#)], ..Said::default() }
}

/// A server that gives the first so many bytes of a stream and then ends it, properly or not.
struct Cutting {
    config: ModelConfig,
    at: Arc<AtomicUsize>,
}

impl Cutting {
    async fn new(api: Api, properly: bool) -> (Self, usize) {
        let whole = events(api, &short());
        let (at, length) = (Arc::new(AtomicUsize::new(0)), whole.len());
        let cut = at.clone();
        let server = Server::start(move || {
            let part = Bytes::copy_from_slice(&whole.as_bytes()[..cut.load(SeqCst)]);
            let end = (!properly).then(|| Err(io::Error::other("cut")));
            Body::from_stream(stream::iter([Ok(part)].into_iter().chain(end))).into_response()
        })
        .await;
        let mut config = ModelConfig::new(&server.base_url, "m");
        config.api = Some(api);
        (Self { config, at }, length)
    }
}

#[tokio::test]
async fn a_stream_that_is_cut_is_tried_again_or_whole() {
    for api in APIS {
        let whole = heard(&reply_to(api, events(api, &short())).await.unwrap());
        // Every byte where the end looks like an end, every seventh where it does not.
        for (properly, step) in [(true, 1), (false, 7)] {
            let (server, length) = Cutting::new(api, properly).await;
            let client = ModelClient::new(server.config.clone()).unwrap();
            let messages = [message(1, Role::User, "hello")];
            let (mut again, mut wholes) = (0, 0);
            for at in (0..=length).step_by(step) {
                server.at.store(at, SeqCst);
                let asked = || request(&messages, &[]);
                match client.call(asked(), asked, now, &Learnt::default()).await {
                    Ok(reply) => {
                        assert_eq!(heard(&reply), whole, "{api:?} at {at}");
                        wholes += 1;
                    }
                    Err(failure) if at > 0 || !properly => {
                        assert_eq!(failure.class, FailureClass::Transient, "{api:?} at {at}: {}", failure.message);
                        again += 1;
                    }
                    // Nothing at all is no stream that was cut.
                    Err(_) => {}
                }
            }
            assert!(again > length / step / 2, "{api:?}: {again} of {length}");
            assert!(!properly || wholes > 0, "{api:?}");
        }
    }
}

#[tokio::test]
async fn a_stream_may_come_byte_by_byte_with_comments_between() {
    for api in APIS {
        let text = events(api, &said()).replace("\n\n", "\n\n: keep-alive\n\n").replace('\n', "\r\n");
        let server = Server::streaming(move || {
            let bytes: Vec<io::Result<Bytes>> = text.bytes().map(|byte| Ok(Bytes::from(vec![byte]))).collect();
            stream::iter(bytes)
        })
        .await;
        let mut config = ModelConfig::new(&server.base_url, "m");
        config.api = Some(api);
        let reply = ask(config).await.unwrap();
        assert_eq!((reply.content.as_str(), reply.tool_calls.len()), ("Grüße", 2), "{api:?}");
    }
}

#[tokio::test]
async fn a_stream_is_whole_with_its_last_event_though_the_connection_stays() {
    for api in APIS {
        let text = events(api, &said());
        let server =
            Server::streaming(move || stream::iter([Ok(Bytes::from(text.clone()))]).chain(stream::pending())).await;
        let mut config = ModelConfig::new(&server.base_url, "m");
        config.api = Some(api);
        assert_eq!(ask(config).await.unwrap().content, "Grüße", "{api:?}");
    }
}

#[tokio::test]
async fn an_error_in_the_middle_of_a_stream_is_the_answer() {
    for (api, class) in [
        (Api::Chat, FailureClass::Transient),
        (Api::Responses, FailureClass::Transient),
        (Api::Messages, FailureClass::Overloaded),
    ] {
        let whole = events(api, &said());
        let (begun, _) = whole.split_at(whole.len() / 2);
        let begun = &begun[..begun.rfind("\n\n").unwrap() + 2];
        let failure = reply_to(api, format!("{begun}{}", error_event(api))).await.unwrap_err();
        assert_eq!(failure.class, class, "{api:?}: {}", failure.message);
        assert!(failure.message.contains("upstream broke"), "{api:?}: {}", failure.message);
    }
    let failed = r#"{"type":"response.failed","response":{"status":"failed","error":{"code":"rate_limit_exceeded","message":"rate limit"}}}"#;
    let failure = reply_to(Api::Responses, format!("data: {failed}\n\n")).await.unwrap_err();
    assert_eq!(failure.class, FailureClass::RateLimited, "{}", failure.message);
}

/// Comments and pings are life, and silence is not.
#[tokio::test]
async fn the_idle_clock_is_kept_by_whatever_comes() {
    // Long enough that a busy machine does not look like a silent server.
    const IDLE: Duration = Duration::from_secs(2);
    let config = |base_url: &str| {
        let mut config = ModelConfig::new(base_url, "m");
        config.timeouts = Timeouts { idle: IDLE, ..Timeouts::default() };
        config
    };
    let pings = |count: usize| {
        Server::streaming(move || {
            let whole = stream::iter([Ok(Bytes::from(events(Api::Chat, &said())))]);
            let pinging = stream::unfold(0, move |pinged| async move {
                tokio::time::sleep(IDLE / 8).await;
                (pinged < count).then(|| (Ok(Bytes::from_static(b": still there\n\n")), pinged + 1))
            });
            pinging.chain(whole)
        })
    };
    // Twice as long in all as it may be silent.
    let pinging = pings(16).await;
    let silent =
        Server::streaming(|| stream::iter([Ok(Bytes::from_static(b": still there\n\n"))]).chain(stream::pending()))
            .await;
    let (whole, failure) = tokio::join!(ask(config(&pinging.base_url)), ask(config(&silent.base_url)));
    assert_eq!(whole.unwrap().content, "Grüße");
    let failure = failure.unwrap_err();
    assert_eq!(failure.class, FailureClass::Transient);
    assert!(failure.message.contains("stopped for 2 s"), "{}", failure.message);
}

#[tokio::test]
async fn an_endless_stream_is_aborted() {
    let chunk = json!({"choices": [{"delta": {"content": "x".repeat(1 << 16)}}]});
    for event in [format!("data: {chunk}\n\n"), "data: endless ".to_owned()] {
        let server = Server::streaming(move || {
            let event = event.clone();
            stream::repeat_with(move || Ok(Bytes::from(event.clone())))
        })
        .await;
        let failure = ask(ModelConfig::new(&server.base_url, "m")).await.unwrap_err();
        assert_eq!(failure.class, FailureClass::Malformed, "{}", failure.message);
        assert!(failure.message.contains("larger than 1030 KiB"), "{}", failure.message);
    }
}

fn chunks(deltas: &[Value], finish: Option<&str>) -> String {
    let mut text: String =
        deltas.iter().map(|delta| format!("data: {}\n\n", json!({"choices": [{"delta": delta}]}))).collect();
    if let Some(finish) = finish {
        text += &format!("data: {}\n\n", json!({"choices": [{"delta": {}, "finish_reason": finish}]}));
    }
    text + "data: [DONE]\n\n"
}

#[tokio::test]
async fn pieces_of_calls_are_joined_by_index_else_by_id_else_by_order() {
    let part = |call: Value| json!({"tool_calls": [call]});
    let two = [("one", r#"{"a":1}"#), ("two", r#"{"b":2}"#)];
    let whole = |index: Option<u64>, id: &str, at: usize| {
        let mut call = json!({"id": id, "function": {"name": two[at].0, "arguments": two[at].1}});
        if let Some(index) = index {
            call["index"] = index.into();
        }
        part(call)
    };
    let more = |fields: Value, arguments: &str| {
        let mut call = fields;
        call["function"] = json!({"arguments": arguments});
        part(call)
    };
    let begun = |fields: Value, name: &str| {
        let mut call = fields;
        call["function"] = json!({"name": name, "arguments": ""});
        part(call)
    };
    for (what, deltas) in [
        (
            "by index, mixed up",
            vec![
                begun(json!({"index": 0, "id": "x"}), "one"),
                begun(json!({"index": 1, "id": "y"}), "two"),
                more(json!({"index": 1}), r#"{"b":"#),
                more(json!({"index": 0}), r#"{"a":"#),
                more(json!({"index": 1}), "2}"),
                more(json!({"index": 0}), "1}"),
            ],
        ),
        ("two under one index", vec![whole(Some(0), "x", 0), whole(Some(0), "y", 1)]),
        (
            "the whole arguments again",
            vec![whole(Some(0), "x", 0), more(json!({"index": 0}), two[0].1), whole(Some(1), "y", 1)],
        ),
        (
            "by id",
            vec![
                begun(json!({"id": "x"}), "one"),
                begun(json!({"id": "y"}), "two"),
                more(json!({"id": "x"}), two[0].1),
                more(json!({"id": "y"}), two[1].1),
            ],
        ),
        (
            "by order",
            vec![
                begun(json!({}), "one"),
                more(json!({}), r#"{"a":1"#),
                more(json!({}), "}"),
                begun(json!({}), "two"),
                more(json!({}), two[1].1),
            ],
        ),
        ("whole ones without index and id", vec![whole(None, "", 0), whole(None, "", 1)]),
    ] {
        let reply = reply_to(Api::Chat, chunks(&deltas, Some("tool_calls"))).await.unwrap();
        let calls: Vec<(&str, &str)> =
            reply.tool_calls.iter().map(|call| (call.name.as_str(), call.arguments.as_str())).collect();
        assert_eq!(calls, two, "{what}");
    }
}

#[tokio::test]
async fn calls_of_one_index_are_parted_by_their_names_and_joined_whatever_their_ids() {
    let call = |id: &str, name: Option<&str>, arguments: &str| {
        let function = json!({"name": name, "arguments": arguments});
        json!({"tool_calls": [{"index": 0, "id": id, "function": function}]})
    };
    let (first, second) = (r#"{"a":1}"#, r#"{"b":2}"#);
    for (what, deltas) in [
        ("without ids", vec![call("", Some("one"), first), call("", Some("two"), second)]),
        (
            "an id for each piece",
            vec![
                call("1", Some("one"), ""),
                call("2", None, r#"{"a":"#),
                call("3", None, "1}"),
                call("4", Some("two"), second),
            ],
        ),
        (
            "the name with each piece",
            vec![
                call("", Some("one"), r#"{"a":"#),
                call("", Some("one"), "1}"),
                call("", Some("one"), ""),
                call("", Some("one"), first),
                call("", Some("two"), second),
            ],
        ),
    ] {
        let reply = reply_to(Api::Chat, chunks(&deltas, Some("tool_calls"))).await.unwrap();
        let calls: Vec<(&str, &str)> =
            reply.tool_calls.iter().map(|call| (call.name.as_str(), call.arguments.as_str())).collect();
        assert_eq!(calls, [("one", first), ("two", second)], "{what}");
    }
}

#[tokio::test]
async fn reasoning_comes_together_as_it_would_have_come_whole() {
    let deltas = [
        json!({"reasoning": "Let ", "reasoning_details": [{"type": "reasoning.text", "index": 0, "text": "Let "}]}),
        json!({"reasoning": "me.", "reasoning_details": [{"type": "reasoning.text", "index": 0, "text": "me."}]}),
        json!({"reasoning_details": [{"type": "reasoning.text", "index": 0, "signature": "sig"}]}),
        json!({"reasoning_details": [{"type": "reasoning.encrypted", "index": 1, "data": "e"}]}),
        json!({"content": "Said."}),
    ];
    let reply = reply_to(Api::Chat, chunks(&deltas, Some("stop"))).await.unwrap();
    assert_eq!(reply.extra["reasoning"], "Let me.");
    let details = json!([
        {"type": "reasoning.text", "index": 0, "text": "Let me.", "signature": "sig"},
        {"type": "reasoning.encrypted", "index": 1, "data": "e"},
    ]);
    assert_eq!(reply.extra["reasoning_details"], details);
}

#[tokio::test]
async fn a_stream_that_gives_no_reason_for_its_end_is_believed_unless_a_call_is_torn() {
    let said = [json!({"content": "Said."})];
    assert_eq!(reply_to(Api::Chat, chunks(&said, None)).await.unwrap().content, "Said.");
    let torn = [json!({"tool_calls": [{"index": 0, "function": {"name": "t", "arguments": "{\"a\":"}}]})];
    let failure = reply_to(Api::Chat, chunks(&torn, None)).await.unwrap_err();
    assert_eq!(failure.class, FailureClass::Transient, "{}", failure.message);
}

#[tokio::test]
async fn a_stream_is_read_though_none_was_asked_for() {
    let server = Server::saying(200, events(Api::Chat, &said())).await;
    let mut config = ModelConfig::new(&server.base_url, "m");
    config.stream = Streaming::Off;
    assert_eq!(ask(config).await.unwrap().content, "Grüße");
    assert!(!server.seen()[0].body.contains("stream"));
}

#[tokio::test]
async fn items_that_the_last_event_leaves_out_are_taken_from_those_before() {
    let text = events(Api::Responses, &said());
    let (before, last) = text.rsplit_once("event: response.completed").unwrap();
    let last: Value = serde_json::from_str(last.split_once("data: ").unwrap().1).unwrap();
    let mut bare = last.clone();
    bare["response"]["output"] = json!([]);
    let reply = reply_to(Api::Responses, format!("{before}data: {bare}\n\n")).await.unwrap();
    assert_eq!((reply.content.as_str(), reply.tool_calls.len()), ("Grüße", 2));
}

#[tokio::test]
async fn a_plain_answer_to_a_request_for_a_stream_is_whole() {
    let server = Server::saying(200, completion(json!({"content": "ok"}), "stop").to_string()).await;
    assert_eq!(ask(ModelConfig::new(&server.base_url, "m")).await.unwrap().content, "ok");
    assert!(server.seen()[0].body.contains("\"stream\":true"));
}

//! Servers that send endlessly, in any field: aborted within their budget, with bounded memory.

use crate::server::Server;
use crate::talk::{completion, message, now, request};
use axum::body::Bytes;
use futures_util::{StreamExt, stream};
use plumbline_engine::{Failure, FailureClass, Role};
use plumbline_llm::{
    Api, Embedder, EmbedderSettings, Learnt, ModelClient, ModelConfig, ModelList, list_models, server_window,
};
use serde_json::{Value, json};
use std::{io, time::Duration};

/// Maximum memory of one answer in MiB, in addition to the other tests of this program.
const MOST_MIB: u64 = 300;

async fn refused(api: Api, event: impl Fn(usize) -> String + Clone + Send + Sync + 'static) -> Failure {
    let pieces = move || {
        let event = event.clone();
        stream::iter(0..).map(move |at| Ok::<_, io::Error>(Bytes::from(event(at))))
    };
    let server = Server::streaming(pieces).await;
    let mut config = ModelConfig::new(&server.base_url, "m");
    config.api = Some(api);
    let before = resident_mib();
    let messages = [message(1, Role::User, "hello")];
    let one = || request(&messages, &[]);
    let failure = *ModelClient::new(config).unwrap().call(one(), one, now, &Learnt::default()).await.unwrap_err();
    let grown = resident_mib().saturating_sub(before);
    assert!(grown < MOST_MIB, "{grown} MiB for {}", failure.message);
    failure
}

fn resident_mib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() >> 10
}

fn data(event: &Value) -> String {
    format!("data: {event}\n\n")
}

fn delta(delta: &Value) -> String {
    data(&json!({"choices": [{"delta": delta}]}))
}

#[tokio::test]
async fn no_field_of_a_stream_is_without_end() {
    let long = "x".repeat(60_000);
    let values = || Value::from(vec![json!({"a": 0}); 12_000]);
    type Event = Box<dyn Fn(usize) -> String + Send + Sync>;
    let streams: Vec<(&str, Api, Event)> = vec![
        ("refusal", Api::Chat, {
            let long = long.clone();
            Box::new(move |_| delta(&json!({"refusal": long})))
        }),
        ("new keys", Api::Messages, {
            Box::new(move |at| {
                data(&json!({"type": "message_delta", "delta": {format!("{at}{}", "k".repeat(1_000)): 1}}))
            })
        }),
        ("keys of the usage", Api::Messages, {
            Box::new(move |at| {
                data(&json!({"type": "message_delta", "usage": {format!("{at}{}", "k".repeat(900)): 1}}))
            })
        }),
        ("empty blocks", Api::Messages, {
            Box::new(|at| data(&json!({"type": "content_block_delta", "index": at, "delta": {}})))
        }),
        ("blocks that begin", Api::Messages, {
            Box::new(|at| data(&json!({"type": "content_block_start", "index": at, "content_block": {}})))
        }),
        ("calls without a name", Api::Chat, Box::new(|at| delta(&json!({"tool_calls": [{"index": at}]})))),
        ("values of a usage", Api::Chat, {
            let values = values();
            Box::new(move |_| data(&json!({"choices": [], "usage": {"prompt_tokens": 1, "junk": values}})))
        }),
        ("values of a call", Api::Chat, {
            let values = values();
            Box::new(move |at| delta(&json!({"tool_calls": [{"index": at, "function": {"arguments": values}}]})))
        }),
        ("items", Api::Responses, {
            let long = long.clone();
            Box::new(move |at| {
                data(
                    &json!({"type": "response.output_item.done", "output_index": at, "item": {"type": "x", "t": long}}),
                )
            })
        }),
        // A stream whose content is discarded also ends.
        ("pieces of a text that come again at the end", Api::Responses, {
            let long = long.clone();
            Box::new(move |_| data(&json!({"type": "response.output_text.delta", "delta": long})))
        }),
        ("unknown events", Api::Messages, { Box::new(move |_| data(&json!({"type": "of_tomorrow", "says": long}))) }),
        ("comments", Api::Chat, Box::new(|_| format!(": {}\n\n", "k".repeat(50_000)))),
        ("short events", Api::Chat, Box::new(|_| "data: {}\n\n".repeat(100))),
        ("pings", Api::Messages, Box::new(|_| "event: ping\ndata: {\"type\":\"ping\"}\n\n".repeat(100))),
    ];
    for (what, api, event) in streams {
        let event = std::sync::Arc::new(event);
        let failure = refused(api, move |at| event(at)).await;
        assert_eq!(failure.class, FailureClass::Malformed, "{what}: {}", failure.message);
        let says = ["larger than", "more than"].iter().any(|words| failure.message.contains(words));
        assert!(says && failure.message.contains("max_output_tokens"), "{what}: {}", failure.message);
    }
}

#[tokio::test]
async fn an_answer_in_one_piece_is_not_read_into_more_values_than_it_explains() {
    let mut body = completion(json!({"content": "hello"}), "stop");
    body["usage"]["junk"] = Value::from(vec![json!({"a": 0}); 100_000]);
    let server = Server::saying(200, body.to_string()).await;
    let failure = *crate::talk::ask(ModelConfig::new(&server.base_url, "m")).await.unwrap_err();
    assert_eq!(failure.class, FailureClass::Malformed, "{}", failure.message);
}

#[tokio::test]
async fn a_long_usage_is_recorded_by_its_numbers() {
    let mut body = completion(json!({"content": "hello"}), "stop");
    body["usage"]["junk"] = "x".repeat(20_000).into();
    let server = Server::saying(200, body.to_string()).await;
    let reply = crate::talk::ask(ModelConfig::new(&server.base_url, "m")).await.unwrap();
    let recorded = json!({"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15});
    assert_eq!((reply.record.raw_usage, reply.record.prompt_tokens), (Some(recorded), 10));
}

/// The same for the other questions to a model's server.
#[tokio::test]
async fn a_list_of_models_is_not_read_into_more_values_than_a_list_has() {
    let junk = vec![json!({"a": 0}); 150_000];
    let list = json!({"data": [{"id": "m", "max_model_len": 4096}], "junk": junk}).to_string();
    let server = Server::saying(200, list).await;
    assert_eq!(server_window(&server.base_url, Api::Chat, "m", None).await, None);
    let endless = || stream::repeat_with(|| Ok(Bytes::from("{\"data\":[".repeat(10_000))));
    let server = Server::streaming(endless).await;
    assert_eq!(server_window(&server.base_url, Api::Chat, "m", None).await, None);
    let listed = list_models(&server.base_url, Api::Chat, None, Duration::from_secs(60)).await;
    assert_eq!(listed, Ok(ModelList::NoList));
}

#[tokio::test]
async fn an_endless_embeddings_answer_is_aborted() {
    let server =
        Server::streaming(|| stream::repeat_with(|| Ok(Bytes::from("{\"index\":0,\"embedding\":[]},".repeat(10_000)))))
            .await;
    let settings = EmbedderSettings { base_url: server.base_url.clone(), model: "m".into(), api_key: None };
    let failed = Embedder::new(settings).unwrap().embed(&["a"]).await.unwrap_err();
    assert!(failed.to_string().contains("larger than 1280 KiB"), "{failed}");
}

//! A token count that is too small for the request: the server is asked for its window, and only its answer is
//! evidence.

use crate::double::APIS;
use crate::server::Server;
use crate::talk::{message, now, request};
use axum::response::IntoResponse;
use plumbline_engine::Role;
use plumbline_llm::{Api, Learnt, ModelClient, ModelConfig, server_window};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

/// A server with this prompt count that reports a window at one of its paths.
struct Cutting {
    base_url: String,
    asked: Arc<AtomicUsize>,
}

impl Cutting {
    async fn new(api: Api, usage: Value, tells: Option<(&'static str, Value)>) -> Self {
        let asked = Arc::new(AtomicUsize::new(0));
        let counted = asked.clone();
        let answer = match api {
            Api::Chat => json!({"choices": [{"message": {"content": "ok"}, "finish_reason": "stop"}], "usage": usage}),
            Api::Responses => json!({"status": "completed", "usage": usage, "output": [
                {"type": "message", "content": [{"type": "output_text", "text": "ok"}]}]}),
            Api::Messages => {
                json!({"content": [{"type": "text", "text": "ok"}], "stop_reason": "end_turn", "usage": usage})
            }
        };
        let router = axum::Router::new().fallback(move |method: axum::http::Method, uri: axum::http::Uri| async move {
            if method == axum::http::Method::POST {
                return answer.to_string().into_response();
            }
            counted.fetch_add(1, SeqCst);
            match &tells {
                Some((path, said)) if uri.path() == *path => said.to_string().into_response(),
                _ => axum::http::StatusCode::NOT_FOUND.into_response(),
            }
        });
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base_url = format!("http://{}/v1", listener.local_addr().unwrap());
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { base_url, asked }
    }
}

fn usage(api: Api, prompt: u32) -> Value {
    match api {
        Api::Chat => json!({"prompt_tokens": prompt, "completion_tokens": 2}),
        Api::Responses | Api::Messages => json!({"input_tokens": prompt, "output_tokens": 2}),
    }
}

fn tellings() -> [(&'static str, Value); 3] {
    [
        ("/api/ps", json!({"models": [{"name": "m:latest", "context_length": 4096}]})),
        ("/props", json!({"default_generation_settings": {"n_ctx": 4096}})),
        ("/v1/models", json!({"data": [{"id": "m", "max_model_len": 4096}]})),
    ]
}

/// The window that came with each of two answers to requests of about so many tokens.
async fn windows(server: &Cutting, api: Api, tokens: usize, whole: bool) -> [Option<u32>; 2] {
    let mut config = ModelConfig::new(&server.base_url, "m");
    config.api = Some(api);
    config.profile.reports_whole_prompt = whole;
    let client = ModelClient::new(config).unwrap();
    let messages = [message(1, Role::User, &"word ".repeat(tokens * 4 / 5))];
    let asked = || request(&messages, &[]);
    let mut windows = [None; 2];
    for window in &mut windows {
        *window = client.call(asked(), asked, now, &Learnt::default()).await.unwrap().record.server_window;
    }
    windows
}

#[tokio::test]
async fn a_server_that_seems_to_cut_is_asked_for_its_window() {
    for api in APIS {
        for telling in tellings() {
            let server = Cutting::new(api, usage(api, 2051), Some(telling.clone())).await;
            assert_eq!(windows(&server, api, 15_750, true).await, [Some(4096); 2], "{api:?} {telling:?}");
            assert_eq!(server_window(&server.base_url, api, "m", None).await, Some(4096));
            assert_eq!(server_window(&server.base_url, api, "another", None).await.is_some(), telling.0 == "/props");
        }
    }
}

#[tokio::test]
async fn a_server_without_an_answer_is_asked_once() {
    let server = Cutting::new(Api::Chat, usage(Api::Chat, 2051), None).await;
    assert_eq!(windows(&server, Api::Chat, 15_750, true).await, [None; 2]);
    assert_eq!(server.asked.load(SeqCst), 3, "three addresses, once each");
}

#[tokio::test]
async fn no_approval_is_requested_without_a_reason() {
    for (usage, tokens, whole) in [
        (usage(Api::Chat, 15_000), 15_750, true),
        (usage(Api::Chat, 10), 100, true),
        (usage(Api::Chat, 2051), 15_750, false),
        (
            json!({"prompt_tokens": 2051, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 2000}}),
            15_750,
            true,
        ),
        (
            json!({"prompt_tokens": 51, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 15_700}}),
            15_750,
            true,
        ),
    ] {
        let server = Cutting::new(Api::Chat, usage.clone(), Some(tellings()[0].clone())).await;
        assert_eq!(windows(&server, Api::Chat, tokens, whole).await, [None; 2], "{usage}");
        assert_eq!(server.asked.load(SeqCst), 0, "{usage}");
    }
}

#[tokio::test]
async fn an_answer_that_is_not_json_has_no_information() {
    let server = Server::saying(200, "<html>").await;
    assert_eq!(server_window(&server.base_url, Api::Chat, "m", None).await, None);
}

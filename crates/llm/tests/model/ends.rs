//! Ends of answers: finish reasons, and ends without one.

use crate::double::{APIS, End, Said, body, events};
use crate::server::Server;
use crate::talk::{message, now, request};
use axum::response::IntoResponse;
use plumbline_engine::{Failure, FailureClass, FinishReason, Reply, Role};
use plumbline_llm::{Api, Learnt, ModelClient, ModelConfig};
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

/// Asks once for each of these answers, by one job.
async fn asked(api: Api, script: impl IntoIterator<Item = (u16, String)>) -> Vec<Result<Reply, Box<Failure>>> {
    let script: VecDeque<(u16, String)> = script.into_iter().collect();
    let (count, script) = (script.len(), Arc::new(Mutex::new(script)));
    let server = Server::start(move || {
        let (status, body) = script.lock().unwrap().pop_front().unwrap();
        (axum::http::StatusCode::from_u16(status).unwrap(), body).into_response()
    })
    .await;
    let mut config = ModelConfig::new(&server.base_url, "m");
    config.api = Some(api);
    let (client, learnt) = (ModelClient::new(config).unwrap(), Learnt::default());
    let messages = [message(1, Role::User, "hello")];
    let mut replies = Vec::with_capacity(count);
    for _ in 0..count {
        let one = || request(&messages, &[]);
        replies.push(client.call(one(), one, now, &learnt).await);
    }
    replies
}

async fn answer(api: Api, text: impl Into<String>) -> Result<Reply, Box<Failure>> {
    asked(api, [(200, text.into())]).await.pop().unwrap()
}

fn chunk(delta: &Value, reason: &Value) -> String {
    format!("data: {}\n\n", json!({"choices": [{"index": 0, "delta": delta, "finish_reason": reason}]}))
}

const DONE: &str = "data: [DONE]\n\n";
const SAID: &str = "The capital of Mexico is Mexico City.";

#[tokio::test]
async fn four_spellings_of_nothing_are_no_reason_for_an_end() {
    for nothing in [json!(null), json!(""), json!("null"), json!(" "), json!("NULL")] {
        let begun = chunk(&json!({"content": "The"}), &nothing);
        let native = begun.replace("\"finish_reason\"", "\"native_finish_reason\"");
        for cut in [begun.clone(), begun.clone() + &begun, native] {
            let failure = answer(Api::Chat, cut).await.unwrap_err();
            assert_eq!(failure.class, FailureClass::Transient, "{nothing}: {}", failure.message);
        }
        // A null after the reason does not undo it.
        let whole = begun + &chunk(&json!({}), &json!("length")) + &chunk(&json!({}), &nothing);
        assert_eq!(answer(Api::Chat, whole).await.unwrap().finish, FinishReason::Truncated, "{nothing}");
    }
}

#[tokio::test]
async fn a_plain_answer_without_a_reason_is_whole_however_that_is_spelt() {
    let said = Said { text: SAID, ..Said::default() };
    for api in APIS {
        let key =
            ["/choices/0/finish_reason", "/status", "/stop_reason"][APIS.iter().position(|one| *one == api).unwrap()];
        for nothing in [json!(null), json!(""), json!("null")] {
            let mut whole = body(api, &said);
            *whole.pointer_mut(key).unwrap() = nothing.clone();
            let reply = answer(api, whole.to_string()).await.unwrap();
            assert_eq!((reply.content.as_str(), reply.finish), (SAID, FinishReason::Done), "{api:?} {nothing}");
            assert_eq!(reply.record.finish_reason, None, "{api:?} {nothing}");
        }
    }
}

#[tokio::test]
async fn an_end_without_the_endpoints_own_mark_is_a_cut_once_it_has_given_one() {
    let begun = chunk(&json!({"content": SAID}), &json!(null)) + &chunk(&json!({}), &json!("stop"));
    let usage = format!("data: {}\n\n", json!({"choices": [], "usage": {"prompt_tokens": 9, "completion_tokens": 9}}));
    // Before the endpoint has shown a mark, its close is an end.
    assert!(asked(Api::Chat, [(200, begun.clone()), (200, begun.clone())]).await.iter().all(Result::is_ok));
    for mark in [DONE.to_owned(), usage] {
        let script = [begun.clone() + &mark, begun.clone(), begun.clone() + &mark].map(|text| (200, text));
        let replies = asked(Api::Chat, script).await;
        let ends: Vec<bool> = replies.iter().map(Result::is_ok).collect();
        assert_eq!(ends, [true, false, true], "{mark}");
        assert_eq!(replies[1].as_ref().unwrap_err().class, FailureClass::Transient);
    }
    // One that gives none any more is believed in the end.
    let script = std::iter::once(begun.clone() + DONE).chain(std::iter::repeat_n(begun, 4)).map(|text| (200, text));
    let ends: Vec<bool> = asked(Api::Chat, script).await.iter().map(Result::is_ok).collect();
    assert_eq!(ends, [true, false, false, true, true]);
}

/// The same rule for messages: the stop reason follows all blocks, and some gateways close without `message_stop`.
#[tokio::test]
async fn a_message_with_a_stop_reason_needs_no_last_event_from_an_endpoint_that_gives_none() {
    let said = Said { text: SAID, calls: vec![("p", "t", r#"{"a":1}"#)], ..Said::default() };
    let marked = events(Api::Messages, &said);
    let (bare, _) = marked.rsplit_once("event: message_stop").unwrap();
    for close in [bare.to_owned(), bare.to_owned() + DONE] {
        let reply = answer(Api::Messages, close.clone()).await.unwrap();
        assert_eq!((reply.content.as_str(), reply.tool_calls.len()), (SAID, 1), "{close}");
        let script = std::iter::once(marked.clone()).chain(std::iter::repeat_n(close, 4)).map(|text| (200, text));
        let ends: Vec<bool> = asked(Api::Messages, script).await.iter().map(Result::is_ok).collect();
        assert_eq!(ends, [true, false, false, true, true]);
    }
    let (cut, _) = marked.rsplit_once("event: message_delta").unwrap();
    assert_eq!(answer(Api::Messages, cut).await.unwrap_err().class, FailureClass::Transient);
}

#[tokio::test]
async fn a_plain_answer_says_nothing_of_the_ends_of_streams() {
    let plain = body(Api::Chat, &Said { text: SAID, ..Said::default() }).to_string();
    let stream = chunk(&json!({"content": SAID}), &json!("stop"));
    let replies = asked(Api::Chat, [(200, plain), (200, stream)]).await;
    assert!(replies.iter().all(Result::is_ok), "{replies:?}");
}

/// OpenRouter's recorded words (minimax-m2): the reason, then the same as an error.
#[tokio::test]
async fn an_error_after_a_finish_reason_discards_nothing() {
    let error = json!({"code": 400, "message": "Token limit reached"});
    let late = json!({"error": error, "choices": [{"index": 0, "delta": {"content": ""}, "finish_reason": "length"}],
        "usage": {"prompt_tokens": 13, "completion_tokens": 10}});
    let thought = chunk(&json!({"reasoning": "Let me"}), &json!(null));
    let cut = chunk(&json!({}), &json!("length"));
    for stream in [
        format!("{thought}{cut}data: {late}\n\n"),
        format!("{thought}data: {late}\n\n"),
        format!("{thought}{cut}data: {}\n\n", json!({"error": error, "usage": late["usage"]})),
    ] {
        let reply = answer(Api::Chat, stream.clone()).await.unwrap();
        assert_eq!((reply.finish, reply.record.completion_tokens), (FinishReason::Truncated, 10), "{stream}");
    }
    // After a complete answer, but not after half a call.
    let overloaded = format!("data: {}\n\n", json!({"error": {"code": 502, "message": "upstream broke"}}));
    let whole = chunk(&json!({"content": SAID}), &json!("stop")) + &overloaded;
    assert_eq!(answer(Api::Chat, whole).await.unwrap().content, SAID);
    let torn = json!({"tool_calls": [{"index": 0, "id": "c", "function": {"name": "t", "arguments": "{\"a\":"}}]});
    let failure = answer(Api::Chat, chunk(&torn, &json!("tool_calls")) + &overloaded).await.unwrap_err();
    assert!(failure.message.contains("upstream broke"), "{}", failure.message);
    // A benign finish reason next to an error does not count.
    let beside = json!({"error": {"code": 502, "message": "upstream broke"},
        "choices": [{"index": 0, "delta": {"content": "half"}, "finish_reason": "stop"}]});
    assert!(answer(Api::Chat, format!("data: {beside}\n\n")).await.is_err());
}

#[tokio::test]
async fn in_each_protocol_the_cap_is_the_end_though_an_error_says_it_too() {
    let said = Said { text: SAID, end: End::Cut, ..Said::default() };
    let error = json!({"code": 400, "message": "Token limit reached"});
    for api in APIS {
        let mut plain = body(api, &said);
        plain["error"] = error.clone();
        let reply = answer(api, plain.to_string()).await.unwrap();
        assert_eq!((reply.content.as_str(), reply.finish), (SAID, FinishReason::Truncated), "{api:?}");
    }
    let stream = events(Api::Messages, &said);
    let (before, _) = stream.rsplit_once("event: message_stop").unwrap();
    let late = format!("event: error\ndata: {}\n\n", json!({"type": "error", "error": error}));
    let reply = answer(Api::Messages, format!("{before}{late}")).await.unwrap();
    assert_eq!((reply.content.as_str(), reply.finish), (SAID, FinishReason::Truncated));
    let (before, last) =
        events(Api::Responses, &said).rsplit_once("data: ").map(|(a, b)| (a.to_owned(), b.to_owned())).unwrap();
    let mut last: Value = serde_json::from_str(&last).unwrap();
    last["response"]["error"] = error;
    let reply = answer(Api::Responses, format!("{before}data: {last}\n\n")).await.unwrap();
    assert_eq!((reply.content.as_str(), reply.finish), (SAID, FinishReason::Truncated));
}

#[tokio::test]
async fn the_cap_said_as_a_refusal_is_an_answer_that_was_cut() {
    let openai = "Could not finish the message because max_tokens or model output limit was reached. Please try again with \
                  higher max_tokens.";
    for api in APIS {
        for (status, words) in [(400, openai), (400, "Token limit reached"), (200, "Token limit reached")] {
            let refusal = json!({"error": {"code": 400, "message": words}}).to_string();
            let reply = asked(api, [(status, refusal)]).await.pop().unwrap().unwrap();
            assert_eq!((reply.finish, reply.content.as_str()), (FinishReason::Truncated, ""), "{api:?} {words}");
        }
    }
    let failure =
        asked(Api::Chat, [(429, json!({"error": {"message": "Daily token limit reached"}}).to_string())]).await;
    assert_eq!(failure[0].as_ref().unwrap_err().class, FailureClass::RateLimited);
}

#[tokio::test]
async fn a_last_event_without_a_blank_line_is_an_event() {
    let said = Said { secret: Some("s"), text: SAID, calls: vec![("p", "t", r#"{"a":1}"#)], ..Said::default() };
    for api in APIS {
        let whole = answer(api, events(api, &said)).await.unwrap();
        let stream = events(api, &said);
        for end in
            [stream.trim_end().to_owned(), stream.trim_end().replace('\n', "\r\n"), stream.trim_end().to_owned() + "\n"]
        {
            let reply = answer(api, end).await.unwrap();
            assert_eq!((&reply.content, &reply.tool_calls), (&whole.content, &whole.tool_calls), "{api:?}");
            assert_eq!(reply.record.raw_usage, whole.record.raw_usage, "{api:?}");
        }
    }
    // The usage of chat completions without a following `[DONE]`.
    let stream = events(Api::Chat, &said).replace(DONE, "");
    assert_eq!(answer(Api::Chat, stream.trim_end()).await.unwrap().record.completion_tokens, 7);
}

#[tokio::test]
async fn an_answer_that_has_not_begun_or_was_abandoned_is_requested_again() {
    for status in ["queued", "in_progress", "cancelled"] {
        let mut response = body(Api::Responses, &Said::default());
        response["status"] = status.into();
        response["output"] = json!([]);
        let failure = answer(Api::Responses, response.to_string()).await.unwrap_err();
        assert_eq!(failure.class, FailureClass::Transient, "{}", failure.message);
        assert!(failure.message.contains(status), "{}", failure.message);
    }
}

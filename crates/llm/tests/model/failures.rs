//! Which failure is which: status first, words second.

use crate::server::Server;
use crate::talk::{ask, completion};
use axum::response::IntoResponse;
use plumbline_engine::{Failure, FailureClass, Suspicion};
use plumbline_llm::{Api, ApiKey, ModelConfig};
use serde_json::json;

async fn failure_of(status: u16, body: &str) -> Failure {
    let server = Server::saying(status, body).await;
    let mut config = ModelConfig::new(&server.base_url, "gpt-x");
    config.api_key = ApiKey::new("sk-very-secret");
    config.api_key_env = "MY_KEY".into();
    *ask(config).await.unwrap_err()
}

async fn check(status: u16, body: &str, class: FailureClass, says: &str) {
    let failure = failure_of(status, body).await;
    assert_eq!(failure.class, class, "{status} {body}: {}", failure.message);
    assert!(failure.message.contains(says), "{status} {body}: {}", failure.message);
    assert_eq!(failure.record.error.as_ref(), Some(&failure.message));
    assert!((0.0..=1.0).contains(&failure.jitter));
    assert!(!failure.message.contains('\n'), "{}", failure.message);
}

#[tokio::test]
async fn by_status() {
    use FailureClass::{ContextTooLong, Overloaded, Permanent, Quota, RateLimited, Transient, Unauthorized};
    for (status, class) in [
        (301, Permanent),
        (400, Permanent),
        (401, Unauthorized),
        (402, Quota),
        (403, Unauthorized),
        (405, Permanent),
        (408, Transient),
        (409, Transient),
        (413, ContextTooLong),
        (418, Permanent),
        (422, Permanent),
        (425, Transient),
        (429, RateLimited),
        (500, Transient),
        (502, Transient),
        (503, Overloaded),
        (504, Transient),
        (524, Transient),
        (529, Overloaded),
    ] {
        check(status, r#"{"error":{"message":"The words."}}"#, class, &format!("answered {status}: The words.")).await;
    }
}

#[tokio::test]
async fn lesson_32_an_overflow_is_an_overflow_in_every_dialect() {
    for body in [
        r#"{"error":{"message":"This model's maximum context length is 8192 tokens.","code":"context_length_exceeded"}}"#,
        r#"{"error":{"code":400,"message":"the request exceeds the available context size","type":"exceed_context_size_error"}}"#,
        r#"{"object":"error","message":"This model's maximum context length is 4096 tokens. Please reduce the length.","code":400}"#,
        r#"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000 maximum"}}"#,
        r#"[{"error":{"message":"The input token count exceeds the maximum number of tokens allowed."}}]"#,
    ] {
        check(400, body, FailureClass::ContextTooLong, "answered 400").await;
    }
    let typed = r#"{"error":{"message":"no","type":"exceed_context_size_error"}}"#;
    check(500, typed, FailureClass::ContextTooLong, "answered 500: no").await;
}

#[tokio::test]
async fn lesson_36_the_status_wins_over_the_words() {
    check(408, r#"{"error":{"message":"invalid request: context window"}}"#, FailureClass::Transient, "408").await;
    check(502, r#"{"error":{"message":"rate limit, maximum context length"}}"#, FailureClass::Transient, "502").await;
    check(401, r#"{"error":{"message":"quota exceeded: billing"}}"#, FailureClass::Unauthorized, "401").await;
}

#[tokio::test]
async fn lessons_34_and_35_a_404_has_two_meanings() {
    let json = r#"{"error":{"message":"The model `gpt-x` does not exist","code":"model_not_found"}}"#;
    let failure = failure_of(404, json).await;
    assert_eq!(failure.class, FailureClass::Permanent);
    assert!(failure.hint.unwrap().contains("a model named `gpt-x`"));
    let html = "<html><head><title>404</title></head>\n<body><h1>Not  Found</h1></body></html>";
    check(404, html, FailureClass::Transient, "answered 404: 404 Not Found").await;
    check(404, "", FailureClass::Transient, "answered 404").await;
}

#[tokio::test]
async fn lesson_41_a_used_up_quota_is_no_rate_limit() {
    let quota = r#"{"error":{"message":"You exceeded your current quota, please check your plan.","code":"insufficient_quota"}}"#;
    check(429, quota, FailureClass::Quota, "exceeded your current quota").await;
    check(429, r#"{"error":{"message":"Rate limit reached"}}"#, FailureClass::RateLimited, "Rate limit").await;
    check(429, "slow down", FailureClass::RateLimited, "slow down").await;
    // With its own code it is one, with any message.
    let both =
        r#"{"error":{"message":"You exceeded your current quota; try again in 2s.","code":"insufficient_quota"}}"#;
    check(429, both, FailureClass::Quota, "exceeded your current quota").await;
}

#[tokio::test]
async fn retry_after_in_seconds_and_as_a_date() {
    for (header, expected) in [("7", Some(7)), ("Thu, 01 Jan 2026 12:00:30 GMT", Some(30)), ("later", None)] {
        let server = Server::start(move || {
            (axum::http::StatusCode::TOO_MANY_REQUESTS, [("retry-after", header)], "").into_response()
        })
        .await;
        let failure = ask(ModelConfig::new(&server.base_url, "m")).await.unwrap_err();
        assert_eq!(failure.retry_after_s, expected, "{header}");
        assert_eq!(failure.class, FailureClass::RateLimited);
    }
}

#[tokio::test]
async fn a_refused_key_is_named_by_its_variable_and_never_shown() {
    let failure = failure_of(401, r#"{"error":{"message":"Incorrect API key provided: sk-very-secret."}}"#).await;
    assert_eq!(failure.class, FailureClass::Unauthorized);
    assert!(failure.message.contains("Incorrect API key provided: [key]."), "{}", failure.message);
    assert!(failure.hint.as_ref().unwrap().contains("MY_KEY"));
    assert!(!format!("{failure:?}").contains("sk-very-secret"));
    let server = Server::saying(401, "{}").await;
    let failure = ask(ModelConfig::new(&server.base_url, "m")).await.unwrap_err();
    let hint = failure.hint.as_ref().unwrap();
    // It may be set and belong to another host.
    assert!(hint.contains("set OPENAI_API_KEY") && hint.contains("PLUMBLINE_SECRETS"), "{failure:?}");
}

#[tokio::test]
async fn a_key_is_refused_with_the_status_of_a_wrong_request_too() {
    for body in [
        json!([{"error": {"code": 400, "message": "API key not valid. Please pass a valid API key.",
            "status": "INVALID_ARGUMENT", "details": [{"reason": "API_KEY_INVALID"}]}}]),
        json!({"error": {"code": 400, "message": "API key expired. Please renew the API key."}}),
        json!({"code": "Client specified an invalid argument", "error": "Incorrect API key provided: sk-very-secret."}),
        json!({"error": {"message": "Invalid API key"}}),
    ] {
        let failure = failure_of(400, &body.to_string()).await;
        assert_eq!(failure.class, FailureClass::Unauthorized, "{body}");
        assert!(failure.hint.as_ref().unwrap().contains("MY_KEY"), "{failure:?}");
    }
}

#[tokio::test]
async fn content_that_was_refused() {
    check(
        400,
        r#"{"error":{"code":"content_filter","message":"The response was filtered"}}"#,
        FailureClass::Refused,
        "filtered",
    )
    .await;
    check(
        403,
        r#"{"error":{"message":"Your input was flagged","metadata":{"reasons":["x"]}}}"#,
        FailureClass::Refused,
        "flagged",
    )
    .await;
}

#[tokio::test]
async fn lesson_38_a_tool_call_that_did_not_parse_is_the_answer_s_fault() {
    let body = r#"{"error":{"message":"Failed to call a function.","code":"tool_use_failed","failed_generation":"<function"}}"#;
    check(400, body, FailureClass::Malformed, "Failed to call a function").await;
}

#[tokio::test]
async fn an_error_inside_a_200_counts_by_what_it_says() {
    use FailureClass::{ContextTooLong, Overloaded, Permanent, Quota, RateLimited, Transient, Unauthorized};
    for (error, class) in [
        (json!({"code": 429, "message": "slow down"}), RateLimited),
        (json!({"code": "402", "message": "pay"}), Quota),
        (json!({"code": 502, "message": "upstream"}), Transient),
        (json!({"type": "overloaded_error", "message": "Overloaded"}), Overloaded),
        (json!({"code": "context_length_exceeded", "message": "too long"}), ContextTooLong),
        (json!({"message": "something broke"}), Transient),
        (json!("just words"), Transient),
    ] {
        check(200, &json!({ "error": error }).to_string(), class, "answered with an error").await;
        let inside = json!({"choices": [{"error": error, "finish_reason": "error", "message": {"content": "par"}}]});
        check(200, &inside.to_string(), class, "answered with an error").await;
    }
    check(200, r#"{"error":{"type":"authentication_error","message":"no"}}"#, Unauthorized, "error: no").await;
    check(200, r#"{"error":{"type":"permission_error","message":"no"}}"#, Unauthorized, "error: no").await;
    for (message, suspicion) in [("the LIMIT is lower", Suspicion::Size), ("no such tool", Suspicion::Passing)] {
        let error = json!({"error": {"type": "invalid_request_error", "message": message}});
        let failure = failure_of(200, &error.to_string()).await;
        assert_eq!((failure.class, failure.suspicion), (Permanent, Some(suspicion)), "{message}");
    }
    let server = Server::saying(200, {
        let mut body = completion(json!({"content": "fine"}), "stop");
        body["error"] = json!(null);
        body.to_string()
    });
    assert_eq!(ask(ModelConfig::new(&server.await.base_url, "m")).await.unwrap().content, "fine");
}

/// Under the names of FastChat, FastAPI, Zhipu, Baidu and MiniMax.
#[tokio::test]
async fn an_error_in_place_of_an_answer_is_one_under_any_name() {
    use FailureClass::{ContextTooLong, Overloaded, Quota, RateLimited, Transient};
    for (body, class, says) in [
        (
            json!({"object": "error", "code": 40303, "message": "maximum context length is 10"}),
            ContextTooLong,
            "maximum context",
        ),
        (json!({"detail": "Internal error"}), Transient, "Internal error"),
        (json!({"code": 503, "msg": "no worker", "success": false}), Overloaded, "no worker"),
        (json!({"error_code": 18, "error_msg": "too many requests, rate limit"}), RateLimited, "too many"),
        (
            json!({"choices": null, "base_resp": {"status_code": 1008, "status_msg": "insufficient balance"}}),
            Quota,
            "insufficient balance",
        ),
        (json!({"choices": [], "message": "the queue is full"}), Transient, "the queue is full"),
    ] {
        check(200, &body.to_string(), class, &format!("answered with an error: {says}")).await;
        check(200, &format!("data: {body}\n\ndata: [DONE]\n\n"), class, says).await;
        let server = Server::saying(200, body.to_string()).await;
        for api in [Api::Responses, Api::Messages] {
            let config = ModelConfig { api: Some(api), ..ModelConfig::new(&server.base_url, "m") };
            assert_eq!(ask(config).await.unwrap_err().class, class, "{api:?} {body}");
        }
    }
    for body in [r#"{"code":0,"message":"success"}"#, r#"{"message":""}"#, r#"{"message":{"content":"x"}}"#] {
        check(200, body, FailureClass::Malformed, "no choices").await;
    }
    let remark = r#"{"message":"processing"}"#;
    let answer = json!({"choices": [{"delta": {"content": "fine"}, "finish_reason": "stop"}]});
    let server = Server::saying(200, format!("data: {remark}\n\ndata: {answer}\n\ndata: [DONE]\n\n")).await;
    assert_eq!(ask(ModelConfig::new(&server.base_url, "m")).await.unwrap().content, "fine");
}

#[tokio::test]
async fn a_page_in_place_of_an_answer_is_shown_with_the_key_to_check() {
    let page = "<!doctype html><html><title>Open WebUI</title>\n<body>Sign in</body></html>";
    for (body, says) in [(page, "it begins: Open WebUI Sign in"), ("error code: 1020", "error code: 1020")] {
        let failure = failure_of(200, body).await;
        assert_eq!(failure.class, FailureClass::Malformed);
        assert!(failure.message.contains(says), "{}", failure.message);
        assert!(failure.hint.as_ref().is_some_and(|hint| hint.contains("llm.base_url")), "{failure:?}");
    }
}

#[tokio::test]
async fn a_compressed_answer_is_not_asked_for_and_is_called_so() {
    let packed = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0];
    let server = Server::start(move || ([("content-encoding", "gzip")], packed).into_response()).await;
    let failure = ask(ModelConfig::new(&server.base_url, "m")).await.unwrap_err();
    assert_eq!(failure.class, FailureClass::Malformed);
    assert!(failure.message.contains("it is compressed (gzip)"), "{}", failure.message);
    assert_eq!(server.seen()[0].headers["accept-encoding"], "identity");
}

#[tokio::test]
async fn f36_what_cannot_be_understood_is_malformed() {
    for (body, says) in [
        ("", "not JSON"),
        ("<html>hello</html>", "not JSON"),
        ("[]", "no choices"),
        ("{}", "no choices"),
        (r#"{"choices":[]}"#, "no choices"),
        (r#"{"choices":[{"finish_reason":"stop"}]}"#, "no message"),
        (r#"{"choices":[{"message":"text"}]}"#, "no message"),
        (r#"{"choices":[{"message":{"tool_calls":"x"}}]}"#, "not a list"),
        (r#"{"choices":[{"message":{"tool_calls":[{"function":{"arguments":"{}"}}]}}]}"#, "without a name"),
    ] {
        check(200, body, FailureClass::Malformed, says).await;
    }
}

#[tokio::test]
async fn long_words_of_a_provider_are_cut() {
    let failure = failure_of(500, &"word ".repeat(1000)).await;
    assert!(failure.message.chars().count() < 400, "{}", failure.message.len());
    assert!(failure.message.ends_with('…'));
}

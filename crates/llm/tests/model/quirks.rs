//! Quirks of providers, by their numbers in `src/QUIRKS.md`.

use crate::server::Server;
use crate::talk::{ask, completion, message, now, request, tool};
use axum::http::{HeaderMap, HeaderName, StatusCode};
use axum::response::IntoResponse;
use plumbline_engine::{Failure, FailureClass, FinishReason, Reply, Role, Suspicion};
use plumbline_llm::{Api, Learnt, ModelClient, ModelConfig};
use serde_json::{Value, json};

async fn failure_of(status: u16, body: &str) -> Failure {
    let server = Server::saying(status, body).await;
    *ask(ModelConfig::new(&server.base_url, "m")).await.unwrap_err()
}

async fn class_of(status: u16, message: &str) -> FailureClass {
    failure_of(status, &json!({"error": {"message": message}}).to_string()).await.class
}

async fn answer_to(body: &Value) -> Result<Reply, Box<Failure>> {
    let server = Server::saying(200, body.to_string()).await;
    let client = ModelClient::new(ModelConfig::new(&server.base_url, "m")).unwrap();
    let (messages, tools) = ([message(1, Role::User, "hello")], [tool("read_file")]);
    let asked = || request(&messages, &tools);
    client.call(asked(), asked, now, &Learnt::default()).await
}

async fn failed_answer(body: &Value) -> Failure {
    *answer_to(body).await.unwrap_err()
}

#[tokio::test]
async fn overflows_in_the_words_of_every_provider() {
    for words in [
        "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
        "Invalid request: Your request exceeded model token limit: 131072",
        "Input of 140000 is above the maximum allowed input length of 131072",
        "prompt token count of 150000 exceeds the limit of 128000",
        "tokens in request more than max tokens allowed",
        "Prompt exceeds max length",
        "Range of input length should be [1, 129024]",
        "The prompt (length 9000) is longer than the maximum model length of 8192.",
        "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 4500 `inputs` tokens",
        "Input validation error: `inputs` must have less than 4096 tokens. Given: 5000",
        "Input length (160062 tokens) exceeds the maximum allowed length (59862 tokens).",
        "Total tokens of image and text exceed max message tokens. Request id: 0217",
        "the number of input tokens 9000 cannot exceed the total tokens limit 8192 for this model",
        "Too many input tokens. Max input tokens: 128000, request input token count: 140000",
        "Input tokens exceed the configured limit of 192000 tokens.",
    ] {
        assert_eq!(class_of(400, words).await, FailureClass::ContextTooLong, "{words}");
    }
}

#[tokio::test]
async fn q30_ollama_that_has_dropped_all_of_the_users_words_says_so_with_a_500() {
    assert_eq!(class_of(500, "no user query found in messages").await, FailureClass::ContextTooLong);
}

/// The check by size, together with the engine's own count, complements the phrases.
#[tokio::test]
async fn q54_a_refusal_without_a_reason_or_with_words_of_size_is_suspected_of_its_size() {
    for (status, body, suspected) in [
        (400, "", Some(Suspicion::Size)),
        (400, r#"{"error":{"message":"requested tokens do not fit"}}"#, Some(Suspicion::Size)),
        (422, r#"{"error":{"message":"the body is over the LIMIT"}}"#, Some(Suspicion::Size)),
        (400, r#"{"error":{"message":"no such tool"}}"#, None),
        (401, "", None),
    ] {
        assert_eq!(failure_of(status, body).await.suspicion, suspected, "{status} {body}");
    }
    assert_eq!(failure_of(413, "").await.class, FailureClass::ContextTooLong);
}

#[tokio::test]
async fn q52_whoever_is_asked_to_wait_has_not_sent_too_much_at_once() {
    let body = json!({"error": {"message": "ThrottlingException: Too many tokens, please wait before trying again."}});
    assert_eq!(failed_answer(&body).await.class, FailureClass::RateLimited);
    assert_eq!(failure_of(400, &body.to_string()).await.class, FailureClass::RateLimited);
}

#[tokio::test]
async fn q53_quota_that_comes_back_and_money_that_does_not() {
    for (status, words, class) in [
        (402, "You have used your quota; try again in 5 minutes", FailureClass::RateLimited),
        (403, "Usage limit reached, resets at 14:00", FailureClass::RateLimited),
        (403, "Key limit exceeded (total limit).", FailureClass::Quota),
        (402, "Payment required", FailureClass::Quota),
        (403, "You may not use this model", FailureClass::Unauthorized),
    ] {
        assert_eq!(class_of(status, words).await, class, "{status} {words}");
    }
    let failure = failure_of(402, r#"{"error":{"message":"quota used; try again in 5 minutes"}}"#).await;
    assert_eq!(failure.retry_after_s, Some(300));
}

#[tokio::test]
async fn q7_and_q8_a_verdict_with_the_status_of_an_outage_may_pass() {
    for (status, body) in [
        (404, r#"{"error":{"message":"The model `m` does not exist","code":"model_not_found"}}"#),
        (302, ""),
        (308, ""),
        (405, r#"{"error":"method not allowed"}"#),
        (410, ""),
        (451, ""),
        (502, r#"{"error":{"message":"Unknown parameter: 'foo'."}}"#),
        (500, r#"{"error":{"message":"bad","type":"invalid_request_error"}}"#),
    ] {
        let failure = failure_of(status, body).await;
        assert_eq!((failure.class, failure.suspicion), (FailureClass::Permanent, Some(Suspicion::Passing)), "{body}");
    }
}

#[tokio::test]
async fn a_redirect_is_named_with_where_it_leads_and_without_its_secrets() {
    for status in [302, 308] {
        let server = crate::server::Server::start(move || {
            let code = axum::http::StatusCode::from_u16(status).unwrap();
            (code, [("location", "https://sso.example/login?ticket=secret")]).into_response()
        })
        .await;
        let failure = crate::talk::ask(plumbline_llm::ModelConfig::new(&server.base_url, "m")).await.unwrap_err();
        assert!(
            failure.message.contains(&format!("answered {status}; it names the Location https://sso.example/login"))
        );
        assert!(!failure.message.contains("secret"), "{}", failure.message);
    }
}

#[tokio::test]
async fn q9_and_q10_the_providers_words_reach_the_operator() {
    let account = "No endpoints available matching your guardrail restrictions and data policy";
    let failure = failure_of(404, &json!({"error": {"message": account}}).to_string()).await;
    assert!(failure.message.contains(account), "{}", failure.message);
    let page = "<html><head><title>Sign in</title></head><body>Please log in</body></html>";
    assert_eq!(failure_of(403, page).await.class, FailureClass::Unauthorized);
    assert_eq!(failure_of(200, page).await.class, FailureClass::Malformed);
    let block = "<html><body>Your request was flagged. See our billing page.</body></html>";
    assert_eq!(failure_of(403, block).await.class, FailureClass::Unauthorized);
}

/// Q21 to Q25, and DeepSeek's own word for an overload.
#[tokio::test]
async fn endings_that_are_none_are_failures_and_are_paid_for() {
    use FailureClass::{ContextTooLong, Malformed, Overloaded, Transient};
    for (word, class) in [
        ("error", Transient),
        ("network_error", Transient),
        ("abort", Transient),
        ("insufficient_system_resource", Overloaded),
        ("model_context_window_exceeded", ContextTooLong),
        ("MALFORMED_FUNCTION_CALL", Malformed),
        ("UNEXPECTED_TOOL_CALL", Malformed),
    ] {
        let failure = failed_answer(&completion(json!({"content": "a part"}), word)).await;
        assert_eq!(failure.class, class, "{word}");
        assert!(failure.message.contains(word), "{}", failure.message);
        assert_eq!(failure.suspicion == Some(Suspicion::Call), class == Malformed, "{word}");
        let record = failure.record;
        assert_eq!((record.finish_reason.as_deref(), record.completion_tokens), (Some(word), 5));
    }
    let mut behind = completion(json!({"content": ""}), "stop");
    behind["choices"][0]["native_finish_reason"] = json!("MALFORMED_FUNCTION_CALL");
    assert_eq!(failed_answer(&behind).await.class, Malformed);
}

#[tokio::test]
async fn q24_q25_endings_that_are_neither_whole_nor_cut() {
    for (word, finish) in [
        ("sensitive", FinishReason::Refused),
        ("guardrail_intervened", FinishReason::Refused),
        ("pause_turn", FinishReason::Unfinished),
        ("something_new", FinishReason::Unfinished),
    ] {
        let reply = answer_to(&completion(json!({"content": "x"}), word)).await.unwrap();
        assert_eq!((reply.finish, reply.record.finish_reason.as_deref()), (finish, Some(word)));
    }
}

#[tokio::test]
async fn q28_a_cap_reached_before_the_first_token_is_a_full_window() {
    let mut body = completion(json!({"content": ""}), "length");
    body["usage"]["completion_tokens"] = json!(0);
    assert_eq!(failed_answer(&body).await.class, FailureClass::ContextTooLong);
    body["choices"][0]["message"]["content"] = json!("x");
    assert_eq!(answer_to(&body).await.unwrap().finish, FinishReason::Truncated);
}

#[tokio::test]
async fn q31_q32_ollama_gives_no_reason_and_vllm_a_wrong_one() {
    let mut body = completion(json!({"content": "x"}), "");
    body["choices"][0]["finish_reason"] = Value::Null;
    assert_eq!(answer_to(&body).await.unwrap().finish, FinishReason::Done);
    let mut cut = completion(json!({"content": "", "tool_calls": [{"function": {"name": "t"}}]}), "tool_calls");
    cut["usage"]["completion_tokens"] = json!(100);
    assert_eq!(answer_to(&cut).await.unwrap().finish, FinishReason::Truncated);
}

#[tokio::test]
async fn q33_harmonys_marks_are_taken_off() {
    let call = json!({"id": "a", "function": {"name": "functions.read_file<|channel|>commentary", "arguments": "{}"}});
    let reply = answer_to(&completion(json!({"content": null, "tool_calls": [call]}), "tool_calls")).await.unwrap();
    assert_eq!(reply.tool_calls[0].name, "read_file");
    let leaked = "analysisI must read.<|start|>assistant<|channel|>analysis to=functions.read_file <|constrain|>json\
                  <|message|>{\"path\":\"a\"}<|call|>";
    let reply = answer_to(&completion(json!({"content": leaked}), "stop")).await.unwrap();
    assert_eq!(
        (reply.tool_calls[0].name.as_str(), reply.tool_calls[0].arguments.as_str()),
        ("read_file", r#"{"path":"a"}"#)
    );
    let said = completion(json!({"content": "analysisHm.assistantfinalIt is read."}), "stop");
    assert_eq!(answer_to(&said).await.unwrap().content, "It is read.");
}

#[tokio::test]
async fn q37_q38_a_call_that_the_server_could_not_parse_is_the_models_fault() {
    for (status, body) in [
        (500, r#"{"error":{"message":"error parsing tool call: raw='{\"path\":', err=unexpected end of JSON input"}}"#),
        (500, r#"{"error parsing tool call": "raw='{'"}"#),
        (
            500,
            r#"{"error":{"code":500,"message":"Failed to parse input at pos 12: <tool_call>","type":"server_error"}}"#,
        ),
        (400, r#"{"error":{"message":"Failed to call a function.","code":"tool_use_failed"}}"#),
    ] {
        let failure = failure_of(status, body).await;
        assert_eq!((failure.class, failure.suspicion), (FailureClass::Malformed, Some(Suspicion::Call)), "{body}");
    }
}

#[tokio::test]
async fn q42_usage_in_the_choice_is_read() {
    let mut body = completion(json!({"content": "x"}), "stop");
    body["choices"][0]["usage"] = body["usage"].take();
    let record = answer_to(&body).await.unwrap().record;
    assert_eq!((record.prompt_tokens, record.completion_tokens, record.estimated), (10, 5, false));
}

/// Q34 to Q36: the forms themselves are tested in the module that reads them.
#[tokio::test]
async fn a_limits_reset_is_read_from_headers_and_bodies() {
    let limit = |headers: &'static [(&'static str, &'static str)], body: &'static str| async move {
        let server = Server::start(move || {
            let headers: HeaderMap =
                headers.iter().map(|(name, value)| (HeaderName::from_static(name), value.parse().unwrap())).collect();
            (StatusCode::TOO_MANY_REQUESTS, headers, body).into_response()
        });
        *ask(ModelConfig::new(&server.await.base_url, "m")).await.unwrap_err()
    };
    assert_eq!(limit(&[("retry-after-ms", "2500")], "").await.retry_after_s, Some(3));
    assert_eq!(limit(&[("x-ratelimit-reset-requests", "6m0s")], "").await.retry_after_s, Some(360));
    assert_eq!(
        limit(&[("anthropic-ratelimit-tokens-reset", "2026-01-01T12:00:42Z")], "").await.retry_after_s,
        Some(42)
    );
    let in_body = r#"{"error":{"message":"x","metadata":{"headers":{"X-RateLimit-Reset":"1767268860000"}}}}"#;
    assert_eq!(limit(&[], in_body).await.retry_after_s, Some(60));
}

#[tokio::test]
async fn q34_a_provider_that_asks_for_another_try_gets_one() {
    let server = Server::start(|| (StatusCode::BAD_REQUEST, [("x-should-retry", "true")], "hm").into_response()).await;
    assert_eq!(ask(ModelConfig::new(&server.base_url, "m")).await.unwrap_err().class, FailureClass::Transient);
}

#[tokio::test]
async fn q35_q51_what_a_429_is_besides_load() {
    for (body, class) in [
        (r#"{"error":{"message":"Extra usage is required for long context requests."}}"#, FailureClass::ContextTooLong),
        (r#"{"error":{"code":"1305","message":"The service is temporarily overloaded"}}"#, FailureClass::Overloaded),
        (r#"{"error":{"code":"1113","message":"Insufficient balance or no resource package."}}"#, FailureClass::Quota),
        (
            r#"{"error":{"code":"1308","message":"Usage limit reached for 5 hour. Your limit will reset at 2026-01-01 21:00:00"}}"#,
            FailureClass::RateLimited,
        ),
    ] {
        assert_eq!(failure_of(429, body).await.class, class, "{body}");
    }
}

#[tokio::test]
async fn money_that_is_used_up_is_a_quota_with_the_status_of_a_wrong_request_too() {
    for (words, class) in [
        ("Your credit balance is too low to access the Anthropic API.", FailureClass::Quota),
        (
            "You have reached your specified API usage limits. You will regain access on 2026-12-01 at 00:00 UTC.",
            FailureClass::Quota,
        ),
        ("Invalid schema for function 'billing_list'", FailureClass::Permanent),
    ] {
        let body = json!({"type": "error", "error": {"type": "invalid_request_error", "message": words}});
        assert_eq!(failure_of(400, &body.to_string()).await.class, class, "{words}");
    }
}

/// Both name the page where more can be bought.
#[tokio::test]
async fn a_limit_of_the_minute_is_no_quota_though_it_speaks_of_billing() {
    let words = "You exceeded your current quota, please check your plan and billing details.";
    let violation = json!({"quotaId": "GenerateRequestsPerMinutePerProjectPerModel-FreeTier"});
    let failure = json!({"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [violation]});
    let delay = json!({"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "2s"});
    let google = |details: Value| json!([{"error": {"code": 429, "message": words, "status": "RESOURCE_EXHAUSTED", "details": details}}]);
    let openai = "Rate limit reached for gpt-4o-mini on requests per min (RPM): Limit 3, Used 3, Requested 1. You can \
                  increase your rate limit by adding a payment method at https://platform.openai.com/account/billing.";
    for (body, class) in [
        (google(json!([failure, delay])), FailureClass::RateLimited),
        (google(json!([failure])), FailureClass::RateLimited),
        (google(json!([delay])), FailureClass::RateLimited),
        (json!({"error": {"message": openai, "code": "rate_limit_exceeded"}}), FailureClass::RateLimited),
        (json!({"error": {"message": format!("{openai} Please try again in 2s.")}}), FailureClass::RateLimited),
        (google(json!([])), FailureClass::Quota),
    ] {
        assert_eq!(failure_of(429, &body.to_string()).await.class, class, "{body}");
    }
}

/// Waiting does not make it smaller.
#[tokio::test]
async fn a_request_above_the_limit_of_a_minute_is_too_long() {
    let words = "Request too large for gpt-4o on tokens per min (TPM): Limit 30000, Requested 50000. The input or output \
                 tokens must be reduced in order to run successfully.";
    let body = json!({"error": {"message": words, "type": "tokens", "code": "rate_limit_exceeded"}});
    assert_eq!(failure_of(429, &body.to_string()).await.class, FailureClass::ContextTooLong);
    assert_eq!(failed_answer(&body).await.class, FailureClass::ContextTooLong, "inside an answer");
}

#[tokio::test]
async fn a_tier_is_asked_for_in_every_protocol_and_the_word_for_what_was_given_is_kept() {
    let said = json!({"role": "assistant", "content": "ok"});
    let item = json!({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "ok"}]});
    let mut chat = completion(said, "stop");
    chat["service_tier"] = json!("default");
    for (api, answer) in [
        (Api::Chat, chat),
        (Api::Responses, json!({"status": "completed", "output": [item], "service_tier": "default"})),
        (
            Api::Messages,
            json!({"content": [{"type": "text", "text": "ok"}], "stop_reason": "end_turn",
                "usage": {"input_tokens": 5, "output_tokens": 1, "service_tier": "default"}}),
        ),
    ] {
        let server = Server::saying(200, answer.to_string()).await;
        let mut config = ModelConfig::new(&server.base_url, "m");
        (config.api, config.service_tier) = (Some(api), Some("flex".into()));
        let reply = ask(config).await.unwrap();
        let sent: Value = serde_json::from_str(&server.seen()[0].body).unwrap();
        assert_eq!(sent["service_tier"], "flex", "{api:?}");
        assert_eq!(reply.record.service_tier.as_deref(), Some("default"), "{api:?}");
    }
    let server = Server::saying(503, "").await;
    let mut config = ModelConfig::new(&server.base_url, "m");
    config.service_tier = Some("flex".into());
    assert_eq!(ask(config).await.unwrap_err().record.service_tier.as_deref(), Some("flex"), "what was asked for");
}

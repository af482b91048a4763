//! Error responses of providers.

use crate::misbehave::{Kind, Reaction, bad};
use serde_json::json;

pub(super) const KINDS: &[Kind] = &[
    bad("overflow_openai", |_| {
        let message = "This model's maximum context length is 8192 tokens. However, your messages resulted in 9311 \
                       tokens. Please reduce the length of the messages.";
        Reaction::error(400, message, "invalid_request_error", "context_length_exceeded")
    }),
    bad("overflow_llama", |_| {
        let message = "the request exceeds the available context size. try increasing the context size";
        let body =
            json!({"error": {"code": 400, "message": message, "type": "exceed_context_size_error", "n_ctx": 8192}});
        Reaction::json(400, &body)
    }),
    bad("overflow_anthropic", |_| {
        let message = "prompt is too long: 213462 tokens > 200000 maximum";
        Reaction::json(400, &json!({"type": "error", "error": {"type": "invalid_request_error", "message": message}}))
    }),
    bad("overflow_vllm", |_| {
        let message = "This model's maximum context length is 4096 tokens. However, you requested 5012 tokens (4000 in \
                       the messages, 1012 in the completion).";
        Reaction::json(400, &json!({"object": "error", "message": message, "type": "BadRequestError", "code": 400}))
    }),
    bad("overflow_413", |_| Reaction::page(413, "413 Request Entity Too Large")),
    bad("rate_limit", |_| Reaction::error(429, "Rate limit reached for requests", "requests", "rate_limit_exceeded")),
    bad("rate_limit_wait", |_| {
        Reaction::error(429, "Rate limit reached for requests", "requests", "rate_limit_exceeded").retry_after("1")
    }),
    bad("rate_limit_at_once", |_| {
        Reaction::error(429, "Too many requests", "requests", "rate_limit_exceeded").retry_after("0")
    }),
    bad("rate_limit_odd_wait", |_| Reaction::error(429, "Slow down", "requests", "").retry_after("soon")),
    bad("overloaded", |_| {
        let error = json!({"type": "overloaded_error", "message": "Overloaded"});
        Reaction::json(529, &json!({"type": "error", "error": error}))
    }),
    bad("unavailable", |_| Reaction::bytes(503, "text/plain", b"no healthy upstream".to_vec())),
    bad("internal_error", |_| Reaction::error(500, "The server had an error", "server_error", "")),
    bad("bad_gateway", |_| Reaction::page(502, "502 Bad Gateway")),
    bad("not_found_page", |_| Reaction::page(404, "404 Not Found")),
    bad("request_timeout", |_| Reaction::error(408, "stream disconnected: invalid request", "server_error", "")),
    bad("content_policy", |_| {
        let message = "The prompt was filtered due to the content management policy. Please modify your prompt.";
        Reaction::error(400, message, "invalid_request_error", "content_filter")
    }),
    bad("failed_generation", |_| {
        Reaction::error(400, "Failed to call a function.", "invalid_request_error", "tool_use_failed")
    }),
];

pub(super) const FATAL: &[Kind] = &[
    bad("unauthorized", |_| {
        Reaction::error(401, "Incorrect API key provided", "invalid_request_error", "invalid_api_key")
    }),
    bad("forbidden", |_| Reaction::error(403, "Your key has no access to this model", "permission_error", "")),
    bad("payment_required", |_| Reaction::error(402, "Insufficient credits", "billing_error", "")),
    bad("quota_used_up", |_| {
        let message = "You exceeded your current quota, please check your plan and billing details.";
        Reaction::error(429, message, "insufficient_quota", "insufficient_quota")
    }),
];

//! Lessons from refusals in the words of providers.

use super::*;
use crate::classify;
use crate::dialect::SentBack;
use crate::{OutputCapField, ToolChoice};

/// The request's data for this configuration.
fn sent(config: &ModelConfig) -> SentBack {
    let configured = [
        ("temperature", config.temperature.is_some()),
        ("parallel_tool_calls", config.parallel_tool_calls.is_some()),
        ("service_tier", config.service_tier.is_some()),
        ("tool_choice", config.tool_choice == ToolChoice::Required),
    ];
    let fields = configured.into_iter().filter(|(_, sent)| *sent).map(|(name, _)| name.to_owned());
    SentBack { fields: fields.collect(), ..SentBack::default() }
}

fn refusal<'a>(status: u16, body: &'a str, config: &ModelConfig, sent: &'a dyn Fn() -> SentBack) -> Refusal<'a> {
    let class = classify::of_status(status, body.as_bytes(), config, "here").class;
    Refusal { status, class, body: body.as_bytes(), cap: 8192, sent }
}

fn lesson(api: Api, status: u16, body: &str) -> Option<Lesson> {
    let mut config = ModelConfig::new("http://127.0.0.1:1/v1", "m");
    config.profile.api = Some(api);
    let learnt = Learnt::default();
    let options = learnt.options(&config, "http://127.0.0.1:1/v1");
    let sent = || sent(&config);
    let refusal = refusal(status, body, &config, &sent);
    let lesson = learnt.learn(&config, &options, &refusal);
    assert_eq!(learnt.lessons(), usize::from(lesson.is_some()), "{body}");
    if lesson.is_some() {
        let next = learnt.options(&config, "http://127.0.0.1:1/v1");
        assert_ne!(next, options, "{body}");
        assert_eq!(learnt.learn(&config, &next, &refusal), None, "once: {body}");
    }
    lesson
}

#[test]
fn refusals_that_say_what_to_do_are_learnt_from_once() {
    use Lesson::{NoEcho, NoEncrypted, NoStream, NoStreamOptions, UseResponses};
    for (api, status, body, expected) in [
        (
            Api::Chat,
            400,
            r#"{"error":{"message":"Function tools with reasoning_effort are not supported for gpt-5.6-sol in /v1/chat/completions. To use function tools, use /v1/responses or set reasoning_effort to 'none'."}}"#,
            Some(UseResponses),
        ),
        (
            Api::Chat,
            404,
            r#"{"error":{"message":"This model is only supported in v1/responses and not in v1/chat/completions."}}"#,
            Some(UseResponses),
        ),
        (
            Api::Chat,
            400,
            r#"{"error":{"message":"Your organization must be verified to stream this model.","param":"stream","code":"unsupported_value"}}"#,
            Some(NoStream),
        ),
        (
            Api::Chat,
            400,
            r#"{"error":{"message":"Unrecognized request argument supplied: stream_options"}}"#,
            Some(NoStreamOptions),
        ),
        (
            Api::Chat,
            422,
            r#"{"object":"error","message":{"detail":[{"type":"extra_forbidden","loc":["body","stream_options","include_usage"],"msg":"Extra inputs are not permitted","input":true}]}}"#,
            Some(NoStreamOptions),
        ),
        (Api::Messages, 422, r#"{"detail":"streaming is not supported"}"#, Some(NoStream)),
        (
            Api::Responses,
            400,
            r#"{"error":{"message":"Encrypted content is not supported with this model."}}"#,
            Some(NoEncrypted),
        ),
        (
            Api::Responses,
            400,
            r#"{"error":{"message":"The encrypted content gAAA could not be verified.","code":"invalid_encrypted_content"}}"#,
            Some(NoEcho),
        ),
        (
            Api::Messages,
            400,
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"messages.1.content.0: Invalid `signature` in `thinking` block"}}"#,
            Some(NoEcho),
        ),
        (
            Api::Chat,
            400,
            r#"{"error":{"message":"'messages.2' : property 'reasoning_content' is unsupported"}}"#,
            Some(NoEcho),
        ),
        (Api::Chat, 400, r#"{"error":{"message":"upstream does not support this"}}"#, None),
        (Api::Chat, 500, r#"{"error":{"message":"streaming is not supported"}}"#, None),
        (Api::Chat, 400, r#"{"error":{"message":"maximum context length"}}"#, None),
    ] {
        assert_eq!(lesson(api, status, body), expected, "{body}");
    }
}

#[test]
fn reasoning_that_a_server_misses_is_sent_empty() {
    use Lesson::EmptyReasoning;
    for (api, words, expected) in [
        (
            Api::Chat,
            "The `reasoning_content` in the thinking mode must be passed back to the API.",
            Some(EmptyReasoning),
        ),
        (
            Api::Chat,
            "thinking is enabled but reasoning_content is missing in assistant tool call message at index 2",
            Some(EmptyReasoning),
        ),
        (Api::Messages, "The `content[].thinking` in the thinking mode must be passed back to the API.", None),
    ] {
        let body = serde_json::json!({"error": {"type": "invalid_request_error", "message": words}}).to_string();
        assert_eq!(lesson(api, 400, &body), expected, "{words}");
    }
}

#[test]
fn a_refused_signature_is_known_without_backticks() {
    let words = "messages.1.content.0: Invalid signature in thinking block";
    let body = format!(r#"{{"type":"error","error":{{"type":"invalid_request_error","message":"{words}"}}}}"#);
    assert_eq!(lesson(Api::Messages, 400, &body), Some(Lesson::NoEcho));
}

#[test]
fn an_upstream_is_no_stream() {
    for (body, expected) in [
        (r#"{"error":{"message":"Error from upstream: tool_choice is not supported"}}"#, None),
        (r#"{"error":{"message":"stream: not supported"}}"#, Some(Lesson::NoStream)),
    ] {
        assert_eq!(lesson(Api::Chat, 400, body), expected, "{body}");
    }
}

#[test]
fn what_is_configured_is_not_learnt_otherwise() {
    let mut config = ModelConfig::new("http://127.0.0.1:1/v1", "m");
    (config.api, config.stream) = (Some(Api::Chat), Streaming::On);
    let learnt = Learnt::default();
    let options = learnt.options(&config, "http://127.0.0.1:1/v1");
    for body in ["use /v1/responses", "`stream` is not supported"] {
        assert_eq!(learnt.learn(&config, &options, &refusal(400, body, &config, &|| sent(&config))), None, "{body}");
    }
}

/// Of a request with everything that may be refused.
fn lesson_of_all(api: Api, level: &str, body: &str) -> Option<Lesson> {
    let mut config = ModelConfig::new("http://127.0.0.1:1/v1", "m");
    config.profile.api = Some(api);
    (config.temperature, config.parallel_tool_calls) = (Some(0.2), Some(false));
    (config.reasoning_level, config.service_tier) = (Some(level.into()), Some("flex".into()));
    config.tool_choice = ToolChoice::Required;
    let learnt = Learnt::default();
    let options = learnt.options(&config, "http://127.0.0.1:1/v1");
    let lesson = learnt.learn(&config, &options, &refusal(400, body, &config, &|| sent(&config)));
    if let Some(lesson) = &lesson {
        assert_ne!(learnt.options(&config, "http://127.0.0.1:1/v1"), options, "{body}");
        assert!(has_taught(&format!("m answered 400: no; {}", lesson.consequence())), "{lesson:?}");
    }
    lesson
}

#[test]
fn refusals_about_reasoning_items_are_learnt_from() {
    for (api, words) in [
        (Api::Responses, "Item 'rs_1' of type 'reasoning' was provided without its required following item."),
        (
            Api::Responses,
            "Item 'fc_1' of type 'function_call' was provided without its required 'reasoning' item: 'rs_1'.",
        ),
        (Api::Responses, "Item 'msg_1' of type 'message' was provided without its required 'reasoning' item: 'rs_1'."),
        (Api::Messages, "messages.3.content.0.thinking: each thinking block must contain thinking"),
        (Api::Messages, "messages.1.content.0.type: Expected thinking or redacted_thinking, but found tool_use."),
        (Api::Messages, "messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `text`"),
        (Api::Messages, "messages.5.content.0.thinking.signature: Field required"),
        (Api::Chat, "litellm.BadRequestError: messages.1.content.0.type: Expected `thinking`, but found `tool_use`"),
    ] {
        let body = serde_json::json!({"error": {"type": "invalid_request_error", "message": words}}).to_string();
        assert_eq!(lesson_of_all(api, "high", &body), Some(Lesson::NoEcho), "{words}");
    }
}

/// Protocol, configured effort, message, and how the job continues.
const SETTINGS: [(Api, &str, &str, Option<&str>); 22] = [
    (
        Api::Chat,
        "high",
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
        Some("with `max_completion_tokens`"),
    ),
    (
        Api::Chat,
        "high",
        "Unsupported value: 'temperature' does not support 0.2 with this model. Only the default (1) value is supported.",
        Some("without `temperature`"),
    ),
    (
        Api::Responses,
        "high",
        "Unsupported parameter: 'temperature' is not supported with this model.",
        Some("without `temperature`"),
    ),
    (
        Api::Messages,
        "high",
        "`temperature` may only be set to 1 when thinking is enabled.",
        Some("without `temperature`"),
    ),
    (Api::Messages, "high", "`temperature` is deprecated for this model.", Some("without `temperature`")),
    (Api::Messages, "high", "temperature: range: 0..1", None),
    (
        Api::Chat,
        "high",
        "Unrecognized request argument supplied: parallel_tool_calls",
        Some("without `parallel_tool_calls`"),
    ),
    (Api::Chat, "high", "'service_tier' is not supported", Some("without `service_tier`")),
    (Api::Chat, "high", "tool_choice 'required' is not supported by this model", Some("without `tool_choice`")),
    (
        Api::Messages,
        "high",
        "max_tokens: 8192 > 4096, which is the maximum allowed number of output tokens for claude-3-haiku-20240307",
        Some("with answers of at most 4096 tokens"),
    ),
    (
        Api::Chat,
        "high",
        "max_tokens is too large: 8192. This model supports at most 2048 completion tokens, whereas you provided 8192.",
        Some("with answers of at most 2048 tokens"),
    ),
    (
        Api::Chat,
        "high",
        "Invalid max_tokens value, the valid range of max_tokens is [1, 4096]",
        Some("with answers of at most 4096 tokens"),
    ),
    (
        Api::Responses,
        "high",
        "Invalid 'max_output_tokens': must be less than or equal to 4,096.",
        Some("with answers of at most 4096 tokens"),
    ),
    (
        Api::Chat,
        "minimal",
        "Unsupported value: 'minimal' is not supported with the 'gpt-5.1' model. Supported values are: 'none', 'low', 'medium', and 'high'. (reasoning_effort)",
        Some("with the effort `none`"),
    ),
    (
        Api::Responses,
        "minimal",
        "Reasoning effort 'minimal' is not supported; use low, medium or high",
        Some("with the effort `low`"),
    ),
    (Api::Chat, "xhigh", "`reasoning_effort` must be one of `low`, `medium`, `high`", Some("with the effort `high`")),
    (Api::Chat, "high", "`reasoning_effort` is not supported with this model", Some("without an effort")),
    (Api::Messages, "high", "This model does not support the effort parameter.", Some("without an effort")),
    (Api::Messages, "high", "adaptive thinking is not supported on this model", Some("without an effort")),
    (
        Api::Messages,
        "2048",
        "thinking.type.enabled is not supported for this model. Use thinking.type.adaptive and output_config.effort to control thinking behavior.",
        Some("with adaptive thinking"),
    ),
    (
        Api::Messages,
        "512",
        "thinking.enabled.budget_tokens: Input should be greater than or equal to 1024",
        Some("with the effort `1024`"),
    ),
    (Api::Chat, "high", "the model `m` does not exist", None),
];

#[test]
fn what_a_refusal_of_a_setting_names_is_learnt() {
    for (api, level, words, expected) in SETTINGS {
        let body = serde_json::json!({"error": {"type": "invalid_request_error", "message": words}}).to_string();
        let goes_on = lesson_of_all(api, level, &body).map(|lesson| lesson.consequence());
        assert_eq!(goes_on, expected.map(|how| format!("the job goes on {how}")), "{words}");
    }
}

#[test]
fn both_names_of_the_cap_are_not_refused_in_turn_for_ever() {
    let config = ModelConfig::new("http://127.0.0.1:1/v1", "m");
    let learnt = Learnt::default();
    let use_newer = r#"{"error":{"message":"'max_tokens' is not supported, use 'max_completion_tokens'"}}"#;
    let use_older = r#"{"error":{"message":"'max_completion_tokens' is unknown"}}"#;
    let options = || learnt.options(&config, "http://127.0.0.1:1/v1");
    let newer = Some(Lesson::CapAs(OutputCapField::MaxCompletionTokens));
    assert_eq!(learnt.learn(&config, &options(), &refusal(400, use_newer, &config, &|| sent(&config))), newer);
    assert_eq!(learnt.learn(&config, &options(), &refusal(400, use_older, &config, &|| sent(&config))), None);
}

#[test]
fn a_wait_or_an_overflow_teaches_nothing_of_settings() {
    for words in [
        "Throttling: max_tokens: 8192 > 4096 in this minute",
        "This model's maximum context length is 4096 tokens, but max_tokens is 8192",
    ] {
        let body = serde_json::json!({"error": {"message": words}}).to_string();
        assert_eq!(lesson_of_all(Api::Chat, "high", &body), None, "{words}");
    }
}

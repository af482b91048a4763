//! Error messages of providers, and the phrases that classify them.

use plumbline_engine::{beginning, one_line};
use serde_json::Value;

/// Maximum characters of a provider's message that are repeated.
const MAX_WORDS: usize = 300;

/// Phrases for a request larger than the window, in lower case. No such list is complete: for missing phrases, the
/// engine may use the request's size (`Suspicion::Size`).
const OVERFLOW: [&str; 29] = [
    "maximum context length",
    "context_length",
    "context length",
    "context window",
    "context size",
    "context limit",
    "prompt is too long",
    "input is too long",
    "too many tokens",
    "reduce the length",
    "exceeds the model's maximum",
    "maximum number of tokens",
    // xAI, Kimi, Poolside, Copilot, z.ai (twice), DashScope, vLLM, and Ollama after it has dropped the front.
    "maximum prompt length is",
    "exceeded model token limit",
    "maximum allowed input length",
    "prompt token count of",
    "tokens in request more than max tokens allowed",
    "prompt exceeds max length",
    "range of input length should be",
    "longer than the maximum model length",
    "no user query found in messages",
    // Hugging Face and Together (twice), SGLang, Volcano Engine, watsonx (twice), Nova, gateways.
    "`max_new_tokens` must be <=",
    "`inputs` must have less than",
    "exceeds the maximum allowed length",
    "exceed max message tokens",
    "cannot exceed the total tokens limit",
    "token_quantity_exceeded",
    "too many input tokens",
    "input tokens exceed the configured limit",
];

/// The content of an error body.
pub(crate) struct Words {
    /// One line for people.
    pub(crate) said: String,
    /// Type and code fields, lower case.
    typed: String,
    /// Everything, lower case.
    pub(crate) all: String,
}

impl Words {
    pub(crate) fn of(parsed: Option<&Value>, body: &[u8]) -> Self {
        let Some(value) = parsed else {
            let plain = plain_words(body);
            // A page comes from a gateway, and its text is for people.
            return match body.contains(&b'<') {
                true => Self { said: plain, typed: String::new(), all: String::new() },
                false => Self::said(&plain),
            };
        };
        // Some APIs wrap the object in a list of one.
        let value = value.get(0).unwrap_or(value);
        let error = value.get("error").filter(|error| !error.is_null()).unwrap_or(value);
        let field = |key: &str| error.get(key).and_then(Value::as_str).unwrap_or("");
        let typed = format!("{} {} {}", field("type"), field("code"), field("status")).to_lowercase();
        let named = ["message", "detail", "msg", "error_msg", "status_msg", "code", "type"].map(field);
        let said = [error.as_str().unwrap_or("")]
            .into_iter()
            .chain(named)
            .find(|text| !text.trim().is_empty())
            .map_or_else(|| if error.is_object() { error.to_string() } else { String::new() }, str::to_string);
        Self { said: beginning(&one_line(&said), MAX_WORDS), typed, all: value.to_string().to_lowercase() }
    }

    /// For a body that is not JSON: its text, and no type.
    pub(crate) fn said(text: &str) -> Self {
        Self { said: text.to_owned(), typed: String::new(), all: text.to_lowercase() }
    }

    pub(crate) fn mentions(&self, any: &[&str]) -> bool {
        any.iter().any(|word| self.all.contains(word))
    }

    pub(crate) fn typed_context_length(&self) -> bool {
        ["context_length_exceeded", "exceed_context_size", "context_too_long", "request_too_large"]
            .iter()
            .any(|word| self.typed.contains(word))
    }

    pub(crate) fn is_context_length(&self) -> bool {
        // A request to wait is not an overflow, even if it mentions tokens.
        self.typed_context_length() || (self.mentions(&OVERFLOW) && !self.is_limit())
    }

    /// Worded like a per-minute limit: the single request exceeds the limit, and would exceed it again.
    pub(crate) fn is_above_the_limit(&self) -> bool {
        self.mentions(&["request too large for", "tokens must be reduced"])
    }

    /// The cap of the answer, reported as an error (OpenRouter, OpenAI).
    pub(crate) fn is_output_cap(&self) -> bool {
        self.mentions(&["token limit reached", "max_tokens or model output limit was reached"])
            && !self.is_limit()
            && !self.is_periodic()
            && !self.mentions(&["daily", "per day", "per minute", "quota"])
    }

    /// Words common to overflows and other refusals.
    pub(crate) fn may_be_size(&self) -> bool {
        self.mentions(&["token", "length", "limit", "too long", "too large", "exceed", "maximum"])
    }

    pub(crate) fn is_limit(&self) -> bool {
        self.mentions(&[
            "rate limit",
            "rate_limit",
            "too many requests",
            "throttl",
            "please wait",
            "usage limit reached",
        ])
    }

    /// Quota that is renewed.
    pub(crate) fn is_periodic(&self) -> bool {
        self.mentions(&["try again in", "resets in", "resets at", "reset at", "retry after", "usage limit reached"])
    }

    /// The status for the type of an error without a status.
    pub(crate) fn status_of_type(&self) -> Option<u16> {
        const TYPES: [(&str, u16); 3] =
            [("invalid_request_error", 400), ("authentication_error", 401), ("permission_error", 403)];
        let (_, status) = TYPES.iter().find(|(name, _)| self.typed.contains(name))?;
        // Some providers use the type of an invalid request for everything.
        (!self.is_limit()).then_some(*status)
    }

    pub(crate) fn is_torn_call(&self) -> bool {
        self.mentions(&[
            "tool_use_failed",
            "failed_generation",
            "error parsing tool call",
            "failed to parse input at pos",
            "malformed_function_call",
            "malformed_tool_call",
            "unexpected_tool_call",
            "too_many_tool_calls",
        ])
    }

    pub(crate) fn is_invalid_request(&self) -> bool {
        self.typed.contains("invalid_request_error")
            || self.mentions(&["unknown parameter", "unsupported parameter", "unrecognized request argument"])
    }

    /// Money or quota that a person has to raise. Refusals by a per-minute limit also mention both, to sell a higher
    /// limit.
    pub(crate) fn is_quota(&self) -> bool {
        (self.is_used_up() || self.mentions(&["billing"]))
            && (self.mentions(&["insufficient_quota"]) || !self.is_counted_anew())
    }

    /// The same by words that occur in no other refusal.
    pub(crate) fn is_used_up(&self) -> bool {
        self.mentions(&[
            "insufficient_quota",
            "exceeded your current quota",
            "insufficient balance",
            "credit balance",
            "insufficient credits",
            "key limit exceeded",
            "api usage limits",
        ])
    }

    /// OpenAI's code, Google's `RetryInfo` and the name of its quota, or words.
    fn is_counted_anew(&self) -> bool {
        self.typed.contains("rate_limit_exceeded") || self.mentions(&["retrydelay", "perminute"]) || self.is_periodic()
    }

    /// An invalid key, in the words of providers that report it with the status of an invalid request.
    pub(crate) fn is_bad_key(&self) -> bool {
        self.mentions(&[
            "api_key_invalid",
            "invalid_api_key",
            "api key not valid",
            "api key expired",
            "incorrect api key",
            "invalid api key",
        ])
    }

    pub(crate) fn is_refusal(&self) -> bool {
        self.mentions(&[
            "content_filter",
            "content_policy",
            "content management policy",
            "moderation",
            "flagged",
            "safety system",
        ])
    }
}

/// A readable line from a body that is not JSON, without HTML tags.
pub(super) fn plain_words(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(&body[..body.len().min(4096)]);
    let mut out = String::new();
    let mut in_tag = false;
    for c in text.chars() {
        match c {
            '<' => in_tag = true,
            '>' if in_tag => {
                in_tag = false;
                out.push(' ');
            }
            c if !in_tag => out.push(c),
            _ => {}
        }
    }
    beginning(&one_line(&out), MAX_WORDS)
}

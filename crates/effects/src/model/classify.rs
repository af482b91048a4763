//! What kind of failure it was: by status first, by the body's words second (lesson 36).
//!
//! The class decides what the engine does: wait and try again, park the job, compact the context, or stop. A wrong class
//! is expensive in both directions: an overflow taken for an outage is repeated for ever (lesson 32), an outage taken for
//! a verdict ends an overnight job (lesson 39).

use super::config::{ModelConfig, OutputCapField};
use super::exchange::Broken;
use plumbline_engine::FailureClass;
use serde_json::Value;

/// Most characters of a provider's own words that are repeated.
const MAX_WORDS: usize = 300;

/// A failure before it gets its record.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Problem {
    pub(super) class: FailureClass,
    /// One sentence; may still contain the key where a provider repeats it.
    pub(super) message: String,
    pub(super) hint: Option<String>,
}

impl Problem {
    pub(super) fn new(class: FailureClass, message: impl Into<String>) -> Self {
        Self { class, message: message.into(), hint: None }
    }

    fn hinted(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

/// Nothing complete came back.
pub(super) fn of_broken(broken: &Broken, place: &str) -> Problem {
    let message = match broken {
        Broken::NoConnection(reason) => format!("no connection to {place}: {reason}"),
        Broken::ConnectTimeout(limit) => format!("no connection to {place} within {}", seconds(*limit)),
        Broken::FirstByteTimeout(limit) => format!("{place} did not begin to answer within {}", seconds(*limit)),
        Broken::IdleTimeout(limit) => format!("the answer of {place} stopped for {}", seconds(*limit)),
        Broken::TotalTimeout(limit) => format!("the answer of {place} was not complete within {}", seconds(*limit)),
        Broken::Cut(reason) => format!("the connection to {place} ended before the answer was complete: {reason}"),
        Broken::TooLarge(most) => {
            let message =
                format!("the answer of {place} is larger than {} KiB, the bound at its max_output_tokens", most >> 10);
            return Problem::new(FailureClass::Malformed, message);
        }
    };
    let problem = Problem::new(FailureClass::Transient, message);
    match broken {
        Broken::NoConnection(_) | Broken::ConnectTimeout(_) => {
            problem.hinted(format!("check that the model server runs and that {place} is its address"))
        }
        Broken::FirstByteTimeout(_) | Broken::TotalTimeout(_) => {
            problem.hinted("raise llm.timeout_s if the model needs longer for an answer")
        }
        Broken::IdleTimeout(_) | Broken::Cut(_) | Broken::TooLarge(_) => problem,
    }
}

fn seconds(limit: std::time::Duration) -> String {
    format!("{} s", limit.as_secs_f64())
}

/// An answer with another status than success.
pub(super) fn of_status(status: u16, body: &[u8], config: &ModelConfig, place: &str) -> Problem {
    let parsed: Option<Value> =
        serde_json::from_slice(body).ok().filter(|value: &Value| value.is_object() || value.is_array());
    let words = Words::of(parsed.as_ref(), body);
    let message = match words.said.is_empty() {
        true => format!("{place} answered {status}"),
        false => format!("{place} answered {status}: {}", words.said),
    };
    let class = class_of(status, &words, parsed.is_some());
    let problem = Problem::new(class, message);
    if class == FailureClass::Permanent
        && config.output_cap == OutputCapField::MaxTokens
        && words.mentions(&["max_completion_tokens"])
    {
        return problem.hinted("set llm.output_cap to `max_completion_tokens`, which this model wants");
    }
    with_hint(problem, status, config, place)
}

/// An error object inside a 200: the status it names, if any, counts as the answer's.
pub(super) fn of_error_object(error: &Value, config: &ModelConfig, place: &str) -> Problem {
    let status = ["code", "status", "status_code"].iter().find_map(|key| {
        let value = error.get(key)?;
        let number = value.as_u64().or_else(|| value.as_str()?.parse().ok())?;
        u16::try_from(number).ok().filter(|status| (400..600).contains(status))
    });
    let words = Words::of(Some(error), b"");
    let said = if words.said.is_empty() { "it gives no reason" } else { &words.said };
    let class = match status {
        Some(status) => class_of(status, &words, true),
        None if words.is_context_length() => FailureClass::ContextTooLong,
        None if words.is_quota() => FailureClass::Quota,
        None if words.mentions(&["rate limit", "rate_limit"]) => FailureClass::RateLimited,
        None if words.mentions(&["overloaded"]) => FailureClass::Overloaded,
        None if words.is_refusal() => FailureClass::Refused,
        None => FailureClass::Transient,
    };
    let problem = Problem::new(class, format!("{place} answered with an error: {said}"));
    with_hint(problem, status.unwrap_or(200), config, place)
}

fn class_of(status: u16, words: &Words, structured: bool) -> FailureClass {
    match status {
        400 | 422 if words.is_context_length() => FailureClass::ContextTooLong,
        400 | 403 | 422 if words.is_refusal() => FailureClass::Refused,
        // The model, not the request, was at fault: its tool call did not parse. The next try may (lesson 38).
        400 if words.mentions(&["tool_use_failed", "failed_generation"]) => FailureClass::Malformed,
        400 | 422 => FailureClass::Permanent,
        401 | 403 => FailureClass::Unauthorized,
        402 => FailureClass::Quota,
        // The same number from two speakers: the API does not know the model, or an edge in front of it is in trouble
        // (lessons 34 and 35).
        404 if structured => FailureClass::Permanent,
        404 | 408 | 409 | 425 => FailureClass::Transient,
        413 => FailureClass::ContextTooLong,
        429 if words.is_quota() => FailureClass::Quota,
        429 => FailureClass::RateLimited,
        // Local servers report an overflow as their own fault; only the typed field is believed against the status.
        500.. if words.typed_context_length() => FailureClass::ContextTooLong,
        503 | 529 => FailureClass::Overloaded,
        500.. => FailureClass::Transient,
        _ => FailureClass::Permanent,
    }
}

fn with_hint(problem: Problem, status: u16, config: &ModelConfig, place: &str) -> Problem {
    match (problem.class, status) {
        (FailureClass::Unauthorized, _) if config.api_key.is_none() => {
            problem.hinted(format!("set {}: no key was sent", config.api_key_env))
        }
        (FailureClass::Unauthorized, _) => problem.hinted(format!("check the key in {}", config.api_key_env)),
        (FailureClass::Quota, _) => {
            problem.hinted("add credit or raise the limit at the provider, then resume the job")
        }
        (FailureClass::Permanent, 404) => {
            problem.hinted(format!("check that {place} has a model named `{}`", config.model))
        }
        (FailureClass::Permanent, 200..=399 | 405) => {
            problem.hinted("check llm.base_url: it must be the address up to, not including, /chat/completions")
        }
        _ => problem,
    }
}

/// What a body says of an error.
struct Words {
    /// One line for people.
    said: String,
    /// Type and code fields, lower case.
    typed: String,
    /// Everything, lower case.
    all: String,
}

impl Words {
    fn of(parsed: Option<&Value>, body: &[u8]) -> Self {
        let Some(value) = parsed else {
            return Self { said: plain_words(body), typed: String::new(), all: String::new() };
        };
        // Some APIs wrap the object into a list of one.
        let value = value.get(0).unwrap_or(value);
        let error = value.get("error").filter(|error| !error.is_null()).unwrap_or(value);
        let field = |key: &str| error.get(key).and_then(Value::as_str).unwrap_or("");
        let typed = format!("{} {} {}", field("type"), field("code"), field("status")).to_lowercase();
        let said = [error.as_str().unwrap_or(""), field("message"), field("detail"), field("code"), field("type")]
            .into_iter()
            .find(|text| !text.trim().is_empty())
            .map_or_else(|| if error.is_object() { error.to_string() } else { String::new() }, str::to_string);
        Self { said: one_line(&said), typed, all: value.to_string().to_lowercase() }
    }

    fn mentions(&self, any: &[&str]) -> bool {
        any.iter().any(|word| self.all.contains(word))
    }

    fn typed_context_length(&self) -> bool {
        ["context_length_exceeded", "exceed_context_size", "context_too_long", "request_too_large"]
            .iter()
            .any(|word| self.typed.contains(word))
    }

    fn is_context_length(&self) -> bool {
        const SAID: [&str; 12] = [
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
        ];
        self.typed_context_length() || self.mentions(&SAID)
    }

    fn is_quota(&self) -> bool {
        self.mentions(&[
            "insufficient_quota",
            "exceeded your current quota",
            "billing",
            "insufficient balance",
            "credit balance",
            "insufficient credits",
        ])
    }

    fn is_refusal(&self) -> bool {
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

/// A readable line from a body that is no JSON: HTML loses its tags.
fn plain_words(body: &[u8]) -> String {
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
    one_line(&out)
}

fn one_line(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(MAX_WORDS) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

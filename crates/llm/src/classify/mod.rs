//! Classifies a failure: by status first, by the text of the body second.
//!
//! The class decides what the engine does: wait and retry, park the job, compact the context, or stop. A wrong class is
//! expensive in both directions: an overflow classified as an outage is repeated forever, an outage
//! classified as permanent ends an overnight job.

pub(crate) mod reset_time;
mod retry_after;
mod words;

use crate::config::ModelConfig;
use crate::http::Broken;
use plumbline_engine::{FailureClass, Suspicion};
use serde_json::Value;
use words::Words;

/// A failure without its record.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Problem {
    pub(crate) class: FailureClass,
    /// One sentence; may still contain the key if a provider repeats it.
    pub(crate) message: String,
    pub(crate) hint: Option<String>,
    pub(crate) suspicion: Option<Suspicion>,
    /// Whether the next request is made differently.
    pub(crate) learnt: bool,
}

impl Problem {
    pub(crate) fn new(class: FailureClass, message: impl Into<String>) -> Self {
        Self { class, message: message.into(), hint: None, suspicion: None, learnt: false }
    }

    pub(crate) fn suspecting(mut self, suspicion: Suspicion) -> Self {
        self.suspicion = Some(suspicion);
        self
    }

    fn hinted(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

/// No complete response.
pub(crate) fn of_broken(broken: &Broken, place: &str) -> Problem {
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
        Broken::TooMany(most) => {
            let message =
                format!("the answer of {place} has more than {most} events, the bound at its max_output_tokens");
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
        Broken::IdleTimeout(_) => problem.hinted("raise llm.idle_timeout_s if the model may be silent for longer"),
        Broken::Cut(_) | Broken::TooLarge(_) | Broken::TooMany(_) => problem,
    }
}

fn seconds(limit: std::time::Duration) -> String {
    format!("{} s", limit.as_secs_f64())
}

const BASE_URL: &str = "check llm.base_url: it must be the address up to, not including, /chat/completions";

/// A success that violates the protocol. A body that is not JSON is usually a page of another service at the address.
pub(crate) fn of_malformed(what: &str, body: &[u8], encoding: Option<&str>, place: &str) -> Problem {
    let problem = |more: &str| {
        let message = format!("the answer of {place} cannot be understood: {what}{more}");
        Problem::new(FailureClass::Malformed, message)
    };
    if let Some(encoding) = encoding.filter(|encoding| !encoding.eq_ignore_ascii_case("identity")) {
        let encoding: String = encoding.chars().take(20).collect();
        return problem(&format!("; it is compressed ({encoding}), which the request did not ask for"))
            .hinted("switch compression off at the server or at the proxy in front of it");
    }
    match body.trim_ascii_start().first() {
        None | Some(b'{' | b'[') => problem(""),
        Some(_) => problem(&format!("; it begins: {}", words::plain_words(body))).hinted(BASE_URL),
    }
}

/// A response with an error status.
pub(crate) fn of_status(status: u16, body: &[u8], config: &ModelConfig, place: &str) -> Problem {
    let parsed: Option<Value> =
        serde_json::from_slice(body).ok().filter(|value: &Value| value.is_object() || value.is_array());
    let words = Words::of(parsed.as_ref(), body);
    let message = match words.said.is_empty() {
        true => format!("{place} answered {status}"),
        false => format!("{place} answered {status}: {}", words.said),
    };
    let class = class_of(status, &words, parsed.is_some());
    let mut problem = Problem::new(class, message);
    problem.suspicion = suspicion_of(class, status, &words);
    with_hint(problem, status, config, place)
}

/// The status that corresponds to an error object inside a 200: the one it names, or that of its type.
pub(crate) fn status_in(error: &Value) -> Option<u16> {
    let named = ["code", "status", "status_code"].iter().find_map(|key| {
        let value = error.get(key)?;
        let number = value.as_u64().or_else(|| value.as_str()?.parse().ok())?;
        u16::try_from(number).ok().filter(|status| (400..600).contains(status))
    });
    named.or_else(|| Words::of(Some(error), b"").status_of_type())
}

/// An error object inside a 200: its corresponding status, if any, counts as the response's.
pub(crate) fn of_error_object(error: &Value, config: &ModelConfig, place: &str) -> Problem {
    let status = status_in(error);
    let words = Words::of(Some(error), b"");
    let said = if words.said.is_empty() { "it gives no reason" } else { &words.said };
    let class = match status {
        Some(status) => class_of(status, &words, true),
        None if words.is_context_length() || words.is_above_the_limit() => FailureClass::ContextTooLong,
        None if words.is_quota() => FailureClass::Quota,
        None if words.is_limit() => FailureClass::RateLimited,
        None if words.is_torn_call() => FailureClass::Malformed,
        None if words.mentions(&["overloaded"]) => FailureClass::Overloaded,
        None if words.is_refusal() => FailureClass::Refused,
        None => FailureClass::Transient,
    };
    let mut problem = Problem::new(class, format!("{place} answered with an error: {said}"));
    // A server that began to answer may have refused for a transient reason.
    let may_pass = class == FailureClass::Permanent && words.status_of_type().is_some();
    let suspicion = suspicion_of(class, status.unwrap_or(200), &words);
    problem.suspicion = suspicion.or(may_pass.then_some(Suspicion::Passing));
    with_hint(problem, status.unwrap_or(200), config, place)
}

/// Whether a refusal says that the answer reached its cap, which is not a failure.
pub(crate) fn is_output_cap(status: u16, body: &[u8]) -> bool {
    let parsed: Option<Value> = serde_json::from_slice(body).ok();
    matches!(status, 200..=299 | 400 | 422 | 500) && Words::of(parsed.as_ref(), body).is_output_cap()
}

/// The class if the provider requests a retry (`x-should-retry`), which takes precedence over our classification as
/// permanent.
pub(crate) fn as_asked(class: FailureClass, should_retry: Option<&str>) -> FailureClass {
    match (class, should_retry) {
        (FailureClass::Permanent, Some("true")) => FailureClass::Transient,
        (class, _) => class,
    }
}

/// The suspicion about a failure with the recorded class and text, beyond its class.
pub fn suspicion(class: FailureClass, message: &str) -> Option<Suspicion> {
    let words = Words::said(message);
    (class == FailureClass::Malformed && words.is_torn_call()).then_some(Suspicion::Call)
}

fn suspicion_of(class: FailureClass, status: u16, words: &Words) -> Option<Suspicion> {
    match (class, status) {
        (FailureClass::Malformed, _) if words.is_torn_call() => Some(Suspicion::Call),
        // Some providers refuse an overflow without a message.
        (FailureClass::Permanent, 400 | 422) if words.said.is_empty() || words.may_be_size() => Some(Suspicion::Size),
        // An intermediary may have sent it: a login page, a redirect, a gateway during maintenance. An error of the API
        // about the request itself would repeat.
        (FailureClass::Permanent, 300..=399 | 401..=421 | 423..) => Some(Suspicion::Passing),
        _ => None,
    }
}

fn class_of(status: u16, words: &Words, structured: bool) -> FailureClass {
    match status {
        400 | 422 if words.is_context_length() => FailureClass::ContextTooLong,
        400 | 403 | 422 if words.is_refusal() => FailureClass::Refused,
        // The model, not the request, caused it: its tool call did not parse. The next one may.
        400 | 500.. if words.is_torn_call() => FailureClass::Malformed,
        400 if words.mentions(&["throttl", "too many requests"]) => FailureClass::RateLimited,
        // Gemini and xAI.
        400 if words.is_bad_key() => FailureClass::Unauthorized,
        // Anthropic reports billing and the spend limit with the status of an invalid request.
        400 if words.is_used_up() => FailureClass::Quota,
        400 | 422 => FailureClass::Permanent,
        // Billing errors with the status for permissions; and renewable quota with the status for billing.
        402 | 403 if words.is_periodic() => FailureClass::RateLimited,
        402 => FailureClass::Quota,
        403 if words.is_quota() => FailureClass::Quota,
        401 | 403 => FailureClass::Unauthorized,
        // The same status from two sources: the API does not know the model, or a proxy in front of it fails.
        404 if structured => FailureClass::Permanent,
        404 | 408 | 409 | 425 => FailureClass::Transient,
        413 => FailureClass::ContextTooLong,
        // A context window or a limit that the account lacks, refused as if it were overload.
        429 if words.mentions(&["long context"]) || words.is_above_the_limit() => FailureClass::ContextTooLong,
        429 if words.is_quota() => FailureClass::Quota,
        429 if words.mentions(&["overloaded"]) => FailureClass::Overloaded,
        429 => FailureClass::RateLimited,
        // Local servers report an overflow as a server error; only the typed field takes precedence over the status,
        // and Ollama's message when it has dropped all user messages.
        500.. if words.typed_context_length() || words.mentions(&["no user query found in messages"]) => {
            FailureClass::ContextTooLong
        }
        // Gateways report refusals of the API as their own errors, which would be retried forever.
        500.. if words.is_invalid_request() => FailureClass::Permanent,
        503 | 529 => FailureClass::Overloaded,
        500.. => FailureClass::Transient,
        _ => FailureClass::Permanent,
    }
}

fn with_hint(problem: Problem, status: u16, config: &ModelConfig, place: &str) -> Problem {
    match (problem.class, status) {
        (FailureClass::Unauthorized, _) if config.api_key.is_none() => {
            let name = &config.api_key_env;
            problem.hinted(format!(
                "no key was sent: set {name}, or if it is set, name it with this host in PLUMBLINE_SECRETS"
            ))
        }
        (FailureClass::Unauthorized, _) => problem.hinted(format!("check the key in {}", config.api_key_env)),
        (FailureClass::Quota, _) => {
            problem.hinted("add credit or raise the limit at the provider, then resume the job")
        }
        (FailureClass::Permanent, 404) => {
            problem.hinted(format!("check that {place} has a model named `{}`", config.model))
        }
        (FailureClass::Permanent, 200..=399 | 405) => problem.hinted(BASE_URL),
        _ => problem,
    }
}

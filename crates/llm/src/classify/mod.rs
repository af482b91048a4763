//! What kind of failure it was: by status first, by the body's words second (lesson 36).
//!
//! The class decides what the engine does: wait and try again, park the job, compact the context, or stop. A wrong class
//! is expensive in both directions: an overflow taken for an outage is repeated for ever (lesson 32), an outage taken for
//! a verdict ends an overnight job (lesson 39).

pub(crate) mod reset_time;
mod retry_after;
mod words;

use crate::config::ModelConfig;
use crate::http::Broken;
use plumbline_engine::{FailureClass, Suspicion};
use serde_json::Value;
use words::Words;

/// A failure before it gets its record.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Problem {
    pub(crate) class: FailureClass,
    /// One sentence; may still contain the key where a provider repeats it.
    pub(crate) message: String,
    pub(crate) hint: Option<String>,
    pub(crate) suspicion: Option<Suspicion>,
    /// Whether the next request is made otherwise.
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

/// Nothing complete came back.
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

/// An answer with another status than success.
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

/// The status that an error object inside a 200 would have come with: the one it names, or that of its type.
pub(crate) fn status_in(error: &Value) -> Option<u16> {
    let named = ["code", "status", "status_code"].iter().find_map(|key| {
        let value = error.get(key)?;
        let number = value.as_u64().or_else(|| value.as_str()?.parse().ok())?;
        u16::try_from(number).ok().filter(|status| (400..600).contains(status))
    });
    named.or_else(|| Words::of(Some(error), b"").status_of_type())
}

/// An error object inside a 200: the status it stands for, if any, counts as the answer's.
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
    // What began to answer may have refused for a reason that passes.
    let may_pass = class == FailureClass::Permanent && words.status_of_type().is_some();
    let suspicion = suspicion_of(class, status.unwrap_or(200), &words);
    problem.suspicion = suspicion.or(may_pass.then_some(Suspicion::Passing));
    with_hint(problem, status.unwrap_or(200), config, place)
}

/// Whether a refusal says that the answer reached its cap, which is an end and no failure.
pub(crate) fn is_output_cap(status: u16, body: &[u8]) -> bool {
    let parsed: Option<Value> = serde_json::from_slice(body).ok();
    matches!(status, 200..=299 | 400 | 422 | 500) && Words::of(parsed.as_ref(), body).is_output_cap()
}

/// The class where the provider asks for another try (`x-should-retry`), which a verdict of ours does not overrule.
pub(crate) fn as_asked(class: FailureClass, should_retry: Option<&str>) -> FailureClass {
    match (class, should_retry) {
        (FailureClass::Permanent, Some("true")) => FailureClass::Transient,
        (class, _) => class,
    }
}

/// What a failure of the recorded class and words is suspected of, as far as that is no part of its class.
pub fn suspicion(class: FailureClass, message: &str) -> Option<Suspicion> {
    let words = Words::said(message);
    (class == FailureClass::Malformed && words.is_torn_call()).then_some(Suspicion::Call)
}

fn suspicion_of(class: FailureClass, status: u16, words: &Words) -> Option<Suspicion> {
    match (class, status) {
        (FailureClass::Malformed, _) if words.is_torn_call() => Some(Suspicion::Call),
        // Some providers refuse an overflow without a word.
        (FailureClass::Permanent, 400 | 422) if words.said.is_empty() || words.may_be_size() => Some(Suspicion::Size),
        // Something on the way may have said it: a login page, a redirect, a gateway that is being changed. What the API says
        // of the request itself, it would say again.
        (FailureClass::Permanent, 300..=399 | 401..=421 | 423..) => Some(Suspicion::Passing),
        _ => None,
    }
}

fn class_of(status: u16, words: &Words, structured: bool) -> FailureClass {
    match status {
        400 | 422 if words.is_context_length() => FailureClass::ContextTooLong,
        400 | 403 | 422 if words.is_refusal() => FailureClass::Refused,
        // The model, not the request, was at fault: its tool call did not parse. The next try may (lesson 38).
        400 | 500.. if words.is_torn_call() => FailureClass::Malformed,
        400 if words.mentions(&["throttl", "too many requests"]) => FailureClass::RateLimited,
        // Gemini and xAI.
        400 if words.is_bad_key() => FailureClass::Unauthorized,
        // Anthropic's money and its spend limit, said with the status for a wrong request.
        400 if words.is_used_up() => FailureClass::Quota,
        400 | 422 => FailureClass::Permanent,
        // Money, said with the status for rights; and quota that comes back by itself, said with the status for money.
        402 | 403 if words.is_periodic() => FailureClass::RateLimited,
        402 => FailureClass::Quota,
        403 if words.is_quota() => FailureClass::Quota,
        401 | 403 => FailureClass::Unauthorized,
        // The same number from two speakers: the API does not know the model, or an edge in front of it is in trouble
        // (lessons 34 and 35).
        404 if structured => FailureClass::Permanent,
        404 | 408 | 409 | 425 => FailureClass::Transient,
        413 => FailureClass::ContextTooLong,
        // A window or a limit that the account has not, refused as if it were load.
        429 if words.mentions(&["long context"]) || words.is_above_the_limit() => FailureClass::ContextTooLong,
        429 if words.is_quota() => FailureClass::Quota,
        429 if words.mentions(&["overloaded"]) => FailureClass::Overloaded,
        429 => FailureClass::RateLimited,
        // Local servers report an overflow as their own fault; only the typed field is believed against the status, and
        // what Ollama says when it has dropped all of the user's words.
        500.. if words.typed_context_length() || words.mentions(&["no user query found in messages"]) => {
            FailureClass::ContextTooLong
        }
        // Gateways report what the API refused as their own fault, and would be asked for ever.
        500.. if words.is_invalid_request() => FailureClass::Permanent,
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

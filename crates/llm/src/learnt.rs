//! What a job's requests have taught about an endpoint, where it does not do what was assumed of it.
//!
//! A refusal that says what to do otherwise is a failure that is recorded like others, and counted by nobody: the engine asks
//! again at once, and that request is made otherwise. What was learnt holds for the job's stay at a worker, for one model at
//! one endpoint.

use crate::config::{ModelConfig, Streaming};
use crate::dialect::Manner;
use crate::http::stated_limits::StatedLimits;
use crate::profile::Api;
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// What one job has learnt. Starts empty.
#[derive(Debug, Default)]
pub struct Learnt(Mutex<HashMap<String, Lessons>>, Mutex<StatedLimits>);

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Lessons {
    /// The protocol that the endpoint named.
    api: Option<Api>,
    refuses_streams: bool,
    refuses_stream_options: bool,
    refuses_encrypted: bool,
    refuses_echo: bool,
    /// Whether its streams end by a mark of their own.
    marks_its_ends: bool,
    /// Streams in a row that ended without it.
    missing_ends: u32,
}

/// So many streams in a row without a mark at their end, and the endpoint no longer gives one.
const MOST_MISSING_ENDS: u32 = 3;

impl Lessons {
    fn count(&self) -> usize {
        let others = [self.refuses_streams, self.refuses_stream_options, self.refuses_encrypted, self.refuses_echo];
        usize::from(self.api.is_some()) + others.into_iter().filter(|learnt| *learnt).count()
    }
}

/// What a refusal teaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lesson {
    /// The model is to be asked by responses.
    UseResponses,
    /// Answers are not streamed.
    NoStream,
    /// A stream is asked for without options; servers that refuse them tell the usage all the same.
    NoStreamOptions,
    /// Reasoning does not come in encrypted form.
    NoEncrypted,
    /// What came with earlier answers is not taken back.
    NoEcho,
}

impl Lesson {
    const ALL: [Self; 5] = [Self::UseResponses, Self::NoStream, Self::NoStreamOptions, Self::NoEncrypted, Self::NoEcho];

    /// How the job goes on, for the record and for the log.
    pub(crate) fn consequence(self) -> &'static str {
        match self {
            Self::UseResponses => "the job goes on by /responses",
            Self::NoStream => "the job goes on without streaming",
            Self::NoStreamOptions => "the job goes on without `stream_options`",
            Self::NoEncrypted => "the job goes on without encrypted reasoning",
            Self::NoEcho => "the job goes on without sending earlier reasoning back",
        }
    }
}

/// Whether the recorded words of a failure are those of one that has taught something.
pub fn has_taught(message: &str) -> bool {
    Lesson::ALL.iter().any(|lesson| message.ends_with(lesson.consequence()))
}

impl Learnt {
    /// What the headers of the latest answer say that the provider allows.
    pub fn stated_limits(&self) -> StatedLimits {
        *self.1.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn state_limits(&self, limits: StatedLimits) {
        *self.1.lock().unwrap_or_else(PoisonError::into_inner) = limits;
    }

    /// How many lessons there were: whoever asks once, and not by the engine, asks again where there was one more.
    pub fn lessons(&self) -> usize {
        let lessons = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        lessons.values().map(Lessons::count).sum()
    }

    /// Whether a stream that closed after it gave a reason is over. Where the endpoint has once ended one by a mark of its own,
    /// one without it was cut on its way.
    pub(crate) fn is_over(&self, config: &ModelConfig, has_own_end: Option<bool>) -> bool {
        let Some(has_own_end) = has_own_end else { return true };
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let lessons = all.entry(key(config)).or_default();
        if has_own_end {
            (lessons.marks_its_ends, lessons.missing_ends) = (true, 0);
        } else if lessons.marks_its_ends {
            lessons.missing_ends += 1;
            lessons.marks_its_ends = lessons.missing_ends < MOST_MISSING_ENDS;
        }
        has_own_end || !lessons.marks_its_ends
    }

    /// How the next request is made. `place` is the address without user, password and query, for it is stored.
    pub(crate) fn manner(&self, config: &ModelConfig, place: &str) -> Manner {
        let lessons = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let lessons = lessons.get(&key(config)).cloned().unwrap_or_default();
        let api = config.api.or(lessons.api).or(config.profile.api).unwrap_or(Api::Chat);
        Manner {
            api,
            streamed: config.stream != Streaming::Off && !lessons.refuses_streams,
            stream_options: api == Api::Chat && config.profile.stream_options && !lessons.refuses_stream_options,
            encrypted: !lessons.refuses_encrypted,
            echo: !lessons.refuses_echo,
            origin: format!("{} {place} {}", api.as_str(), config.model),
        }
    }

    /// Learns from a refusal of a request that was made so. None where it teaches nothing, or nothing new.
    pub(crate) fn learn(&self, config: &ModelConfig, manner: &Manner, status: u16, body: &[u8]) -> Option<Lesson> {
        let lesson = lesson_of(config, manner, status, body)?;
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let lessons = all.entry(key(config)).or_default();
        match lesson {
            Lesson::UseResponses => lessons.api = Some(Api::Responses),
            Lesson::NoStream => lessons.refuses_streams = true,
            Lesson::NoStreamOptions => lessons.refuses_stream_options = true,
            Lesson::NoEncrypted => lessons.refuses_encrypted = true,
            Lesson::NoEcho => lessons.refuses_echo = true,
        }
        Some(lesson)
    }
}

fn key(config: &ModelConfig) -> String {
    format!("{} {}", config.base_url, config.model)
}

/// What a refusal says that is to be done otherwise, as far as the configuration leaves it open.
fn lesson_of(config: &ModelConfig, manner: &Manner, status: u16, body: &[u8]) -> Option<Lesson> {
    if !matches!(status, 400 | 404 | 405 | 415 | 422 | 501) {
        return None;
    }
    let said = String::from_utf8_lossy(&body[..body.len().min(16 << 10)]).to_lowercase();
    let says = |any: &[&str]| any.iter().any(|words| said.contains(words));
    let lessons = [
        // OpenAI's newer models take tools by responses alone (gpt-5.6), or with an effort (gpt-5.2 to 5.5).
        (
            Lesson::UseResponses,
            config.api.is_none() && manner.api == Api::Chat && says(&["v1/responses", "use the responses api"]),
        ),
        (Lesson::NoEncrypted, manner.encrypted && manner.api == Api::Responses && is_no_encryption(&said)),
        // Signatures and encrypted items that are no longer taken: of another key, another host, or after a change.
        (
            Lesson::NoEcho,
            manner.echo
                && says(&[
                    "invalid_encrypted_content",
                    "encrypted content could not be verified",
                    "blocks in the latest assistant message cannot be modified",
                    "invalid `signature` in `thinking` block",
                    "invalid signature in thinking block",
                    "items are not persisted when `store`",
                ]),
        ),
        (Lesson::NoEcho, manner.echo && manner.api == Api::Chat && is_about_reasoning(&said)),
        (Lesson::NoStreamOptions, manner.stream_options && refuses_one_of(&said, &["stream_options"])),
        (Lesson::NoStream, config.stream == Streaming::Auto && manner.streamed && is_about_streams(&said)),
    ];
    lessons.into_iter().find(|(_, applies)| *applies).map(|(lesson, _)| lesson)
}

fn is_no_encryption(said: &str) -> bool {
    said.contains("encrypted") && (said.contains("not supported") || said.contains("include"))
}

/// A field that another server of the same protocol asks for. DeepSeek names it, too, where it is missing.
fn is_about_reasoning(said: &str) -> bool {
    let names_it = ["reasoning_content", "reasoning_details", "reasoning input"];
    names_it.iter().any(|words| said.contains(words)) && !said.contains("passed back")
}

/// A refusal of streaming, not a word that happens to stand in another one ("upstream", "the stream was cut").
fn is_about_streams(said: &str) -> bool {
    refuses_one_of(said, &["\"stream\"", "'stream'", "`stream`", "streaming", "to stream", "stream=", "stream:"])
}

/// Whether one of these is refused.
fn refuses_one_of(said: &str, names: &[&str]) -> bool {
    let refuses = [
        "support",
        "allow",
        "unrecognized",
        "unknown",
        "unsupported",
        "extra",
        "not permitted",
        "verified",
        "disabled",
    ];
    names.iter().any(|name| has_word(said, name)) && refuses.iter().any(|words| said.contains(words))
}

/// Whether it stands there, and not as the end of another word.
fn has_word(said: &str, name: &str) -> bool {
    said.match_indices(name)
        .any(|(at, _)| !name.starts_with(char::is_alphabetic) || !said[..at].ends_with(char::is_alphabetic))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lesson(api: Api, status: u16, body: &str) -> Option<Lesson> {
        let mut config = ModelConfig::new("http://127.0.0.1:1/v1", "m");
        config.profile.api = Some(api);
        let learnt = Learnt::default();
        let manner = learnt.manner(&config, "http://127.0.0.1:1/v1");
        let lesson = learnt.learn(&config, &manner, status, body.as_bytes());
        assert_eq!(learnt.lessons(), usize::from(lesson.is_some()), "{body}");
        if lesson.is_some() {
            let next = learnt.manner(&config, "http://127.0.0.1:1/v1");
            assert_ne!(next, manner, "{body}");
            assert_eq!(learnt.learn(&config, &next, status, body.as_bytes()), None, "once: {body}");
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
            (
                Api::Chat,
                400,
                r#"{"error":{"message":"The `reasoning_content` in the thinking mode must be passed back to the API."}}"#,
                None,
            ),
            (Api::Chat, 400, r#"{"error":{"message":"upstream does not support this"}}"#, None),
            (Api::Chat, 500, r#"{"error":{"message":"streaming is not supported"}}"#, None),
            (Api::Chat, 400, r#"{"error":{"message":"maximum context length"}}"#, None),
        ] {
            assert_eq!(lesson(api, status, body), expected, "{body}");
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
        let manner = learnt.manner(&config, "http://127.0.0.1:1/v1");
        for body in ["use /v1/responses", "`stream` is not supported"] {
            assert_eq!(learnt.learn(&config, &manner, 400, body.as_bytes()), None, "{body}");
        }
    }
}

//! The protocols of model servers, each a folder with requests, responses and streams.
//!
//! All of them begin with the same [`turn::Turn`]s and end with the same [`Decoded`]: differences between two
//! protocols are in their folders, differences between two endpoints of one protocol are in the
//! [profile](super::profile::Profile). A streamed answer is assembled into the object of the same answer without
//! streaming, and read as such.

mod as_text;
mod chat;
mod conversation;
mod decoded;
pub(crate) mod ending;
mod extra_fields;
mod field;
mod fields;
mod halves;
mod inline_tool_calls;
mod kept;
mod messages;
mod names;
mod parallel;
mod responses;
mod sent_back;
#[cfg(test)]
mod tests;
mod text_forms;
mod thinking;
mod turn;

pub(crate) use conversation::ORIGIN;
pub(crate) use decoded::{Begun, Decoded, NoAnswer};
pub(crate) use field::Field;
pub(crate) use halves::mended;
pub(crate) use sent_back::SentBack;

use crate::{Api, ApiKey, OutputCapField, config::ModelConfig};
use plumbline_engine::ModelRequest;
use reqwest::RequestBuilder;
use serde_json::Value;

/// Options of one request in addition to the configuration, including what the job has learnt about the endpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RequestOptions {
    /// The protocol.
    pub(crate) api: Api,
    /// Whether a stream is requested.
    pub(crate) streamed: bool,
    /// Whether usage is requested by stream options (chat completions).
    pub(crate) stream_options: bool,
    /// Whether encrypted reasoning is requested (responses).
    pub(crate) encrypted: bool,
    /// Whether extra data of earlier answers is sent back.
    pub(crate) echo: bool,
    /// Whether an answer without reasoning is sent with an empty text in its place (chat completions).
    pub(crate) empty_reasoning: bool,
    /// Keys of it that are not sent back.
    pub(crate) left_out: Vec<String>,
    /// Answers that are sent as text together with their results, by their numbers in the history.
    pub(crate) as_text: Vec<i64>,
    /// Fields that are not sent although they are configured.
    pub(crate) without: Vec<Field>,
    /// The field name of the answer's cap in chat completions.
    pub(crate) output_cap: OutputCapField,
    /// Maximum cap that the endpoint accepts.
    pub(crate) most_tokens: Option<u32>,
    /// The reasoning effort, in the endpoint's values.
    pub(crate) effort: Option<String>,
    /// Whether the model decides it although a budget is configured (messages).
    pub(crate) adaptive: bool,
    /// The destination: protocol, address and model, in the form stored with extra data from there. Earlier versions
    /// stored only protocol and host, which could be any model there.
    pub(crate) origin: String,
}

impl RequestOptions {
    /// A field's value, unless the field is not sent.
    pub(crate) fn unless<T>(&self, field: Field, value: Option<T>) -> Option<T> {
        value.filter(|_| !self.without.contains(&field))
    }

    /// The cap of an answer, within the endpoint's maximum.
    fn capped(&self, max_output_tokens: u32) -> u32 {
        self.most_tokens.map_or(max_output_tokens, |most| most.min(max_output_tokens))
    }
}

/// The body of a request: the stable part first, the appended part last, and equal requests have equal bytes.
pub(crate) fn body(config: &ModelConfig, options: &RequestOptions, request: &ModelRequest<'_>) -> Vec<u8> {
    let turns = conversation::turns(config, options, request);
    match options.api {
        Api::Chat => chat::request::body(config, options, request, &turns),
        Api::Responses => responses::request::body(config, options, request, &turns),
        Api::Messages => messages::request::body(config, options, request, &turns),
    }
}

/// The parts of a request that may be refused.
pub(crate) fn sent_back(config: &ModelConfig, options: &RequestOptions, request: &ModelRequest<'_>) -> SentBack {
    let turns = conversation::turns(config, options, request);
    let mut sent = match options.api {
        Api::Chat => chat::request::sent_back(config, options, &turns),
        Api::Responses => responses::request::sent_back(options, &turns),
        Api::Messages => messages::request::sent_back(options, &turns),
    };
    let body = body(config, options, request);
    sent.fields = fields::root_of(&body).map(|fields| fields.into_keys().collect()).unwrap_or_default();
    sent
}

/// The cap on an answer's tokens as it is sent.
pub(crate) fn cap(options: &RequestOptions, max_output_tokens: u32) -> u32 {
    match options.api {
        Api::Chat | Api::Responses => options.capped(max_output_tokens),
        Api::Messages => messages::request::cap(options, max_output_tokens),
    }
}

/// With the key and the protocol's other headers.
pub(crate) fn headers(key: Option<&ApiKey>, api: Api, request: RequestBuilder) -> RequestBuilder {
    match (api, key) {
        (Api::Messages, key) => {
            let request = request.header("anthropic-version", messages::VERSION);
            match key {
                Some(key) => request.header("x-api-key", key.expose()),
                None => request,
            }
        }
        (Api::Chat | Api::Responses, Some(key)) => request.bearer_auth(key.expose()),
        (Api::Chat | Api::Responses, None) => request,
    }
}

/// Reads a whole answer.
pub(crate) fn decode(api: Api, body: &[u8]) -> Result<Decoded, NoAnswer> {
    let decoded = match api {
        Api::Chat => chat::response::decode(body),
        Api::Responses => responses::response::decode(body),
        Api::Messages => messages::response::decode(body),
    };
    decoded.map_err(|no_answer| match (&no_answer, fields::unnamed_error(body)) {
        (NoAnswer::Malformed(_), Some(error)) => NoAnswer::Error(error),
        _ => no_answer,
    })
}

/// The usage in a body that is not an answer, if readable.
pub(crate) fn usage_in(body: &[u8]) -> Option<Value> {
    let root: Value = serde_json::from_slice(body).ok()?;
    root.get("usage").filter(|usage| usage.is_object()).cloned()
}

/// An answer assembled from the events of a stream.
#[derive(Debug)]
pub(crate) struct Assembly {
    of: Of,
    /// The last event, if it has only words: the error, if nothing follows.
    remark: Option<Value>,
}

#[derive(Debug)]
enum Of {
    Chat(chat::stream::Assembly),
    Responses(responses::stream::Assembly),
    Messages(messages::stream::Assembly),
}

impl Assembly {
    /// Of nothing yet.
    pub(crate) fn new(api: Api) -> Self {
        let of = match api {
            Api::Chat => Of::Chat(chat::stream::Assembly::default()),
            Api::Responses => Of::Responses(responses::stream::Assembly::default()),
            Api::Messages => Of::Messages(messages::stream::Assembly::default()),
        };
        Self { of, remark: None }
    }

    /// Adds an event; whether it was the one that ends the answer.
    pub(crate) fn add(&mut self, name: Option<&str>, data: &str) -> Result<bool, NoAnswer> {
        if data.trim().is_empty() {
            return Ok(false);
        }
        let data = &halves::coded(data);
        if data.trim() != DONE {
            // Nearly all events of a stream are pieces of an answer.
            let is_piece = data.contains(r#""choices":[{"#);
            self.remark = if is_piece { None } else { fields::unnamed_error(data.as_bytes()) };
        }
        let added = match (name, &mut self.of) {
            (Some("error"), _) => Err(NoAnswer::Error(fields::error_in(data))),
            (_, Of::Chat(assembly)) => assembly.add(data),
            (_, Of::Responses(assembly)) => assembly.add(data),
            (_, Of::Messages(assembly)) => assembly.add(data),
        };
        match added {
            Err(NoAnswer::Error(_)) if self.close_if_ended() => Ok(true),
            added => added.map_err(NoAnswer::joined),
        }
    }

    /// Whether the answer has a finish reason, and is complete despite later errors.
    fn close_if_ended(&mut self) -> bool {
        match &mut self.of {
            Of::Chat(assembly) if assembly.has_ended() => assembly.close(),
            Of::Messages(assembly) if assembly.has_ended() => assembly.close(),
            // The last event of a response has its reason.
            Of::Chat(_) | Of::Messages(_) | Of::Responses(_) => return false,
        }
        true
    }

    /// Adds the final event of a stream without its blank line, if it is complete.
    pub(crate) fn add_last(&mut self, name: Option<&str>, data: &str) -> Result<(), NoAnswer> {
        match fields::is_json(data) || data.trim() == DONE {
            true => self.add(name, data).map(drop),
            false => Ok(()),
        }
    }

    /// Whether the stream ended by a mark of its own, not by its close alone.
    pub(crate) fn has_own_end(&self) -> bool {
        match &self.of {
            Of::Chat(assembly) => assembly.has_own_end(),
            Of::Messages(assembly) => assembly.has_own_end(),
            // Without it it is no answer.
            Of::Responses(_) => true,
        }
    }

    /// Bytes that are held, about.
    pub(crate) fn bytes(&self) -> usize {
        match &self.of {
            Of::Chat(assembly) => assembly.bytes(),
            Of::Responses(assembly) => assembly.bytes(),
            Of::Messages(assembly) => assembly.bytes(),
        }
    }

    /// The output so far, if no more will come.
    pub(crate) fn begun(&self) -> Begun {
        let usage = match &self.of {
            Of::Chat(assembly) => assembly.usage(),
            Of::Messages(assembly) => assembly.usage(),
            // It comes with the last event.
            Of::Responses(_) => None,
        };
        Begun { usage, bytes: self.bytes() }
    }

    /// The whole answer in its form without a stream; truncated if the stream ended early.
    pub(crate) fn into_body(self) -> Result<Vec<u8>, NoAnswer> {
        let body = match self.of {
            Of::Chat(assembly) => assembly.into_body(),
            Of::Responses(assembly) => assembly.into_body(),
            Of::Messages(assembly) => assembly.into_body(),
        };
        let body = body.map_err(|no_answer| match (no_answer, self.remark) {
            (NoAnswer::Cut, Some(remark)) => NoAnswer::Error(remark).joined(),
            (no_answer, _) => no_answer,
        })?;
        Ok(halves::joined(&body).into_owned().into_bytes())
    }
}

/// The data of the final event of a stream in OpenAI's protocols.
const DONE: &str = "[DONE]";

/// A request as bytes. It consists of texts, numbers and JSON that was already parsed.
fn written(request: &impl serde::Serialize) -> Vec<u8> {
    serde_json::to_vec(request).expect("writing JSON to memory: keys are strings and no value refuses to be written")
}

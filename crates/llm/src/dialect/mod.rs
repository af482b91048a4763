//! The protocols of model servers, each a folder with what it sends, what it reads and how it streams.
//!
//! All of them begin with the same [`conversation::Turn`]s and end with the same [`Decoded`]: what differs between two
//! protocols is in their folders, what differs between two endpoints of one protocol is in the
//! [profile](super::profile::Profile). A streamed answer is put together to the object that it would have been without
//! streaming, and read as that.

mod as_text;
mod chat;
mod conversation;
mod decoded;
pub(crate) mod ending;
mod extra_fields;
mod field;
mod fields;
#[cfg(test)]
mod growth;
mod halves;
mod inline_tool_calls;
mod kept;
mod messages;
mod names;
mod parallel;
mod responses;
mod sent_back;
mod text_forms;

pub(crate) use conversation::ORIGIN;
pub(crate) use decoded::{Begun, Decoded, NoAnswer};
pub(crate) use field::Field;
pub(crate) use halves::mended;
pub(crate) use sent_back::SentBack;

use super::config::{ApiKey, ModelConfig, OutputCapField};
use super::profile::Api;
use plumbline_engine::ModelRequest;
use reqwest::RequestBuilder;
use serde_json::Value;

/// How one request is made, besides what the configuration says: what the job has learnt of the endpoint is in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Manner {
    /// The protocol.
    pub(crate) api: Api,
    /// Whether a stream is asked for.
    pub(crate) streamed: bool,
    /// Whether its usage is asked for by options of the stream (chat completions).
    pub(crate) stream_options: bool,
    /// Whether reasoning that only the provider can read is asked for (responses).
    pub(crate) encrypted: bool,
    /// Whether what came with earlier answers goes back with them.
    pub(crate) echo: bool,
    /// Keys of it that do not.
    pub(crate) left_out: Vec<String>,
    /// Answers that are sent as text with their results, by their numbers in the history.
    pub(crate) as_text: Vec<i64>,
    /// Fields that do not go out though they are configured.
    pub(crate) without: Vec<Field>,
    /// The name under which chat completions send the answer's cap.
    pub(crate) output_cap: OutputCapField,
    /// Most tokens of an answer that the endpoint takes as a cap.
    pub(crate) most_tokens: Option<u32>,
    /// How much the model is to think, in the endpoint's words.
    pub(crate) effort: Option<String>,
    /// Whether it decides that itself where a budget is configured (messages).
    pub(crate) adaptive: bool,
    /// Where it goes: protocol, address and model, as it stands with what came from there. Earlier versions wrote the protocol
    /// and the host alone, which could be any model's there.
    pub(crate) origin: String,
}

impl Manner {
    /// A field's value, unless the field does not go out.
    pub(crate) fn unless<T>(&self, field: Field, value: Option<T>) -> Option<T> {
        value.filter(|_| !self.without.contains(&field))
    }

    /// The cap of an answer within what the endpoint takes.
    fn capped(&self, max_output_tokens: u32) -> u32 {
        self.most_tokens.map_or(max_output_tokens, |most| most.min(max_output_tokens))
    }
}

/// The body of a request: what stays the same between two turns first, what is appended last, and equal requests in equal
/// bytes.
pub(crate) fn body(config: &ModelConfig, manner: &Manner, request: &ModelRequest<'_>) -> Vec<u8> {
    let turns = conversation::turns(config, manner, request);
    match manner.api {
        Api::Chat => chat::request::body(config, manner, request, &turns),
        Api::Responses => responses::request::body(config, manner, request, &turns),
        Api::Messages => messages::request::body(config, manner, request, &turns),
    }
}

/// What a request sends that may be refused.
pub(crate) fn sent_back(config: &ModelConfig, manner: &Manner, request: &ModelRequest<'_>) -> SentBack {
    let turns = conversation::turns(config, manner, request);
    let mut sent = match manner.api {
        Api::Chat => chat::request::sent_back(config, manner, &turns),
        Api::Responses => responses::request::sent_back(manner, &turns),
        Api::Messages => messages::request::sent_back(manner, &turns),
    };
    let body = body(config, manner, request);
    sent.fields = fields::root_of(&body).map(|fields| fields.into_keys().collect()).unwrap_or_default();
    sent
}

/// The cap on an answer's tokens as the endpoint is told it.
pub(crate) fn cap(manner: &Manner, max_output_tokens: u32) -> u32 {
    match manner.api {
        Api::Chat | Api::Responses => manner.capped(max_output_tokens),
        Api::Messages => messages::request::cap(manner, max_output_tokens),
    }
}

/// With the key and whatever else the protocol wants in headers.
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
    match api {
        Api::Chat => chat::response::decode(body),
        Api::Responses => responses::response::decode(body),
        Api::Messages => messages::response::decode(body),
    }
}

/// The usage in a body that is no answer, if there is one that can be read.
pub(crate) fn usage_in(body: &[u8]) -> Option<Value> {
    let root: Value = serde_json::from_slice(body).ok()?;
    root.get("usage").filter(|usage| usage.is_object()).cloned()
}

/// An answer that is put together from the events of a stream.
#[derive(Debug)]
pub(crate) enum Assembly {
    Chat(chat::stream::Assembly),
    Responses(responses::stream::Assembly),
    Messages(messages::stream::Assembly),
}

impl Assembly {
    /// Of nothing yet.
    pub(crate) fn new(api: Api) -> Self {
        match api {
            Api::Chat => Self::Chat(chat::stream::Assembly::default()),
            Api::Responses => Self::Responses(responses::stream::Assembly::default()),
            Api::Messages => Self::Messages(messages::stream::Assembly::default()),
        }
    }

    /// Adds an event; whether it was the one that ends the answer.
    pub(crate) fn add(&mut self, name: Option<&str>, data: &str) -> Result<bool, NoAnswer> {
        if data.trim().is_empty() {
            return Ok(false);
        }
        let data = &halves::coded(data);
        let added = match (name, &mut *self) {
            (Some("error"), _) => Err(NoAnswer::Error(fields::error_in(data))),
            (_, Self::Chat(assembly)) => assembly.add(data),
            (_, Self::Responses(assembly)) => assembly.add(data),
            (_, Self::Messages(assembly)) => assembly.add(data),
        };
        match added {
            Err(NoAnswer::Error(_)) if self.close_if_ended() => Ok(true),
            added => added.map_err(NoAnswer::joined),
        }
    }

    /// Whether the answer has given a reason for its end, and is whole whatever goes wrong behind it.
    fn close_if_ended(&mut self) -> bool {
        match self {
            Self::Chat(assembly) if assembly.has_ended() => assembly.close(),
            Self::Messages(assembly) if assembly.has_ended() => assembly.close(),
            // The last event of a response has its reason.
            Self::Chat(_) | Self::Messages(_) | Self::Responses(_) => return false,
        }
        true
    }

    /// Adds what stood at the end of a stream without the blank line behind it, if it is all there.
    pub(crate) fn add_last(&mut self, name: Option<&str>, data: &str) -> Result<(), NoAnswer> {
        match fields::is_json(data) || data.trim() == DONE {
            true => self.add(name, data).map(drop),
            false => Ok(()),
        }
    }

    /// Whether the stream ended by a mark of its own, not by its close alone.
    pub(crate) fn has_own_end(&self) -> bool {
        match self {
            Self::Chat(assembly) => assembly.has_own_end(),
            // Without it they are no answer.
            Self::Responses(_) | Self::Messages(_) => true,
        }
    }

    /// Bytes that are held, about.
    pub(crate) fn bytes(&self) -> usize {
        match self {
            Self::Chat(assembly) => assembly.bytes(),
            Self::Responses(assembly) => assembly.bytes(),
            Self::Messages(assembly) => assembly.bytes(),
        }
    }

    /// What has come, where nothing more will.
    pub(crate) fn begun(&self) -> Begun {
        let usage = match self {
            Self::Chat(assembly) => assembly.usage(),
            Self::Messages(assembly) => assembly.usage(),
            // It comes with the last event.
            Self::Responses(_) => None,
        };
        Begun { usage, bytes: self.bytes() }
    }

    /// The whole answer as it would have come without a stream; a cut where the stream ended before its time.
    pub(crate) fn into_body(self) -> Result<Vec<u8>, NoAnswer> {
        let body = match self {
            Self::Chat(assembly) => assembly.into_body(),
            Self::Responses(assembly) => assembly.into_body(),
            Self::Messages(assembly) => assembly.into_body(),
        }?;
        Ok(halves::joined(&body).into_owned().into_bytes())
    }
}

/// The data of the event that closes a stream of OpenAI's protocols.
const DONE: &str = "[DONE]";

/// A request as bytes. It is made of texts, numbers and JSON that was read before.
fn written(request: &impl serde::Serialize) -> Vec<u8> {
    serde_json::to_vec(request).expect("writing JSON to memory: keys are strings and no value refuses to be written")
}

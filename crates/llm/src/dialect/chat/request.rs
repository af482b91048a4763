//! The body of `POST {base_url}/chat/completions`.
//!
//! The order of fields is fixed: `model`, `tools`, `messages`, then caps and sampling.

use crate::dialect::Field;
use crate::dialect::conversation::{CALL_EXTRAS, Offer, offers, tool_choice};
use crate::dialect::turn::{Answer, Call, Turn};
use crate::dialect::{RequestOptions, SentBack, written};
use crate::{OutputCapField, config::ModelConfig, profile::Profile};
use plumbline_engine::ModelRequest;
use serde::{Serialize, Serializer, ser::SerializeMap};
use serde_json::{Map, Value, json, value::RawValue};

/// The field names of reasoning text. Servers changed from one to the other.
const REASONING_FIELDS: [&str; 2] = ["reasoning_content", "reasoning"];

#[derive(Serialize)]
struct Request<'a> {
    model: &'a str,
    // Servers refuse an empty list of tools, and a choice without tools.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tool<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parallel_tool_calls: Option<bool>,
    messages: Vec<Message<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_completion_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_effort: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    service_tier: Option<&'a str>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    stream_options: Option<StreamOptions>,
}

#[derive(Serialize)]
struct StreamOptions {
    include_usage: bool,
}

#[derive(Serialize)]
struct Tool<'a> {
    r#type: &'static str,
    function: Function<'a>,
}

#[derive(Serialize)]
struct Function<'a> {
    name: &'a str,
    description: &'a str,
    parameters: &'a RawValue,
}

#[derive(Serialize)]
struct Message<'a> {
    role: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_call_id: Option<&'a str>,
    /// Null with calls: some providers refuse an empty string there, and all refuse null without calls.
    content: Option<&'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tool_calls: Vec<ToolCall<'a>>,
    #[serde(flatten)]
    extra: Extra<'a>,
}

#[derive(Serialize)]
struct ToolCall<'a> {
    id: &'a str,
    r#type: &'static str,
    function: Called<'a>,
    #[serde(flatten)]
    extra: Extra<'a>,
}

#[derive(Serialize)]
struct Called<'a> {
    name: &'a str,
    arguments: &'a str,
}

/// Further fields, in their order.
#[derive(Default)]
struct Extra<'a>(Vec<(&'a str, &'a Value)>);

impl Serialize for Extra<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (key, value) in &self.0 {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}

/// Placeholder for an endpoint that requires a non-empty value.
struct Placeholders {
    reasoning: Value,
    /// On the first call of an answer, like Gemini's thought signature.
    signature: Option<Map<String, Value>>,
}

impl Placeholders {
    fn of(profile: &Profile) -> Self {
        let signed = |signature: &String| {
            let google = json!({"google": {"thought_signature": signature}});
            Map::from_iter([("extra_content".to_owned(), google)])
        };
        Self { reasoning: Value::String(String::new()), signature: profile.signature_placeholder.as_ref().map(signed) }
    }
}

/// Writes it.
pub(in crate::dialect) fn body(
    config: &ModelConfig,
    options: &RequestOptions,
    request: &ModelRequest<'_>,
    turns: &[Turn<'_>],
) -> Vec<u8> {
    let offers = offers(request, turns, config.profile.tools_in_summary);
    let cap = |field| (options.output_cap == field).then_some(options.capped(request.max_output_tokens));
    let placeholders = Placeholders::of(&config.profile);
    let of_earlier = Earlier { profile: &config.profile, options, placeholders: &placeholders };
    let parallel_tool_calls = config.parallel_tool_calls.filter(|_| !request.tools.is_empty());
    written(&Request {
        model: &config.model,
        tool_choice: tool_choice(config, options, request, &offers),
        parallel_tool_calls: options.unless(Field::ParallelToolCalls, parallel_tool_calls),
        tools: offers.iter().map(tool).collect(),
        messages: turns.iter().map(|turn| message(turn, &of_earlier)).collect(),
        max_tokens: cap(OutputCapField::MaxTokens),
        max_completion_tokens: cap(OutputCapField::MaxCompletionTokens),
        temperature: options.unless(Field::Temperature, config.temperature),
        reasoning_effort: options.effort.as_deref(),
        service_tier: options.unless(Field::ServiceTier, config.service_tier.as_deref()),
        stream: options.streamed,
        stream_options: (options.streamed && options.stream_options).then_some(StreamOptions { include_usage: true }),
    })
}

/// Data of earlier answers in it.
pub(in crate::dialect) fn sent_back(config: &ModelConfig, options: &RequestOptions, turns: &[Turn<'_>]) -> SentBack {
    let placeholders = Placeholders::of(&config.profile);
    let of_earlier = Earlier { profile: &config.profile, options, placeholders: &placeholders };
    let mut sent = SentBack { turns: turns.iter().map(Turn::answer).collect(), ..SentBack::default() };
    for turn in turns {
        let message = message(turn, &of_earlier);
        let of_calls = message.tool_calls.iter().flat_map(|call| &call.extra.0);
        for (key, value) in message.extra.0.iter().chain(of_calls) {
            sent.add(key, value);
        }
    }
    sent
}

fn tool<'a>(offer: &Offer<'a>) -> Tool<'a> {
    let Offer { name, description, parameters } = *offer;
    Tool { r#type: "function", function: Function { name, description, parameters } }
}

/// How data of earlier answers is sent back.
struct Earlier<'a> {
    profile: &'a Profile,
    options: &'a RequestOptions,
    placeholders: &'a Placeholders,
}

fn message<'a>(turn: &'a Turn<'_>, earlier: &Earlier<'a>) -> Message<'a> {
    let plain = |role, text: &'a str| Message {
        role,
        tool_call_id: None,
        content: Some(text),
        tool_calls: Vec::new(),
        extra: Extra::default(),
    };
    match turn {
        Turn::System(text) => plain("system", text),
        Turn::User(text) => plain("user", text),
        Turn::Result { call_id, text, .. } => Message { tool_call_id: Some(call_id), ..plain("tool", text) },
        Turn::Answer(answer) => {
            let content = Some(&*answer.text).filter(|text| !text.is_empty() || answer.calls.is_empty());
            let (tool_calls, extra) = (earlier.calls(answer), earlier.extra(answer));
            Message { role: "assistant", tool_call_id: None, content, tool_calls, extra }
        }
    }
}

impl<'a> Earlier<'a> {
    fn calls(&self, answer: &'a Answer<'_>) -> Vec<ToolCall<'a>> {
        let extras = answer.extra.iter().find(|(key, _)| *key == CALL_EXTRAS).and_then(|(_, extras)| extras.as_array());
        let own = |place: usize| extras.and_then(|extras| extras.get(place)).and_then(Value::as_object);
        let of = |place: usize| own(place).or(self.placeholders.signature.as_ref().filter(|_| place == 0));
        let written = |(place, call): (usize, &'a Call<'_>)| ToolCall {
            id: &call.id,
            r#type: "function",
            function: Called { name: &call.name, arguments: call.arguments },
            extra: self.taken(of(place).into_iter().flatten().map(|(key, value)| (key.as_str(), value))),
        };
        answer.calls.iter().enumerate().map(written).collect()
    }

    /// The non-standard fields of the message, with reasoning under the name that the endpoint accepts.
    fn extra(&self, answer: &'a Answer<'_>) -> Extra<'a> {
        let field = self.profile.reasoning_field.as_deref();
        let is_reasoning = |key: &str| REASONING_FIELDS.contains(&key);
        let own = answer.extra.iter().filter(|(key, _)| !is_reserved(key));
        let mut extra: Vec<(&str, &Value)> = own
            .map(|(key, value)| match field {
                Some(field) if is_reasoning(key) => (field, *value),
                _ => (*key, *value),
            })
            .collect();
        // Servers send both during the change.
        extra.dedup_by_key(|(key, _)| *key);
        let has_reasoning = extra.iter().any(|(key, _)| is_reasoning(key) || Some(*key) == field);
        if self.options.empty_reasoning && !has_reasoning {
            extra.push((field.unwrap_or(REASONING_FIELDS[0]), &self.placeholders.reasoning));
        }
        self.taken(extra)
    }

    /// The fields that the endpoint accepts.
    fn taken(&self, fields: impl IntoIterator<Item = (&'a str, &'a Value)>) -> Extra<'a> {
        Extra(fields.into_iter().filter(|(key, _)| self.options.left_out.iter().all(|left| left != key)).collect())
    }
}

fn is_reserved(key: &str) -> bool {
    matches!(key, "role" | "content" | "tool_call_id" | CALL_EXTRAS)
}

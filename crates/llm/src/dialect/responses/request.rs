//! The body of `POST {base_url}/responses`.
//!
//! Nothing is stored at the provider (`store: false`), so the model's reasoning is sent back as the encrypted items of
//! earlier answers.

use super::ITEMS;
use crate::config::ModelConfig;
use crate::dialect::Field;
use crate::dialect::conversation::{Offer, offers, tool_choice};
use crate::dialect::kept::{kept, kind};
use crate::dialect::turn::{Answer, Call, Turn};
use crate::dialect::{RequestOptions, SentBack, written};
use plumbline_engine::ModelRequest;
use serde::Serialize;
use serde_json::{Map, Value, json, value::RawValue};

/// Requested in addition to the answer: reasoning in a form that can be sent back.
const ENCRYPTED: [&str; 1] = ["reasoning.encrypted_content"];

#[derive(Serialize)]
struct Request<'a> {
    model: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    instructions: Option<&'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tool<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parallel_tool_calls: Option<bool>,
    store: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    include: Option<[&'static str; 1]>,
    input: Vec<Item<'a>>,
    max_output_tokens: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning: Option<Reasoning<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    service_tier: Option<&'a str>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    stream: bool,
}

#[derive(Serialize)]
struct Reasoning<'a> {
    effort: &'a str,
}

#[derive(Serialize)]
struct Tool<'a> {
    r#type: &'static str,
    name: &'a str,
    description: &'a str,
    parameters: &'a RawValue,
    /// Strict mode, which is on by default, requires schemas without optional arguments.
    strict: bool,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Item<'a> {
    Message {
        role: &'static str,
        content: &'a str,
    },
    FunctionCall {
        call_id: &'a str,
        name: &'a str,
        arguments: &'a str,
    },
    FunctionCallOutput {
        call_id: &'a str,
        output: &'a str,
    },
    /// An item that came from the provider.
    #[serde(untagged)]
    Kept(Map<String, Value>),
}

/// Writes it.
pub(in crate::dialect) fn body(
    config: &ModelConfig,
    options: &RequestOptions,
    request: &ModelRequest<'_>,
    turns: &[Turn<'_>],
) -> Vec<u8> {
    let (instructions, turns) = instructed(turns);
    let parallel_tool_calls = config.parallel_tool_calls.filter(|_| !request.tools.is_empty());
    let offers = offers(request, turns, config.profile.tools_in_summary);
    written(&Request {
        model: &config.model,
        instructions,
        tool_choice: tool_choice(config, options, request, &offers),
        parallel_tool_calls: options.unless(Field::ParallelToolCalls, parallel_tool_calls),
        tools: offers.iter().map(tool).collect(),
        store: false,
        include: options.encrypted.then_some(ENCRYPTED),
        input: turns.iter().flat_map(|turn| items(turn, options)).collect(),
        max_output_tokens: options.capped(request.max_output_tokens),
        temperature: options.unless(Field::Temperature, config.temperature),
        reasoning: options.effort.as_deref().map(|effort| Reasoning { effort }),
        service_tier: options.unless(Field::ServiceTier, config.service_tier.as_deref()),
        stream: options.streamed,
    })
}

/// Data of earlier answers in it.
pub(in crate::dialect) fn sent_back(options: &RequestOptions, turns: &[Turn<'_>]) -> SentBack {
    let mut sent = SentBack::default();
    for turn in instructed(turns).1 {
        for item in items(turn, options) {
            sent.turns.push(turn.answer());
            if let Item::Kept(fields) = item {
                sent.add_item(&fields);
            }
        }
    }
    sent
}

/// The first system message, which is not an item, and the turns after it.
fn instructed<'a, 'b>(turns: &'b [Turn<'a>]) -> (Option<&'b str>, &'b [Turn<'a>]) {
    match turns {
        [Turn::System(text), turns @ ..] => (Some(&**text), turns),
        turns => (None, turns),
    }
}

fn tool<'a>(offer: &Offer<'a>) -> Tool<'a> {
    let Offer { name, description, parameters } = *offer;
    Tool { r#type: "function", name, description, parameters, strict: false }
}

fn items<'a>(turn: &'a Turn<'_>, options: &RequestOptions) -> Vec<Item<'a>> {
    match turn {
        Turn::System(text) => vec![Item::Message { role: "system", content: text }],
        Turn::User(text) => vec![Item::Message { role: "user", content: text }],
        Turn::Result { call_id, text, .. } => vec![Item::FunctionCallOutput { call_id, output: text }],
        Turn::Answer(answer) => match kept(&answer.extra, ITEMS) {
            Some(items) => in_their_places(items, answer, options),
            None => {
                let said =
                    (!answer.text.is_empty()).then_some(Item::Message { role: "assistant", content: &answer.text });
                said.into_iter().chain(answer.calls.iter().map(called)).collect()
            }
        },
    }
}

fn called<'a>(call: &'a Call<'_>) -> Item<'a> {
    Item::FunctionCall { call_id: &call.id, name: &call.name, arguments: call.arguments }
}

/// The original items, with the message's text and calls at their positions. Calls without a position follow at the
/// end.
fn in_their_places<'a>(items: &[Value], answer: &'a Answer<'_>, options: &RequestOptions) -> Vec<Item<'a>> {
    let mut calls = answer.calls.iter();
    let mut placed = Vec::with_capacity(items.len());
    for item in items {
        let Some(fields) = item.as_object() else { continue };
        let mut fields = fields.clone();
        fields.retain(|key, _| !options.left_out.contains(key));
        match kind(item) {
            "message" if !fields.contains_key("content") => {
                if answer.text.is_empty() {
                    continue;
                }
                let text = json!([{"type": "output_text", "text": answer.text, "annotations": [], "logprobs": []}]);
                fields.insert("content".into(), text);
            }
            "function_call" => {
                let Some(call) = calls.next() else { continue };
                fields.insert("call_id".into(), call.id.clone().into());
                fields.insert("name".into(), (*call.name).into());
                fields.insert("arguments".into(), call.arguments.into());
            }
            _ => {}
        }
        placed.push(Item::Kept(fields));
    }
    placed.extend(calls.map(called));
    // Reasoning without a following item is refused.
    while matches!(placed.last(), Some(Item::Kept(fields)) if fields.get("type").is_some_and(|kind| kind == "reasoning"))
    {
        placed.pop();
    }
    placed
}

//! The body of `POST {base_url}/messages`.
//!
//! Users and the model alternate: consecutive results, remarks and the todo list are blocks of one user turn. The
//! provider caches everything before a mark (`cache_control`). Marks follow the system prompt, the last message of the
//! history, and the history of the previous request, because the provider searches at most twenty blocks back for a
//! cached prefix.

use super::BLOCKS;
use crate::config::ModelConfig;
use crate::dialect::Field;
use crate::dialect::conversation::{Offer, must_call, offers, raw};
use crate::dialect::kept::{kept, kind};
use crate::dialect::turn::{Answer, Call, Turn};
use crate::dialect::{RequestOptions, SentBack, written};
use plumbline_engine::{ModelRequest, Purpose, RequestMessage};
use serde::Serialize;
use serde_json::{Map, Value, json, value::RawValue};

/// Opens a conversation that would otherwise begin with an answer of the model.
const GO_ON: &str = "Go on.";

#[derive(Serialize)]
struct Request<'a> {
    model: &'a str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tool<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<Value>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    system: Vec<Block<'a>>,
    messages: Vec<Message<'a>>,
    max_tokens: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_config: Option<Effort<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    service_tier: Option<&'a str>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    stream: bool,
}

#[derive(Serialize)]
struct Effort<'a> {
    effort: &'a str,
}

#[derive(Serialize)]
struct Tool<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    description: &'a str,
    input_schema: &'a RawValue,
}

#[derive(Serialize)]
struct Message<'a> {
    role: &'static str,
    content: Vec<Block<'a>>,
    /// The answer that it is, or whose results it has, by its number in the history.
    #[serde(skip)]
    answer: Option<i64>,
}

#[derive(Serialize)]
struct Block<'a> {
    #[serde(flatten)]
    content: Content<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_control: Option<Mark>,
}

#[derive(Serialize)]
struct Mark {
    r#type: &'static str,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Content<'a> {
    Text {
        text: &'a str,
    },
    ToolUse {
        id: &'a str,
        name: &'a str,
        input: &'a RawValue,
    },
    ToolResult {
        tool_use_id: &'a str,
        #[serde(skip_serializing_if = "str::is_empty")]
        content: &'a str,
    },
    /// A block that came from the provider.
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
    // Without them, a conversation with calls is refused.
    let offers = offers(request, turns, true);
    let marked = marked(request, turns);
    let (mut system, mut messages) = (Vec::new(), Vec::new());
    for (place, turn) in turns.iter().enumerate() {
        match turn {
            Turn::System(text) => system.extend(text_block(text)),
            _ => push(&mut messages, turn, options, marked.contains(&place)),
        }
    }
    if let (Some(first), true) = (system.first_mut(), !marked.is_empty()) {
        mark(first);
    }
    let (thinking, effort) = thinking(options, turns);
    written(&Request {
        model: &config.model,
        tool_choice: tool_choice(config, options, request, &offers, thinking.is_some()),
        tools: offers.iter().map(tool).collect(),
        system,
        messages,
        max_tokens: cap(options, request.max_output_tokens),
        temperature: options.unless(Field::Temperature, config.temperature),
        thinking,
        output_config: effort.map(|effort| Effort { effort }),
        service_tier: options.unless(Field::ServiceTier, config.service_tier.as_deref()),
        stream: options.streamed,
    })
}

/// Data of earlier answers in it.
pub(in crate::dialect) fn sent_back(options: &RequestOptions, turns: &[Turn<'_>]) -> SentBack {
    let mut messages = Vec::new();
    for turn in turns.iter().filter(|turn| !matches!(turn, Turn::System(_))) {
        push(&mut messages, turn, options, false);
    }
    let mut sent = SentBack { turns: messages.iter().map(|message| message.answer).collect(), ..SentBack::default() };
    for block in messages.iter().flat_map(|message| &message.content) {
        if let Content::Kept(fields) = &block.content {
            sent.add_item(fields);
        }
    }
    sent
}

fn tool<'a>(offer: &Offer<'a>) -> Tool<'a> {
    Tool { name: offer.name, description: offer.description, input_schema: offer.parameters }
}

/// The cap as it is sent: reasoning counts, and a thinking budget that leaves no room for an answer is refused.
pub(in crate::dialect) fn cap(options: &RequestOptions, max_output_tokens: u32) -> u32 {
    let budget = options.effort.as_deref().and_then(budget).unwrap_or(0);
    let cap = if budget < max_output_tokens { max_output_tokens } else { max_output_tokens.saturating_add(budget) };
    options.capped(cap)
}

/// A level that is a token budget.
fn budget(level: &str) -> Option<u32> {
    level.parse().ok()
}

/// How the model thinks: a number is a token budget, required by older models; a word is an effort, and the model
/// decides when to think.
fn thinking<'a>(options: &'a RequestOptions, turns: &[Turn<'_>]) -> (Option<Value>, Option<&'a str>) {
    match options.effort.as_deref() {
        None | Some("none") => (None, None),
        Some(level) => match budget(level) {
            Some(_) if options.adaptive => (Some(json!({"type": "adaptive"})), None),
            Some(_) if is_amid_calls_without_thoughts(turns) => (None, None),
            Some(tokens) => (Some(json!({"type": "enabled", "budget_tokens": tokens})), None),
            None => (Some(json!({"type": "adaptive"})), Some(level)),
        },
    }
}

/// Whether the last answer has calls without thinking: it is another model's, or its thinking is not sent back. With a
/// budget that is refused.
fn is_amid_calls_without_thoughts(turns: &[Turn<'_>]) -> bool {
    let last = turns.iter().rev().find_map(|turn| if let Turn::Answer(answer) = turn { Some(answer) } else { None });
    last.is_some_and(|answer| {
        let first = kept(&answer.extra, BLOCKS).and_then(<[Value]>::first);
        !answer.calls.is_empty() && !first.is_some_and(|first| matches!(kind(first), "thinking" | "redacted_thinking"))
    })
}

fn tool_choice(
    config: &ModelConfig,
    options: &RequestOptions,
    request: &ModelRequest<'_>,
    offers: &[Offer<'_>],
    thinks: bool,
) -> Option<Value> {
    if request.tools.is_empty() {
        return options.unless(Field::ToolChoice, (!offers.is_empty()).then(|| json!({"type": "none"})));
    }
    // A model that thinks cannot be forced to call a tool.
    let kind = if must_call(config, options, request) && !thinks { "any" } else { "auto" };
    match options.unless(Field::ToolChoice, config.parallel_tool_calls) {
        Some(false) => Some(json!({"type": kind, "disable_parallel_tool_use": true})),
        Some(true) | None => (kind == "any").then(|| json!({"type": kind})),
    }
}

/// The entries after which the provider should cache: the current end of the history, and its end in the previous
/// request. A summary is requested once, so caching it is useless.
fn marked(request: &ModelRequest<'_>, turns: &[Turn<'_>]) -> Vec<usize> {
    if request.purpose == Purpose::Summary {
        return Vec::new();
    }
    let made = |message: &&RequestMessage<'_>| !matches!(message, RequestMessage::Stored(_));
    let history = turns.len().saturating_sub(request.messages.iter().rev().take_while(made).count());
    let answered = turns[..history].iter().rposition(|turn| matches!(turn, Turn::Answer(_)));
    [Some(history), answered].into_iter().flatten().filter_map(|end| end.checked_sub(1)).collect()
}

fn push<'a>(messages: &mut Vec<Message<'a>>, turn: &'a Turn<'_>, options: &RequestOptions, marked: bool) {
    let (role, mut blocks) = match turn {
        Turn::Answer(answer) => ("assistant", answered(answer, options)),
        Turn::Result { call_id, text, .. } => {
            ("user", vec![block(Content::ToolResult { tool_use_id: call_id, content: text })])
        }
        Turn::User(text) | Turn::System(text) => ("user", text_block(text).into_iter().collect()),
    };
    if let (Some(last), true) = (blocks.last_mut(), marked) {
        mark(last);
    }
    if messages.is_empty() && role == "assistant" {
        messages.push(Message { role: "user", content: vec![block(Content::Text { text: GO_ON })], answer: None });
    }
    match messages.last_mut() {
        Some(last) if last.role == role => {
            last.content.append(&mut blocks);
            last.answer = last.answer.or(turn.answer());
        }
        _ if blocks.is_empty() => {}
        _ => messages.push(Message { role, content: blocks, answer: turn.answer() }),
    }
}

fn block(content: Content<'_>) -> Block<'_> {
    Block { content, cache_control: None }
}

/// Empty texts are refused.
fn text_block(text: &str) -> Option<Block<'_>> {
    (!text.trim().is_empty()).then(|| block(Content::Text { text }))
}

/// Thinking cannot be marked.
fn mark(block: &mut Block<'_>) {
    if !matches!(block.content, Content::Kept(_)) {
        block.cache_control = Some(Mark { r#type: "ephemeral" });
    }
}

fn answered<'a>(answer: &'a Answer<'_>, options: &RequestOptions) -> Vec<Block<'a>> {
    match kept(&answer.extra, BLOCKS) {
        Some(blocks) => in_their_places(blocks, answer, options),
        None => text_block(&answer.text).into_iter().chain(answer.calls.iter().map(used)).collect(),
    }
}

fn used<'a>(call: &'a Call<'_>) -> Block<'a> {
    let input = serde_json::from_str(call.arguments).unwrap_or_else(|_| raw("{}"));
    block(Content::ToolUse { id: &call.id, name: &call.name, input })
}

/// The original blocks, with the message's text and calls at their positions. Calls without a position follow at the
/// end.
fn in_their_places<'a>(blocks: &[Value], answer: &'a Answer<'_>, options: &RequestOptions) -> Vec<Block<'a>> {
    let mut calls = answer.calls.iter();
    let mut placed = Vec::with_capacity(blocks.len());
    for kept in blocks {
        match (kind(kept), kept.as_object()) {
            ("text", Some(fields)) if !fields.contains_key("text") => placed.extend(text_block(&answer.text)),
            ("tool_use", _) => placed.extend(calls.next().map(used)),
            ("text", Some(fields)) if fields["text"].as_str().is_none_or(|text| text.trim().is_empty()) => {}
            (_, Some(fields)) => {
                let mut fields = fields.clone();
                fields.retain(|key, _| !options.left_out.contains(key));
                placed.push(block(Content::Kept(fields)));
            }
            (_, None) => {}
        }
    }
    placed.extend(calls.map(used));
    placed
}

//! From the text of a refusal to a lesson. Only settings that the configuration leaves open are learnt; there is no
//! risk, because the request is changed only once.

use super::lesson::Lesson;
use super::said::Said;
use crate::dialect::{Field, RequestOptions, SentBack};
use crate::{Api, OutputCapField, Streaming, config::ModelConfig};
use plumbline_engine::FailureClass;

/// A request that was refused.
pub(crate) struct Refusal<'a> {
    pub(crate) status: u16,
    /// Its other properties.
    pub(crate) class: FailureClass,
    pub(crate) body: &'a [u8],
    /// The requested cap in tokens.
    pub(crate) cap: u32,
    /// Data of earlier answers in the request.
    pub(crate) sent: &'a dyn Fn() -> SentBack,
}

/// Efforts in their order.
const EFFORTS: [&str; 7] = ["none", "minimal", "low", "medium", "high", "xhigh", "max"];

/// Minimum tokens of a thinking budget (Anthropic), and of a useful cap.
const SMALLEST_BUDGET: u32 = 1024;
const SMALLEST_CAP: u32 = 16;

/// Possible lessons of a refusal, the likeliest first.
pub(super) fn lessons_of(config: &ModelConfig, options: &RequestOptions, refusal: &Refusal<'_>) -> Vec<Lesson> {
    // Gateways report a refusal as their own error; then only its text shows that it is one.
    let is_verdict = refusal.class == FailureClass::Permanent;
    let is_refusal = matches!(refusal.status, 400 | 404 | 405 | 415 | 422 | 501);
    if !is_refusal && (!is_verdict || refusal.status < 500) {
        return Vec::new();
    }
    let said = Said::of(refusal.body);
    let mut lessons = Vec::new();
    lessons.extend(of_protocol(config, options, &said));
    let sent = is_verdict.then(|| (refusal.sent)());
    if let Some(sent) = &sent {
        lessons.extend(of_settings(options, &said, sent, refusal.cap));
    }
    lessons.extend(of_missing_reasoning(options, &said));
    lessons.extend(of_reasoning(options, &said));
    if let (Some(sent), true) = (&sent, options.echo) {
        lessons.extend(of_keys(&said, sent));
    }
    lessons.extend((options.echo && options.api == Api::Chat && is_about_reasoning(&said)).then_some(Lesson::NoEcho));
    lessons.extend(of_streams(config, options, &said));
    lessons.extend(sent.and_then(|sent| Some(Lesson::AsText((*sent.turns.get(said.place()?)?)?))));
    lessons
}

fn of_protocol(config: &ModelConfig, options: &RequestOptions, said: &Said) -> Option<Lesson> {
    // OpenAI's newer models accept tools only in responses (gpt-5.6), or if an effort is set (gpt-5.2 to 5.5).
    let is_open = config.api.is_none() && options.api == Api::Chat;
    if is_open && said.says(&["v1/responses", "use the responses api"]) {
        return Some(Lesson::UseResponses);
    }
    let refuses_it = said.says(&["encrypted"]) && said.says(&["not supported", "include"]);
    (options.encrypted && options.api == Api::Responses && refuses_it).then_some(Lesson::NoEncrypted)
}

/// Optional configured fields, the cap's name and size, and the effort.
fn of_settings(options: &RequestOptions, said: &Said, sent: &SentBack, cap: u32) -> Vec<Lesson> {
    let mut lessons = Vec::new();
    lessons.extend(of_cap(options, said, cap));
    let refused = |field: &Field| sent.fields.contains(field.name()) && refuses_field(said, *field);
    lessons.extend(Field::ALL.into_iter().filter(refused).map(Lesson::Without));
    // A statement about a message's reasoning is not about the reasoning settings.
    if let (Some(effort), None) = (&options.effort, said.place()) {
        lessons.extend(of_effort(options, effort, said));
    }
    lessons
}

/// A value out of range is a configuration error that a person must fix; a field with only one permitted value is not.
fn refuses_field(said: &Said, field: Field) -> bool {
    let only_one = ["only the default", "may only be set to", "must be set to 1", "must be 1", "is fixed"];
    said.names(field.name()) && (said.refuses() || field == Field::Temperature && said.says(&only_one))
}

fn of_cap(options: &RequestOptions, said: &Said, cap: u32) -> Option<Lesson> {
    let (newer, older) = (OutputCapField::MaxCompletionTokens, OutputCapField::MaxTokens);
    let is_chat = options.api == Api::Chat;
    if is_chat && options.output_cap == older && said.has_word(newer.name()) && said.has_word(older.name()) {
        return Some(Lesson::CapAs(newer));
    }
    if is_chat && options.output_cap == newer && said.names(newer.name()) && said.refuses() {
        return Some(Lesson::CapAs(older));
    }
    let names = ["max_tokens", "max_completion_tokens", "max_output_tokens", "output tokens", "completion tokens"];
    let bounds = [">", "<", "at most", "maximum", "range", "too large", "up to", "exceed", "less than", "greater than"];
    // A cap that exceeds the window together with the prompt is an overflow.
    let is_of_cap = said.says(&names) && said.says(&bounds) && !said.says(&["prompt", "input", "budget_tokens"]);
    let most = said.numbers().filter(|most| (SMALLEST_CAP..cap).contains(most)).max();
    most.filter(|_| is_of_cap).map(Lesson::MostTokens)
}

/// A level is a word, or for messages a token budget.
fn of_effort(options: &RequestOptions, effort: &str, said: &Said) -> Option<Lesson> {
    let names =
        ["reasoning_effort", "reasoning.effort", "reasoning effort", "output_config", "effort", "budget_tokens"];
    let of_thinking = ["thinking.", "thinking_", "adaptive", "'thinking'", "`thinking`", "thinking:", "thinking is"];
    let is_of_it = said.says(&names) || options.api == Api::Messages && said.says(&of_thinking);
    let refuses = said.refuses() || said.says(&["input should be", "must be", "expected one of", "invalid"]);
    if !is_of_it || !refuses {
        return None;
    }
    if let Ok(budget) = effort.parse::<u32>() {
        if said.says(&["adaptive"]) && !options.adaptive {
            return Some(Lesson::Adaptive);
        }
        let taken = said.numbers().filter(|taken| *taken >= SMALLEST_BUDGET && *taken != budget);
        let taken = taken.min_by_key(|taken| taken.abs_diff(budget)).filter(|_| said.says(&["budget_tokens"]));
        return Some(taken.map_or(Lesson::NoEffort, |taken| Lesson::Effort(taken.to_string())));
    }
    Some(nearest_effort(effort, said).map_or(Lesson::NoEffort, |effort| Lesson::Effort(effort.to_owned())))
}

/// The nearest of the efforts that the refusal lists; of two the lower.
fn nearest_effort(effort: &str, said: &Said) -> Option<&'static str> {
    let at = EFFORTS.iter().position(|known| *known == effort).unwrap_or(0);
    // Some of them are also ordinary words.
    let is_taken = |known: &str| match known {
        "none" | "max" => said.quotes(known),
        _ => said.has_word(known),
    };
    let taken = EFFORTS.iter().enumerate().filter(|(_, known)| **known != effort && is_taken(known));
    taken.min_by_key(|(place, _)| place.abs_diff(at)).map(|(_, known)| *known)
}

/// Reasoning, signatures and encrypted items that are no longer accepted: from another key or host, after a change, or
/// without the items that belong to them.
fn of_reasoning(options: &RequestOptions, said: &Said) -> Option<Lesson> {
    const PHRASES: [&str; 8] = [
        "invalid_encrypted_content",
        "encrypted content could not be verified",
        "blocks in the latest assistant message cannot be modified",
        "invalid `signature` in `thinking` block",
        "invalid signature in thinking block",
        "items are not persisted when `store`",
        "expected `thinking`",
        "expected thinking",
    ];
    // Responses name the item, messages the block of a message.
    const ITEMS: [&str; 5] =
        ["'rs_", "of type 'reasoning'", "required 'reasoning' item", "reasoning item", "`reasoning` item"];
    let of_item = said.says(&["reasoning"]) && said.says(&ITEMS);
    let of_block = said.place().is_some() && said.says(&["thinking"]) && options.api == Api::Messages;
    let is_of_it = said.says(&PHRASES) || of_item || of_block;
    (options.echo && is_of_it && !wants_it_back(said)).then_some(Lesson::NoEcho)
}

/// Servers that require the field in each answer, also in those of another model or from before it thought: DeepSeek,
/// Kimi.
fn of_missing_reasoning(options: &RequestOptions, said: &Said) -> Option<Lesson> {
    let may_add = options.api == Api::Chat && !options.empty_reasoning;
    (may_add && said.says(&["reasoning_content"]) && wants_it_back(said)).then_some(Lesson::EmptyReasoning)
}

/// Whether reasoning was refused because it was not sent.
fn wants_it_back(said: &Said) -> bool {
    said.says(&["passed back", "is missing"])
}

/// A key of earlier answers that the refusal names. If an item requires the key, all of its extra data is omitted.
fn of_keys(said: &Said, sent: &SentBack) -> Option<Lesson> {
    if wants_it_back(said) {
        return None;
    }
    let named = || sent.keys.iter().filter(|(name, _)| said.names(name));
    let left_out = named().find_map(|(_, key)| key.clone()).map(Lesson::LeaveOut);
    left_out.or_else(|| (named().next().is_some() && said.place().is_some()).then_some(Lesson::NoEcho))
}

/// A field that another server of the same protocol requires.
fn is_about_reasoning(said: &Said) -> bool {
    said.says(&["reasoning_content", "reasoning_details", "reasoning input"]) && !wants_it_back(said)
}

fn of_streams(config: &ModelConfig, options: &RequestOptions, said: &Said) -> Option<Lesson> {
    if options.stream_options && said.refuses_one_of(&["stream_options"]) {
        return Some(Lesson::NoStreamOptions);
    }
    // A refusal of streaming, not a word that contains it or uses it otherwise ("upstream", "the stream was cut").
    let names = ["\"stream\"", "'stream'", "`stream`", "streaming", "to stream", "stream=", "stream:"];
    let is_refused = config.stream == Streaming::Auto && options.streamed && said.refuses_one_of(&names);
    is_refused.then_some(Lesson::NoStream)
}

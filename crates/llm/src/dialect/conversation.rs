//! A request's conversation before it is converted to a protocol: the order of speakers, the ids, and the data that is
//! sent back with the model's answers.

use super::turn::{Answer, Call, Turn};
use super::{RequestOptions, as_text, names};
use crate::dialect::Field;
use crate::{ReasoningEcho, ToolCallIds, ToolChoice, config::ModelConfig, profile::Profile};
use plumbline_engine::{MessageRef, ModelRequest, RequestMessage, Role};
use serde_json::{Value, value::RawValue};
use std::{borrow::Cow, collections::HashMap};

/// The key in a message's `extra` with the origin of the rest, in the form of [`RequestOptions::origin`].
pub(crate) const ORIGIN: &str = "origin";

/// The key in a message's `extra` under which a provider's own fields of single calls are kept, one object per call in
/// their order. With [`ORIGIN`] it is the one key that is not a field of the message itself (chat completions).
pub(crate) const CALL_EXTRAS: &str = "tool_calls";

/// The synthetic answer between results and a user message, for endpoints where a user message may not follow results.
const BRIDGE: &str = "I have the results.";

/// The schema of a tool of which only the name is known.
const ANY_OBJECT: &str = r#"{"type":"object"}"#;

/// A tool as it is offered.
#[derive(Debug)]
pub(crate) struct Offer<'a> {
    pub(crate) name: &'a str,
    pub(crate) description: &'a str,
    pub(crate) parameters: &'a RawValue,
}

/// The entries of a request, in order.
pub(crate) fn turns<'a>(
    config: &ModelConfig,
    options: &RequestOptions,
    request: &'a ModelRequest<'_>,
) -> Vec<Turn<'a>> {
    let mut ids = Ids::new(config.profile.tool_call_id);
    let mut turns: Vec<Turn<'a>> = Vec::with_capacity(request.messages.len() + 1);
    let mut caller = None;
    for message in request.messages.iter().filter(|message| !is_void(message)) {
        let turn = match message {
            RequestMessage::System(text) => Turn::System(Cow::Borrowed(text)),
            RequestMessage::User(text) => Turn::User(Cow::Borrowed(text)),
            RequestMessage::Stored(message) => {
                if message.role() == Role::Assistant {
                    caller = Some(*message);
                }
                match caller.filter(|caller| options.as_text.contains(&caller.seq())) {
                    Some(caller) if matches!(message.role(), Role::Assistant | Role::Tool) => {
                        as_text::told(*message, caller)
                    }
                    _ => stored(*message, caller, config, options, &mut ids),
                }
            }
        };
        push(&mut turns, turn, &config.profile);
    }
    turns
}

fn push<'a>(turns: &mut Vec<Turn<'a>>, turn: Turn<'a>, profile: &Profile) {
    let turn = match turn {
        Turn::System(text) if !turns.is_empty() && !profile.system_in_middle => Turn::User(text),
        turn => turn,
    };
    if !profile.user_after_tool && matches!((&turn, turns.last()), (Turn::User(_), Some(Turn::Result { .. }))) {
        turns.push(Turn::Answer(Answer { text: BRIDGE.into(), ..Answer::default() }));
    }
    turns.push(turn);
}

fn stored<'a>(
    message: MessageRef<'a>,
    caller: Option<MessageRef<'a>>,
    config: &ModelConfig,
    options: &RequestOptions,
    ids: &mut Ids<'a>,
) -> Turn<'a> {
    let text = message.visible_content();
    match message.role() {
        Role::System => Turn::System(text),
        Role::User => Turn::User(text),
        Role::Tool => {
            let call_id = ids.of_result(message.tool_call_id().unwrap_or_default());
            Turn::Result { call_id, text, of: caller.map(MessageRef::seq) }
        }
        Role::Assistant => {
            let calls = message.tool_calls().map(|call| {
                let name = names::fitted(call.name);
                Call { id: ids.of_call(call.id, &name), name, arguments: call.arguments }
            });
            let (calls, extra) = (calls.collect(), extra_of(message, &config.profile, options));
            Turn::Answer(Answer { seq: Some(message.seq()), text, calls, extra })
        }
    }
}

/// The extra data that may be sent back with an answer: signatures and encrypted reasoning are valid only for the model
/// that made them, at its endpoint, and others refuse them.
fn extra_of<'a>(message: MessageRef<'a>, profile: &Profile, options: &RequestOptions) -> Vec<(&'a str, &'a Value)> {
    let origin = message.extra().find(|(key, _)| *key == ORIGIN).and_then(|(_, origin)| origin.as_str());
    let is_from_here = origin.is_none_or(|origin| match profile.reasoning_echo {
        ReasoningEcho::Always => origin.split(' ').next() == options.origin.split(' ').next(),
        ReasoningEcho::SameEndpoint | ReasoningEcho::EmptyString | ReasoningEcho::Never => origin == options.origin,
    });
    if !is_from_here || !options.echo {
        return Vec::new();
    }
    let goes_back = |key: &str| match profile.reasoning_echo {
        // The extra data of a call is not reasoning.
        ReasoningEcho::Never => key == CALL_EXTRAS,
        ReasoningEcho::Always | ReasoningEcho::SameEndpoint | ReasoningEcho::EmptyString => key != ORIGIN,
    };
    message.extra().map(|(key, value)| (key.as_str(), value)).filter(|(key, _)| goes_back(key)).collect()
}

/// An answer without text and calls. It stays in the history, but providers refuse it in a request.
fn is_void(message: &RequestMessage<'_>) -> bool {
    match message {
        RequestMessage::Stored(message) => {
            message.role() == Role::Assistant
                && message.tool_calls().len() == 0
                && message.visible_parts().iter().all(|part| part.trim().is_empty())
        }
        RequestMessage::System(_) | RequestMessage::User(_) => false,
    }
}

/// The ids of calls in the form that the model requires.
struct Ids<'a> {
    form: ToolCallIds,
    given: HashMap<&'a str, String>,
}

impl<'a> Ids<'a> {
    fn new(form: ToolCallIds) -> Self {
        Self { form, given: HashMap::new() }
    }

    /// Calls are counted within the request: a number changes when earlier messages go, and with them all that follows.
    fn of_call(&mut self, id: &'a str, name: &str) -> Cow<'a, str> {
        let index = self.given.len();
        let given = match self.form {
            ToolCallIds::Plain => return Cow::Borrowed(id),
            ToolCallIds::FunctionsIndex => format!("functions.{name}:{index}"),
            ToolCallIds::Alnum9 => format!("{index:09}"),
        };
        self.given.insert(id, given.clone());
        Cow::Owned(given)
    }

    fn of_result(&self, id: &'a str) -> Cow<'a, str> {
        self.given.get(id).map_or(Cow::Borrowed(id), |given| Cow::Owned(given.clone()))
    }
}

/// The tools of a request; if it has none and `named` requires them, those that its conversation calls, by name.
pub(crate) fn offers<'a>(request: &'a ModelRequest<'_>, turns: &'a [Turn<'_>], named: bool) -> Vec<Offer<'a>> {
    if !request.tools.is_empty() || !named {
        let tools = request.tools.iter();
        let offer = tools.map(|tool| Offer {
            name: &tool.name,
            description: &tool.description,
            parameters: raw(tool.parameters.text()),
        });
        return offer.collect();
    }
    let mut offers: Vec<Offer<'a>> = Vec::new();
    for turn in turns {
        let Turn::Answer(answer) = turn else { continue };
        for call in &answer.calls {
            if offers.iter().all(|offer| offer.name != call.name) {
                offers.push(Offer { name: &call.name, description: "", parameters: raw(ANY_OBJECT) });
            }
        }
    }
    offers
}

/// Our own JSON, verbatim.
pub(crate) fn raw(json: &str) -> &RawValue {
    serde_json::from_str(json).expect("a schema's text was made from a value")
}

/// Whether the model must call a tool: if there are tools, it is configured and the endpoint accepts it.
pub(crate) fn must_call(config: &ModelConfig, options: &RequestOptions, request: &ModelRequest<'_>) -> bool {
    let takes = !options.without.contains(&Field::ToolChoice) && takes(&config.profile, "required");
    !request.tools.is_empty() && config.tool_choice == ToolChoice::Required && takes
}

/// The value of `tool_choice`, in the protocols of OpenAI; none if the model is free to choose.
pub(crate) fn tool_choice(
    config: &ModelConfig,
    options: &RequestOptions,
    request: &ModelRequest<'_>,
    offers: &[Offer<'_>],
) -> Option<&'static str> {
    if must_call(config, options, request) {
        return Some("required");
    }
    // Tools that are named only for the conversation must not be called.
    let only_named = request.tools.is_empty() && !offers.is_empty();
    options.unless(Field::ToolChoice, (only_named && takes(&config.profile, "none")).then_some("none"))
}

/// Whether the endpoint accepts this value of `tool_choice`.
fn takes(profile: &Profile, word: &str) -> bool {
    profile.tool_choices.is_empty() || profile.tool_choices.iter().any(|taken| taken == word)
}

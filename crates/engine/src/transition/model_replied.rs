//! The model answered: its message is added to the history; calls are run or prepared; an answer without calls gets a
//! nudge.

use super::{
    calls::begin_calls,
    fate::{MAX_CALLS, cut_off},
    note_request, ready_for_model,
    replan::{fail_in_the_middle, replan},
};
use crate::{
    Anchor, FinishReason, JobError, MessageKind, MessageRef, Reply, Retry, Run, Todo, ToolCall, Toolset,
    conversation::{Conversation, MAX_BYTES_A_TOKEN},
    guardrail::loop_detection::MAX_FORCED_REPLANS,
    run::{next::bound_tool, request::output_cap},
    tools::{
        self,
        broken::{describe_fault, several_objects},
        fit::fit,
        parsed_call::ParsedCall,
    },
};
use chrono::{DateTime, Utc};
use serde_json::{Value, json};

pub(super) fn model_replied(run: &mut Run, reply: Reply, now: DateTime<Utc>) {
    let Reply { content, tool_calls, finish, extra, record } = within_reason(run, reply);
    let (usage, estimated) = (record.usage(), record.estimated);
    note_request(run, record);
    if !run.ledger().is_all_seen() {
        let shown = shown_texts(run.conversation());
        let (ledger, step) = run.ledger_mut();
        shown.iter().for_each(|text| ledger.shown(text, step));
    }
    // A result that was cleared meanwhile was not shown.
    let shown = run.conversation().since_answer().filter(|message| !message.cleared());
    let shown: Vec<i64> = shown.map(MessageRef::seq).collect();
    let state = run.state_mut();
    state.given.see_all(shown.into_iter());
    state.retry = Retry::default();
    state.guards.compactions_in_row = 0;
    let seq = run.conversation().next_seq();
    let cap = output_cap(run);
    let tool_calls = match finish {
        FinishReason::Truncated => mark_truncated_call(tool_calls, cap),
        FinishReason::Done | FinishReason::Refused | FinishReason::Unfinished => tool_calls,
    };
    let (tool_calls, parsed_calls): (Vec<_>, Vec<_>) = tool_calls
        .into_iter()
        .flat_map(parted)
        .enumerate()
        .map(|(at, (call, value))| rekey(by_first_name(run, call), value, (seq, at), &run.settings().tools))
        .unzip();
    // A truncated answer with text only is useless.
    let is_dead = finish == FinishReason::Truncated && tool_calls.is_empty();
    let content = if is_dead { clip(&content).to_string() } else { content };
    let (conversation, step) = run.conversation_mut();
    conversation.reply(step, content, tool_calls, extra);
    let tokens = usage.prompt_tokens.saturating_add(usage.completion_tokens);
    conversation.set_anchor((!estimated).then_some(Anchor { tokens, seq }));
    match (finish, parsed_calls.is_empty()) {
        (FinishReason::Truncated, _) => match parsed_calls.iter().any(ParsedCall::is_usable) {
            true => {
                // The calls before the truncated one are an ordinary turn; the next answer may be longer.
                run.state_mut().guards.truncated_turns = 1;
                begin_calls(run, seq, parsed_calls, now);
            }
            false => answer_truncated(run, seq, cap, now),
        },
        (FinishReason::Done | FinishReason::Refused | FinishReason::Unfinished, true) => {
            run.state_mut().guards.silent_turns += 1;
            run.say(MessageKind::Nudge, without_call(finish, run.todos().current()));
            let turns = run.state().guards.silent_turns;
            after_fruitless_turn(run, turns, "no_tool_calls", "the model answered without calling a tool", now);
        }
        (FinishReason::Done | FinishReason::Refused | FinishReason::Unfinished, false) => {
            run.state_mut().guards.truncated_turns = 0;
            begin_calls(run, seq, parsed_calls, now);
        }
    }
}

/// An alias is understood even if only the main name is bound.
fn by_first_name(run: &Run, call: ToolCall) -> ToolCall {
    match tools::first_name(&call.name) {
        Some(name) if bound_tool(run, &call.name).is_none() && bound_tool(run, name).is_some() => {
            ToolCall { name: name.into(), ..call }
        }
        Some(_) | None => call,
    }
}

/// An answer far beyond its cap is not stored in full, and counts as cut.
fn within_reason(run: &Run, mut reply: Reply) -> Reply {
    let calls: usize = reply.tool_calls.iter().map(|call| call.arguments.len()).sum();
    if reply.content.len() + calls <= output_cap(run) as usize * MAX_BYTES_A_TOKEN {
        return reply;
    }
    reply.finish = FinishReason::Truncated;
    reply.content = clip(&reply.content).to_string();
    reply.tool_calls.truncate(MAX_CALLS);
    for call in &mut reply.tool_calls {
        call.arguments = clip(&call.arguments).to_string();
    }
    reply
}

/// An answer that was cut off before a call was complete.
fn answer_truncated(run: &mut Run, message_seq: i64, cap: u32, now: DateTime<Utc>) {
    run.state_mut().guards.truncated_turns += 1;
    let calls = run.conversation().calls_of(message_seq);
    let text = cut_off(cap, 0, output_cap(run));
    for call in &calls {
        let (conversation, step) = run.conversation_mut();
        conversation.answer(step, call, format!("Error: {text}"));
    }
    if calls.is_empty() {
        run.say(MessageKind::Nudge, text);
    }
    let turns = run.state().guards.truncated_turns;
    after_fruitless_turn(run, turns, "no_end", "answers were cut off at the output limit", now);
}

/// The remark on an answer without a call.
fn without_call(finish: FinishReason, current: Option<&Todo>) -> String {
    match (finish, current) {
        (FinishReason::Refused, _) => {
            "The last answer was withheld by the provider. Work on the current todo in another \
                                 way, or note what cannot be done and close the todo."
                .to_string()
        }
        (FinishReason::Unfinished, _) => {
            "The last answer ended before it was complete. Go on from there, by calling a tool.".to_string()
        }
        (FinishReason::Done | FinishReason::Truncated, Some(todo)) => format!(
            "Nothing happens by text alone: work is done by calling tools. The current todo is {} ('{}'). Use a \
             tool that moves it forward, and close it once it is done.",
            todo.position, todo.content
        ),
        (FinishReason::Done | FinishReason::Truncated, None) => {
            "Nothing happens by text alone: use a tool.".to_string()
        }
    }
}

/// Nudged below the bound, re-planned at it and at twice the bound, stopped at three times.
fn after_fruitless_turn(run: &mut Run, turns: u32, kind: &str, what: &str, now: DateTime<Utc>) {
    let bound = run.settings().limits.turns_without_tool_call.max(1);
    if turns >= bound.saturating_mul(3) {
        let message = format!("{what} {turns} times in a row");
        fail_in_the_middle(run, JobError::new(kind, message).with("attempts", turns));
    } else if turns.is_multiple_of(bound) {
        replan(run, MAX_FORCED_REPLANS, &format!("{what} {turns} times in a row"), now);
    } else {
        ready_for_model(run, now);
    }
}

/// The only key in the arguments of a call that was cut off, with the limit of its answer in tokens.
pub(crate) const CUT_OFF: &str = "cut_off";

/// Key for arguments that are not a JSON object, so that the stored call stays valid JSON.
pub(crate) const INVALID_JSON: &str = "invalid_json";
/// Key for what is wrong with them.
pub(crate) const WHY: &str = "why";

/// Text of documents in the results after the previous answer has been read with this answer, whose request contained
/// them. A result that no request contained, because a phase ended with its answer, was not shown.
fn shown_texts(conversation: &Conversation) -> Vec<String> {
    let shows = |kind| matches!(kind, MessageKind::ToolResult | MessageKind::Opening);
    let shown = conversation.since_answer().filter(|message| shows(message.kind()) && !message.cleared());
    shown.map(|message| message.visible_content().into_owned()).collect()
}

/// The call under our own id, with arguments that are a JSON object as required by its tool, and the parsed arguments.
fn rekey(call: ToolCall, value: Option<Value>, (seq, at): (i64, usize), tools: &Toolset) -> (ToolCall, ParsedCall) {
    let id = format!("call_{seq}_{}", at + 1);
    let (arguments, value) = match value {
        Some(value @ Value::Object(_)) => fitted(tools, &call.name, call.arguments, value),
        // Many models send an empty text or null for "no arguments".
        _ if matches!(call.arguments.trim(), "" | "null") => ("{}".to_string(), json!({})),
        Some(_) | None => {
            let value = json!({ INVALID_JSON: clip(&call.arguments), WHY: describe_fault(&call.arguments) });
            (value.to_string(), value)
        }
    };
    let parsed = ParsedCall::of_value(&call.name, value);
    (ToolCall { id, name: call.name, arguments }, parsed)
}

/// The arguments as required by the tool's schema; byte for byte unchanged if they already match.
fn fitted(tools: &Toolset, name: &str, text: String, mut value: Value) -> (String, Value) {
    let name = tools::first_name(name).unwrap_or(name);
    let known = tools.iter().find(|tool| tool.name == name);
    match known.is_some_and(|tool| fit(&mut value, &tool.parameters)) {
        true => (value.to_string(), value),
        false => (text, value),
    }
}

/// The calls of an answer that was cut off at this limit. Only the last can be incomplete: then its useless arguments
/// are replaced by a mark. Arguments that were about to begin are as incomplete as unclosed ones.
fn mark_truncated_call(mut calls: Vec<ToolCall>, cap: u32) -> Vec<ToolCall> {
    if let Some(last) = calls.last_mut()
        && !matches!(serde_json::from_str(&last.arguments), Ok(Value::Object(_)))
    {
        last.arguments = json!({ CUT_OFF: cap }).to_string();
    }
    calls
}

/// A call with its arguments parsed, if possible; one whose arguments are several objects becomes that many calls of
/// its tool.
fn parted(call: ToolCall) -> Vec<(ToolCall, Option<Value>)> {
    if let Ok(value) = serde_json::from_str(&call.arguments) {
        return vec![(call, Some(value))];
    }
    let of = |value: Value| (ToolCall { arguments: value.to_string(), ..call.clone() }, Some(value));
    match several_objects(&call.arguments) {
        Some(objects) => objects.into_iter().map(of).collect(),
        None => vec![(call, None)],
    }
}

/// Enough of broken arguments for the model to recognise them.
fn clip(text: &str) -> &str {
    let end = text.char_indices().nth(200).map_or(text.len(), |(at, _)| at);
    &text[..end]
}

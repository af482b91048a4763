//! The model answered: its message is added to the history; calls are run or prepared; an answer without calls gets a
//! nudge.

use super::{
    calls::begin_calls,
    fate::{MAX_CALLS, cut_off},
    replan::{fail_in_the_middle, replan},
};
use crate::{
    FinishReason, JobError, MessageKind, MessageRef, Reply, Retry, Run, ToolCall, Toolset,
    conversation::{Conversation, MAX_BYTES_A_TOKEN},
    ledger::Ledger,
    run::state::Anchor,
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
    run.note_request(record);
    record_shown_texts(&run.conversation, &mut run.ledger, run.step.number());
    // A result that was cleared meanwhile was not shown.
    let shown = run.conversation.since_answer().filter(|message| !message.cleared());
    run.state.given.see_all(shown.map(MessageRef::seq));
    run.state.retry = Retry::default();
    run.state.guards.compactions_in_row = 0;
    let seq = run.conversation.next_seq();
    let cap = run.output_cap();
    let tool_calls = match finish {
        FinishReason::Truncated => mark_truncated_call(tool_calls, cap),
        FinishReason::Done | FinishReason::Refused | FinishReason::Unfinished => tool_calls,
    };
    let (tool_calls, parsed_calls): (Vec<_>, Vec<_>) = tool_calls
        .into_iter()
        .flat_map(parted)
        .enumerate()
        .map(|(at, (call, value))| rekey(by_first_name(run, call), value, (seq, at), &run.settings.tools))
        .unzip();
    // A truncated answer with text only is useless.
    let is_dead = finish == FinishReason::Truncated && tool_calls.is_empty();
    let content = if is_dead { clip(&content).to_string() } else { content };
    run.conversation.reply(&mut run.step, content, tool_calls, extra);
    let tokens = usage.prompt_tokens.saturating_add(usage.completion_tokens);
    run.conversation.set_anchor((!estimated).then_some(Anchor { tokens, seq }));
    match (finish, parsed_calls.is_empty()) {
        (FinishReason::Truncated, _) => match parsed_calls.iter().any(ParsedCall::is_usable) {
            true => {
                // The calls before the truncated one are an ordinary turn; the next answer may be longer.
                run.state.guards.truncated_turns = 1;
                begin_calls(run, seq, parsed_calls, now);
            }
            false => answer_truncated(run, seq, cap, now),
        },
        (FinishReason::Done | FinishReason::Refused | FinishReason::Unfinished, true) => {
            answer_silence(run, finish, now)
        }
        (FinishReason::Done | FinishReason::Refused | FinishReason::Unfinished, false) => {
            run.state.guards.truncated_turns = 0;
            begin_calls(run, seq, parsed_calls, now);
        }
    }
}

/// An alias is understood even if only the main name is bound.
fn by_first_name(run: &Run, call: ToolCall) -> ToolCall {
    match tools::first_name(&call.name) {
        Some(name) if run.bound_tool(&call.name).is_none() && run.bound_tool(name).is_some() => {
            ToolCall { name: name.into(), ..call }
        }
        Some(_) | None => call,
    }
}

/// An answer far beyond its cap is not stored in full, and counts as cut (lesson 43).
fn within_reason(run: &Run, mut reply: Reply) -> Reply {
    let calls: usize = reply.tool_calls.iter().map(|call| call.arguments.len()).sum();
    if reply.content.len() + calls <= run.output_cap() as usize * MAX_BYTES_A_TOKEN {
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

/// An answer that was cut off before a call was complete (FAULTS F38).
fn answer_truncated(run: &mut Run, message_seq: i64, cap: u32, now: DateTime<Utc>) {
    run.state.guards.truncated_turns += 1;
    let calls = run.conversation.calls_of(message_seq);
    let text = cut_off(cap, 0, run.output_cap());
    for call in &calls {
        run.conversation.answer(&mut run.step, call, format!("Error: {text}"));
    }
    if calls.is_empty() {
        run.conversation.say(&mut run.step, MessageKind::Nudge, text);
    }
    let turns = run.state.guards.truncated_turns;
    after_fruitless_turn(run, turns, "no_end", "answers were cut off at the output limit", now);
}

fn answer_silence(run: &mut Run, finish: FinishReason, now: DateTime<Utc>) {
    run.state.guards.silent_turns += 1;
    let turns = run.state.guards.silent_turns;
    let text = match (finish, run.todos.current()) {
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
    };
    run.conversation.say(&mut run.step, MessageKind::Nudge, text);
    after_fruitless_turn(run, turns, "no_tool_calls", "the model answered without calling a tool", now);
}

/// Nudged below the bound, re-planned at it and at twice the bound, stopped at three times (lesson 2).
fn after_fruitless_turn(run: &mut Run, turns: u32, kind: &str, what: &str, now: DateTime<Utc>) {
    let bound = run.settings.limits.turns_without_tool_call.max(1);
    if turns >= bound.saturating_mul(3) {
        let message = format!("{what} {turns} times in a row");
        fail_in_the_middle(run, JobError::new(kind, message).with("attempts", turns));
    } else if turns.is_multiple_of(bound) {
        replan(run, &format!("{what} {turns} times in a row"), now);
    } else {
        run.ready_for_model(now);
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
fn record_shown_texts(conversation: &Conversation, ledger: &mut Ledger, step: i64) {
    if ledger.is_all_seen() {
        return;
    }
    let shows = |kind| matches!(kind, MessageKind::ToolResult | MessageKind::Opening);
    for message in conversation.since_answer().filter(|message| shows(message.kind()) && !message.cleared()) {
        ledger.shown(&message.visible_content(), step);
    }
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

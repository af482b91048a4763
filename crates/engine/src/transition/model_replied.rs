//! The model answered: its message is added to the history; calls are run or prepared; an answer without calls gets a
//! nudge.

use crate::{
    FinishReason, JobError, JobExit, MessageKind, MessageRef, Opening, PhaseOutcome, Reply, Retry, Run, ToolCall,
    Toolset,
    conversation::{Conversation, MAX_BYTES_A_TOKEN},
    guardrail::loop_detection::MAX_FORCED_REPLANS,
    ledger::Ledger,
    phase::{NextPhase, opening::resume_nudge},
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
use std::fmt::Display;

/// Maximum calls of one answer that are executed (FAULTS F39); the others are answered with an error.
pub(crate) const MAX_CALLS: usize = 64;

/// The answer to a call beyond that bound.
pub(super) fn too_many() -> String {
    format!("not carried out: at most {MAX_CALLS} calls in one answer; make the others in the next.")
}

/// The only key in the arguments of a call that was cut off, with the limit of its answer in tokens.
pub(crate) const CUT_OFF: &str = "cut_off";

/// Key for arguments that are not a JSON object, so that the stored call stays valid JSON.
pub(crate) const INVALID_JSON: &str = "invalid_json";
/// Key for what is wrong with them.
pub(crate) const WHY: &str = "why";

impl Run {
    pub(super) fn model_replied(&mut self, reply: Reply, now: DateTime<Utc>) {
        let Reply { content, tool_calls, finish, extra, record } = self.within_reason(reply);
        let (usage, estimated) = (record.usage(), record.estimated);
        self.note_request(record);
        record_shown_texts(&self.conversation, &mut self.ledger, self.step.number());
        // A result that was cleared meanwhile was not shown.
        let shown = self.conversation.since_answer().filter(|message| !message.cleared());
        self.state.given.see_all(shown.map(MessageRef::seq));
        self.state.retry = Retry::default();
        self.state.guards.compactions_in_row = 0;
        let seq = self.conversation.next_seq();
        let cap = self.output_cap();
        let tool_calls = match finish {
            FinishReason::Truncated => mark_truncated_call(tool_calls, cap),
            FinishReason::Done | FinishReason::Refused | FinishReason::Unfinished => tool_calls,
        };
        let (tool_calls, parsed_calls): (Vec<_>, Vec<_>) = tool_calls
            .into_iter()
            .flat_map(parted)
            .enumerate()
            .map(|(at, (call, value))| rekey(self.by_first_name(call), value, (seq, at), &self.settings.tools))
            .unzip();
        // A truncated answer with text only is useless.
        let is_dead = finish == FinishReason::Truncated && tool_calls.is_empty();
        let content = if is_dead { clip(&content).to_string() } else { content };
        self.conversation.reply(&mut self.step, content, tool_calls, extra);
        let tokens = usage.prompt_tokens.saturating_add(usage.completion_tokens);
        self.conversation.set_anchor((!estimated).then_some(Anchor { tokens, seq }));
        match (finish, parsed_calls.is_empty()) {
            (FinishReason::Truncated, _) => match parsed_calls.iter().any(ParsedCall::is_usable) {
                true => {
                    // The calls before the truncated one are an ordinary turn; the next answer may be longer.
                    self.state.guards.truncated_turns = 1;
                    self.begin_calls(seq, parsed_calls, now);
                }
                false => self.answer_truncated(seq, cap, now),
            },
            (FinishReason::Done | FinishReason::Refused | FinishReason::Unfinished, true) => {
                self.answer_silence(finish, now)
            }
            (FinishReason::Done | FinishReason::Refused | FinishReason::Unfinished, false) => {
                self.state.guards.truncated_turns = 0;
                self.begin_calls(seq, parsed_calls, now);
            }
        }
    }

    /// An alias is understood even if only the main name is bound.
    fn by_first_name(&self, call: ToolCall) -> ToolCall {
        match tools::first_name(&call.name) {
            Some(name) if self.bound_tool(&call.name).is_none() && self.bound_tool(name).is_some() => {
                ToolCall { name: name.into(), ..call }
            }
            Some(_) | None => call,
        }
    }

    /// An answer far beyond its cap is not stored in full, and counts as cut (lesson 43).
    fn within_reason(&self, mut reply: Reply) -> Reply {
        let calls: usize = reply.tool_calls.iter().map(|call| call.arguments.len()).sum();
        if reply.content.len() + calls <= self.output_cap() as usize * MAX_BYTES_A_TOKEN {
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
    fn answer_truncated(&mut self, message_seq: i64, cap: u32, now: DateTime<Utc>) {
        self.state.guards.truncated_turns += 1;
        let calls = self.conversation.calls_of(message_seq);
        let text = cut_off(cap, 0, self.output_cap());
        for call in &calls {
            self.conversation.answer(&mut self.step, call, format!("Error: {text}"));
        }
        if calls.is_empty() {
            self.conversation.say(&mut self.step, MessageKind::Nudge, text);
        }
        let turns = self.state.guards.truncated_turns;
        self.after_fruitless_turn(turns, "no_end", "answers were cut off at the output limit", now);
    }

    fn answer_silence(&mut self, finish: FinishReason, now: DateTime<Utc>) {
        self.state.guards.silent_turns += 1;
        let turns = self.state.guards.silent_turns;
        let text = match (finish, self.current_todo()) {
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
        self.conversation.say(&mut self.step, MessageKind::Nudge, text);
        self.after_fruitless_turn(turns, "no_tool_calls", "the model answered without calling a tool", now);
    }

    /// Nudged below the bound, re-planned at it and at twice the bound, stopped at three times (lesson 2).
    fn after_fruitless_turn(&mut self, turns: u32, kind: &str, what: &str, now: DateTime<Utc>) {
        let bound = self.settings.limits.turns_without_tool_call.max(1);
        if turns >= bound.saturating_mul(3) {
            let message = format!("{what} {turns} times in a row");
            self.fail_in_the_middle(JobError::new(kind, message).with("attempts", turns));
        } else if turns.is_multiple_of(bound) {
            self.replan(&format!("{what} {turns} times in a row"), now);
        } else {
            self.ready_for_model(now);
        }
    }

    /// The job fails because of the model's behaviour. A retry continues the phase, resets the counts, and the model is
    /// told.
    fn fail_in_the_middle(&mut self, error: JobError) {
        self.state.guards = crate::Guards::default();
        self.conversation.say(&mut self.step, MessageKind::Nudge, resume_nudge(&error.message));
        self.leave(JobExit::Failed(error));
    }

    /// Abandons the phase and opens a strategic phase about the reason.
    pub(crate) fn replan(&mut self, issue: &str, now: DateTime<Utc>) {
        self.replan_at_most(MAX_FORCED_REPLANS, issue, now);
    }

    /// The same, unless it was done so often in a row that it does not help: then the job is stuck.
    pub(crate) fn replan_at_most(&mut self, most: u32, issue: &str, now: DateTime<Utc>) {
        self.state.guards.forced_replans += 1;
        let replans = self.state.guards.forced_replans;
        if replans > most {
            let message = format!("the job is stuck: {issue}, and {} re-plannings did not help", replans - 1);
            self.fail_in_the_middle(JobError::new("stuck", message).with("attempts", replans));
            return;
        }
        let note = self.close_phase(PhaseOutcome::Forced, Some(issue));
        self.open_phase(NextPhase::strategic(Opening::Rewound), Some(note), now);
        self.prepare_or_ask(now);
    }
}

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

/// The text about an answer that was cut off at this limit, after this many executed calls. `most`: the limit of the
/// next answer.
pub(super) fn cut_off(cap: impl Display, done: usize, most: u32) -> String {
    let was = match done {
        0 => "nothing in it was carried out".to_string(),
        1 => "the call before this one was carried out, this one was not: send it again, and what was to follow"
            .to_string(),
        _ => format!(
            "the {done} calls before this one were carried out, this one was not: send it again, and what was to follow"
        ),
    };
    format!(
        "Your answer was cut off at the limit of {cap} tokens; {was}. An answer may now hold {most} tokens. Split the work: write long files \
         in several parts, each well below that."
    )
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

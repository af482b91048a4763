//! Converts a decision into an answer: removes finished work, applies limits, assigns ids, counts tokens.

use crate::call::{Call, Turn};
use crate::request_view::{Done, RequestView};
use crate::server::wire::{
    ChatRequest, ChatResponse, Choice, FunctionCall, PromptTokensDetails, Reply, ToolCall, Usage,
};

/// Maximum calls in one answer: the engine carries out 64. More work waits for the next turn.
pub(crate) const MAX_CALLS: usize = 60;

/// After this many refusals of the same closing call for one todo the model states the problem instead of calling
/// again, and leaves the rest to the engine's guardrails.
const MAX_REFUSALS: usize = 3;

/// The answer to `request` that carries out `turn`, unless its closing call was `refused` too often.
pub(crate) fn reply(request: &ChatRequest, refused: Option<String>, turn: Turn) -> ChatResponse {
    let fingerprint = fingerprint(request);
    let say = format!("Rehearsal model: rule-based, no LLM. {}", turn.say);
    let (say, mut calls) = match refused {
        Some(reason) if !turn.calls.is_empty() => {
            (format!("{say} This is refused again and again: {reason}"), Vec::new())
        }
        _ => (say, turn.calls),
    };
    calls.truncate(MAX_CALLS);
    let calls: Vec<ToolCall> =
        calls.into_iter().enumerate().map(|(index, call)| wire_call(fingerprint, index, call)).collect();
    let calls = fit(calls, say.len(), request);
    let completion_tokens = tokens(say.len() + calls.iter().map(size).sum::<usize>());
    let prompt_tokens = tokens(request_bytes(request));
    let finish_reason = if calls.is_empty() { "stop" } else { "tool_calls" };
    ChatResponse {
        id: format!("chatcmpl-rehearsal-{fingerprint:016x}"),
        object: "chat.completion",
        created: 0,
        model: request.model.clone(),
        choices: vec![Choice {
            index: 0,
            message: Reply { role: "assistant", content: Some(say), tool_calls: calls },
            finish_reason,
        }],
        usage: Usage {
            prompt_tokens,
            completion_tokens,
            total_tokens: prompt_tokens + completion_tokens,
            prompt_tokens_details: PromptTokensDetails { cached_tokens: 0 },
        },
    }
}

/// The calls of a turn that were not yet made for this todo.
///
/// Closing calls are always made: they are the last of a turn, and a refused one is repeated when its cause is fixed.
pub(crate) fn outstanding(view: &RequestView<'_>, calls: Vec<Call>) -> Vec<Call> {
    calls.into_iter().filter(|call| closes(call.name) || !made(view, call)).collect()
}

/// A reading call is repeated if its result was cleared from the conversation; a writing one only if its output is
/// gone.
fn made(view: &RequestView<'_>, call: &Call) -> bool {
    let work = view.work();
    match call.name {
        "read_file" | "list_files" => view.result_of(call).is_some(),
        // Each claim returns different ones.
        "next_requirement" | "judge_requirements" => false,
        _ => work
            .iter()
            .rposition(|done| done.is(call))
            .is_some_and(|at| !work[at + 1..].iter().any(|later| undoes(later, call))),
    }
}

/// Whether a later call removed the output of an earlier one.
fn undoes(later: &Done<'_>, call: &Call) -> bool {
    let replaces = later.name == "delete_file" || (later.name == "write_file" && later.args["append"] != true);
    let same_file = !later.arg("path").is_empty() && call.args["path"] == later.arg("path");
    replaces && same_file && !later.failed()
}

fn closes(tool: &str) -> bool {
    matches!(tool, "todo_complete" | "job_complete")
}

/// The last refusal, when a closing call of this todo that is about to be made again was refused too often.
pub(crate) fn refused(view: &RequestView<'_>, calls: &[Call]) -> Option<String> {
    let is_made_again = |done: &&Done<'_>| calls.iter().any(|call| done.is(call));
    let last = view.work().iter().filter(is_made_again).rfind(|done| closes(done.name) && done.failed())?;
    let same = view.work().iter().filter(|done| done.name == last.name && done.args == last.args).count();
    (same >= MAX_REFUSALS).then(|| crate::request_view::one_line(last.result))
}

fn wire_call(fingerprint: u64, index: usize, call: Call) -> ToolCall {
    ToolCall {
        id: format!("call_{fingerprint:016x}_{index:02}"),
        kind: "function".to_owned(),
        function: FunctionCall { name: call.name.to_owned(), arguments: call.args.to_string() },
    }
}

/// Keeps as many calls as the request's output limit allows, at least one: the engine would discard a truncated call.
fn fit(mut calls: Vec<ToolCall>, said: usize, request: &ChatRequest) -> Vec<ToolCall> {
    let limit = request.max_tokens.into_iter().chain(request.max_completion_tokens).min().unwrap_or(u64::MAX);
    let mut bytes = said;
    let fitting = calls.iter().take_while(|call| {
        bytes += size(call);
        tokens(bytes) <= limit
    });
    let keep = fitting.count().max(1);
    calls.truncate(keep);
    calls
}

fn size(call: &ToolCall) -> usize {
    call.id.len() + call.function.name.len() + call.function.arguments.len()
}

/// Token estimate without a tokenizer: four bytes per token, at least one.
fn tokens(bytes: usize) -> u64 {
    (bytes as u64).div_ceil(4).max(1)
}

fn request_bytes(request: &ChatRequest) -> usize {
    let messages: usize = request
        .messages
        .iter()
        .map(|message| message.content.len() + message.tool_calls.iter().map(size).sum::<usize>())
        .sum();
    messages + request.tools.iter().map(|tool| tool.function.to_string().len()).sum::<usize>()
}

/// FNV-1a over the conversation: the same request gives the same ids, and two requests of one job different ones, so
/// that a tool call id is unique within its job although each phase begins a new conversation.
fn fingerprint(request: &ChatRequest) -> u64 {
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    let mut add = |text: &str| {
        // The zero ends each part, so that moving text from one part to the next changes the hash.
        for byte in text.bytes().chain([0]) {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    };
    for message in &request.messages {
        add(&message.content);
        for call in &message.tool_calls {
            add(&call.id);
            add(&call.function.arguments);
        }
    }
    hash
}

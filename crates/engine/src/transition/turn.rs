//! A call's turn: its fate is decided only here and now, when its dependencies (earlier calls, the phase, the guardrails)
//! are known, and what the outside does next follows from it.

use super::{
    approvals::People,
    fate::{DENIED, Fate, MAX_CALLS, UNKNOWN, cut_off, too_many},
};
use crate::{
    Check, Handler, Opening, PhaseKind, Replay, Run, ToolCall, ToolSpec, nearest,
    phase::plan,
    run::{AnswerCall, next::bound_tool, request::output_cap},
    tools::{self, parsed_call::ParsedCall},
    vocabulary::path,
};
use std::sync::Arc;

/// The answer to calls after one that has ended the job.
const BEHIND_THE_JOB: &str = "not carried out: an earlier call of this answer ended the job.";
/// The same for calls about the todos of a phase that has ended.
const BEHIND_THE_PHASE: &str =
    "not carried out: an earlier call of this answer ended the phase; the next one begins now.";

/// The fate of the call at this index of the answer, at its turn.
pub(super) fn fate(run: &Run, at: usize, item: &AnswerCall) -> Fate {
    let AnswerCall { call, parsed } = item;
    if let Some(fate) = fate_after_end(run, call, parsed) {
        return fate;
    }
    match call_error(run, at, call, parsed) {
        Some(why) => Fate::Refused(why),
        None => match bound_tool(run, &call.name).map(|tool| tool.handler) {
            Some(Handler::Engine) => Fate::Engine { check: tools::check(run, &call.name) },
            Some(Handler::Local | Handler::External) => People::of(run).fate(item),
            None => Fate::Refused(why_not_bound(run, &call.name)),
        },
    }
}

/// The fate of calls after one that has ended the job or the phase, if that alone decides it.
fn fate_after_end(run: &Run, call: &ToolCall, parsed: &ParsedCall) -> Option<Fate> {
    if run.calls().exit.is_some() {
        return Some(Fate::Skipped(BEHIND_THE_JOB.into()));
    }
    if let Some((tool, _)) = &run.calls().broken {
        return Some(Fate::Skipped(format!("not carried out: the job stops, because {tool} failed.")));
    }
    let calls = run.state().stage.calls()?;
    let (ends, is_held) = (calls.end.is_some(), !calls.held.is_empty());
    if !ends && !is_held {
        return None;
    }
    if tools::belongs_to_its_phase(&call.name) {
        return Some(Fate::Skipped(BEHIND_THE_PHASE.into()));
    }
    let completes = call.name == tools::JOB_COMPLETE;
    if is_held {
        let why = "not carried out: it completes the job in a final review with nothing open; this phase is none.";
        return (completes && !is_final_review(run)).then(|| Fate::Skipped(why.into()));
    }
    let goes_on = bound_tool(run, &call.name).is_some() && !completes && !writes_the_plan(run, call, parsed);
    (!goes_on).then_some(Fate::Held)
}

/// A review after the last phase of a plan in which nothing is open.
fn is_final_review(run: &Run) -> bool {
    let plan = run.workspace().plan();
    run.state().phase.opening == Opening::Final && plan.iter().all(|phase| phase.open_steps.is_empty())
}

/// Whether a call writes the plan in a phase that must not: it is held for the next phase.
fn writes_the_plan(run: &Run, call: &ToolCall, parsed: &ParsedCall) -> bool {
    let named = parsed.fields.get("path").and_then(serde_json::Value::as_str);
    let is_plan = named.and_then(|named| path::normalize(named).ok()).is_some_and(|path| path == plan::PATH);
    let writes = bound_tool(run, &call.name).is_some_and(|tool| !tool.reads_only);
    run.state().phase.kind == PhaseKind::Tactical && is_plan && writes
}

/// All errors of a call that are detected before it is executed.
fn call_error(run: &Run, at: usize, call: &ToolCall, parsed: &ParsedCall) -> Option<String> {
    let calls = run.state().stage.calls()?;
    if let Some(cap) = parsed.cut_off_at() {
        return Some(cut_off(cap, calls.done, output_cap(run)));
    }
    if run.calls().in_doubt && at == calls.answered {
        return Some(UNKNOWN.into());
    }
    if let Some(todo) = calls.refused_closing.filter(|_| tools::closes_todo(&call.name)) {
        return Some(format!("not carried out: todo {todo} is still current, its closing was refused above."));
    }
    if calls.failed && tools::is_gate(&call.name) {
        return Some(format!(
            "not carried out: an earlier call of this answer failed. Put that right first, or say in the notes why it \
             cannot be, and then call {}.",
            call.name
        ));
    }
    if at >= MAX_CALLS && calls.held.is_empty() {
        return Some(too_many());
    }
    if bound_tool(run, &call.name).is_none() {
        return Some(why_not_bound(run, &call.name));
    }
    if let Err(why) = parsed.check() {
        return Some(why);
    }
    if People::of(run).is_denied(call) {
        return Some(DENIED.into());
    }
    let guards = &run.state().guards;
    guards.refuses(call, parsed, run.settings().limits.repeated_calls).then(|| {
        format!(
            "refused: this call has given the same result {} times. Do something else for the current todo: use \
             what is known, try another way, or close the todo with a note on what cannot be done.",
            guards.times(parsed)
        )
    })
}

fn why_not_bound(run: &Run, name: &str) -> String {
    let kind = run.state().phase.kind;
    let other = match kind {
        PhaseKind::Strategic => PhaseKind::Tactical,
        PhaseKind::Tactical => PhaseKind::Strategic,
    };
    if run.bound(other).any(|tool| tool.name == name) {
        return format!("{name} is only available in {} phases; this phase is {}.", other.as_str(), kind.as_str());
    }
    let near = nearest(name, run.bound(kind).map(|tool| tool.name.as_str()));
    if near.is_empty() {
        let all: Vec<&str> = run.bound(kind).map(|tool| tool.name.as_str()).collect();
        return format!("there is no tool named {name}. Available now: {}.", all.join(", "));
    }
    format!("there is no tool named {name}. Did you mean {}?", near.join(" or "))
}

/// How many calls the outside executes or checks next, and the check: as many calls as possible at once, each of which is
/// already known to be external. A call that must not be repeated goes alone, and so does a check.
pub(super) fn waiting(run: &Run, at: usize, fate: Fate) -> (usize, Option<Check>) {
    match fate {
        Fate::Outside if is_unsafe(run, at) => (1, None),
        Fate::Outside => (outside_from(run, at), None),
        Fate::Engine { check: check @ Some(_) } => (1, check),
        Fate::Engine { check: None } | Fate::Refused(_) | Fate::Skipped(_) | Fate::Asked(_) | Fate::Held => (0, None),
    }
}

/// How many calls from this one on run outside regardless of the results before them. The fate of a call that was
/// made before depends on them: whether it repeats itself.
fn outside_from(run: &Run, at: usize) -> usize {
    let mut prints = Vec::new();
    let is_outside = |(n, item): (usize, &Arc<AnswerCall>)| {
        let is_new = !prints.contains(&item.parsed.print) && run.state().guards.times(&item.parsed) == 0;
        prints.push(item.parsed.print);
        n == 0 || (is_new && !is_unsafe(run, at + n) && matches!(fate(run, at + n, item), Fate::Outside))
    };
    run.calls().from(at).iter().enumerate().map(is_outside).take_while(|outside| *outside).count()
}

/// Whether a call must not be repeated: its tool says so, or a person has approved it.
pub(crate) fn is_unsafe(run: &Run, at: usize) -> bool {
    let Some(item) = run.calls().from(at).first() else { return false };
    let once = |tool: &ToolSpec| tool.replay == Replay::Unsafe || run.calls().approvals.is_approved(&item.call.id);
    bound_tool(run, &item.call.name).is_some_and(|tool| tool.handler != Handler::Engine && once(tool))
}

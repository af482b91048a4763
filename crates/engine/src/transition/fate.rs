//! The fate of a call, decided only here, when it is the call's turn: then its dependencies (earlier calls, the phase,
//! the guardrails) are known.

use super::{
    approvals::People,
    model_replied::{MAX_CALLS, cut_off, too_many},
};
use crate::{
    AskedCall, Check, Handler, Opening, PhaseKind, Run, ToolCall, nearest,
    phase::plan,
    run::AnswerCall,
    tools::{self, parsed_call::ParsedCall},
    vocabulary::path,
};

/// The fate of a call.
#[derive(Debug)]
pub(crate) enum Fate {
    /// It fails with this sentence.
    Refused(String),
    /// It is not executed, which is not a failure: an earlier call has ended its phase or job.
    Skipped(String),
    /// The engine executes it, after a check by the outside if there is one.
    Engine {
        /// The check.
        check: Option<Check>,
    },
    /// The outside executes it.
    Outside,
    /// Its approval is requested: people decide on it.
    Asked(Box<AskedCall>),
    /// It waits, with all calls after it, for the next phase.
    Held,
}

/// The answer to calls after one that has ended the job.
const BEHIND_THE_JOB: &str = "not carried out: an earlier call of this answer ended the job.";
/// The same for calls about the todos of a phase that has ended.
const BEHIND_THE_PHASE: &str =
    "not carried out: an earlier call of this answer ended the phase; the next one begins now.";
/// The answer to a call that reaches beyond a job which has read untrusted text.
pub(super) const DENIED: &str = "refused: this job has read text from outside (documents, pages, other tools), and since then no call may reach \
                      beyond it. Do without this call, or name what needs it in 'undelivered'.";
/// The answer to a call that must not be repeated and was in flight when a worker stopped.
pub(super) const UNKNOWN: &str = "interrupted, outcome unknown: the worker stopped while this call was in flight. Check what it did \
                       before you call it again.";

impl Run {
    /// The fate of the call at this index of the answer, at its turn.
    pub(crate) fn fate(&self, at: usize, item: &AnswerCall) -> Fate {
        let AnswerCall { call, parsed } = item;
        if let Some(fate) = self.fate_after_end(call, parsed) {
            return fate;
        }
        match self.call_error(at, call, parsed) {
            Some(why) => Fate::Refused(why),
            None => match self.bound_tool(&call.name).map(|tool| tool.handler) {
                Some(Handler::Engine) => Fate::Engine { check: tools::check(self, &call.name) },
                Some(Handler::Local | Handler::External) => People::of(self).fate(item),
                None => Fate::Refused(self.why_not_bound(&call.name)),
            },
        }
    }

    /// The fate of calls after one that has ended the job or the phase, if that alone decides it.
    fn fate_after_end(&self, call: &ToolCall, parsed: &ParsedCall) -> Option<Fate> {
        if self.calls.exit.is_some() {
            return Some(Fate::Skipped(BEHIND_THE_JOB.into()));
        }
        if let Some((tool, _)) = &self.calls.broken {
            return Some(Fate::Skipped(format!("not carried out: the job stops, because {tool} failed.")));
        }
        let calls = self.state.stage.calls()?;
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
            return (completes && !self.is_final_review()).then(|| Fate::Skipped(why.into()));
        }
        let goes_on = self.bound_tool(&call.name).is_some() && !completes && !self.writes_the_plan(call, parsed);
        (!goes_on).then_some(Fate::Held)
    }

    /// A review after the last phase of a plan in which nothing is open.
    fn is_final_review(&self) -> bool {
        let plan = self.workspace.plan();
        self.state.phase.opening == Opening::Final && plan.iter().all(|phase| phase.open_steps.is_empty())
    }

    /// Whether a call writes the plan in a phase that must not: it is held for the next phase.
    fn writes_the_plan(&self, call: &ToolCall, parsed: &ParsedCall) -> bool {
        let named = parsed.fields.get("path").and_then(serde_json::Value::as_str);
        let is_plan = named.and_then(|named| path::normalize(named).ok()).is_some_and(|path| path == plan::PATH);
        let writes = self.bound_tool(&call.name).is_some_and(|tool| !tool.reads_only);
        self.state.phase.kind == PhaseKind::Tactical && is_plan && writes
    }

    /// All errors of a call that are detected before it is executed.
    fn call_error(&self, at: usize, call: &ToolCall, parsed: &ParsedCall) -> Option<String> {
        let calls = self.state.stage.calls()?;
        if let Some(cap) = parsed.cut_off_at() {
            return Some(cut_off(cap, calls.done, self.output_cap()));
        }
        if self.calls.in_doubt && at == calls.answered {
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
        if self.bound_tool(&call.name).is_none() {
            return Some(self.why_not_bound(&call.name));
        }
        if let Err(why) = parsed.check() {
            return Some(why);
        }
        if People::of(self).is_denied(call) {
            return Some(DENIED.into());
        }
        let guards = &self.state.guards;
        guards.refuses(call, parsed, self.settings.limits.repeated_calls).then(|| {
            format!(
                "refused: this call has given the same result {} times. Do something else for the current todo: use \
                 what is known, try another way, or close the todo with a note on what cannot be done.",
                guards.times(parsed)
            )
        })
    }

    fn why_not_bound(&self, name: &str) -> String {
        let kind = self.state.phase.kind;
        let other = match kind {
            PhaseKind::Strategic => PhaseKind::Tactical,
            PhaseKind::Tactical => PhaseKind::Strategic,
        };
        if self.bound(other).any(|tool| tool.name == name) {
            return format!("{name} is only available in {} phases; this phase is {}.", other.as_str(), kind.as_str());
        }
        let near = nearest(name, self.bound(kind).map(|tool| tool.name.as_str()));
        if near.is_empty() {
            let all: Vec<&str> = self.bound(kind).map(|tool| tool.name.as_str()).collect();
            return format!("there is no tool named {name}. Available now: {}.", all.join(", "));
        }
        format!("there is no tool named {name}. Did you mean {}?", near.join(" or "))
    }
}

//! One call of a turn: who answers it, and with what.

use super::{
    Consequence,
    model_replied::{MAX_BYTES_A_TOKEN, MAX_CALLS},
};
use crate::{
    FileWrite, Handler, PhaseKind, Product, Replay, Run, ToolCall, ToolReturn,
    conversation::compaction::Room,
    guardrail::loop_detection::{RESULTS, Repetition},
    nearest,
    tools::{self, parsed_call::ParsedCall},
};

/// The answer to a call whose result the window cannot hold beside those before it.
const NO_ROOM: &str = "not carried out: the results of the calls before it fill the context, and this one would push them out \
                       unread. Send this call again, with fewer calls beside it or for a smaller part.";

/// A call's answer and what the guardrails make of it.
pub(super) struct Answered {
    pub(super) content: String,
    pub(super) progress: bool,
    pub(super) failed: bool,
    pub(super) repetition: Repetition,
}

impl Run {
    pub(super) fn answer_call(
        &mut self,
        at: usize,
        (call, parsed): (&ToolCall, &ParsedCall),
        given: Option<ToolReturn>,
        room: Room,
        consequence: &mut Consequence,
    ) -> Answered {
        if let Err(why) = self.check_call(at, (call, parsed), given.is_some(), consequence) {
            return self.failed(call, parsed, &why);
        }
        match given {
            Some(given) if self.handler_is_engine(&call.name) => match given.is_error {
                true => {
                    let why = given.content.strip_prefix("Error: ").unwrap_or(&given.content);
                    self.failed(call, parsed, why)
                }
                false => {
                    let answered = self.run_own_tool(call, parsed, consequence);
                    consequence.count(&given.content);
                    answered
                }
            },
            Some(given) => {
                let looked = given.products.is_empty();
                if looked && !room.holds(given.content.len(), || self.tokens_shown(&given.content)) {
                    return self.failed(call, parsed, NO_ROOM);
                }
                if looked && !given.is_error {
                    self.note_shown(call, parsed);
                }
                let progress = self.take_products(given.products);
                Answered { failed: given.is_error, ..self.noted(call, parsed, given.content, progress, looked) }
            }
            None => self.run_own_tool(call, parsed, consequence),
        }
    }

    /// The answer to a closing call behind one that failed: what it would close is not done.
    pub(super) fn not_after_a_failure(&mut self, call: &ToolCall, parsed: &ParsedCall) -> Answered {
        let why = format!(
            "not carried out: an earlier call of this answer failed. Put that right first, or say in the notes why it \
             cannot be, and then call {}.",
            call.name
        );
        self.failed(call, parsed, &why)
    }

    /// The answer to a closing call behind a closing that was refused: it would close the todo which that one left open.
    pub(super) fn not_after_a_refusal(&mut self, call: &ToolCall, parsed: &ParsedCall, todo: i32) -> Answered {
        let why = format!("not carried out: todo {todo} is still current, its closing was refused above.");
        self.failed(call, parsed, &why)
    }

    pub(super) fn failed(&mut self, call: &ToolCall, parsed: &ParsedCall, why: &str) -> Answered {
        Answered { failed: true, ..self.noted(call, parsed, format!("Error: {why}"), false, false) }
    }

    fn run_own_tool(&mut self, call: &ToolCall, parsed: &ParsedCall, consequence: &mut Consequence) -> Answered {
        let before = self.pending.len();
        match tools::run(self, &call.name, &parsed.fields, consequence) {
            Ok(content) => {
                let progress = self.pending.len() > before;
                self.noted(call, parsed, content, progress, !progress)
            }
            Err(why) => self.failed(call, parsed, &why),
        }
    }

    /// Everything that can be wrong with a call before it is carried out.
    fn check_call(
        &self,
        at: usize,
        (call, parsed): (&ToolCall, &ParsedCall),
        has_run: bool,
        consequence: &Consequence,
    ) -> Result<(), String> {
        match consequence {
            Consequence::Exit(_) => {
                return Err("not carried out: an earlier call of this answer ended the job.".into());
            }
            Consequence::NextPhase(_) if self.handler_is_engine(&call.name) => {
                return Err(
                    "not carried out: an earlier call of this answer ended the phase; the next one begins now.".into(),
                );
            }
            Consequence::NextPhase(_) | Consequence::None => {}
        }
        if at >= MAX_CALLS {
            return Err(format!(
                "not carried out: at most {MAX_CALLS} calls in one answer; make the others in the next."
            ));
        }
        let tool = self.bound_tool(&call.name).ok_or_else(|| self.why_not_bound(&call.name))?;
        parsed.check()?;
        // What has run is answered by what it gave: whether to run it was decided before the answer's first call.
        if !has_run && self.is_refused(call, parsed) {
            return Err(format!(
                "refused: this call has given the same result {} times. Do something else for the current todo: use \
                 what is known, try another way, or close the todo with a note on what cannot be done.",
                self.repeats(parsed)
            ));
        }
        if self.interrupted && tool.handler != Handler::Engine && tool.replay == Replay::Unsafe {
            return Err("interrupted, outcome unknown: the worker stopped while this call was in flight. Check what it did before you call it again.".into());
        }
        if !has_run && tool.handler != Handler::Engine {
            return Err("refused: this call kept giving the same result when the answer began. Call it again if it is still needed.".into());
        }
        Ok(())
    }

    fn handler_is_engine(&self, name: &str) -> bool {
        self.bound_tool(name).is_some_and(|tool| matches!(tool.handler, Handler::Engine | Handler::Checked))
    }

    fn why_not_bound(&self, name: &str) -> String {
        let kind = self.state.phase.kind;
        let other = match kind {
            PhaseKind::Strategic => PhaseKind::Tactical,
            PhaseKind::Tactical => PhaseKind::Strategic,
        };
        if self.settings.deferred(kind).any(|tool| tool.name == name) {
            return format!("{name} is available on demand: load it with search_tools first.");
        }
        if self.bound(other).any(|tool| tool.name == name) {
            return format!("{name} is only available in {} phases; this phase is {}.", other.as_str(), kind.as_str());
        }
        let near = nearest(name, self.bound(kind).map(|tool| tool.name));
        if near.is_empty() {
            let all: Vec<&str> = self.bound(kind).map(|tool| tool.name).collect();
            return format!("there is no tool named {name}. Available now: {}.", all.join(", "));
        }
        format!("there is no tool named {name}. Did you mean {}?", near.join(" or "))
    }

    /// Counts the call by its whole result, then makes the text that enters the conversation.
    fn noted(
        &mut self,
        call: &ToolCall,
        parsed: &ParsedCall,
        content: String,
        progress: bool,
        looked: bool,
    ) -> Answered {
        let repetition = self.note_call(call, parsed, &content, looked);
        let mut content = self.evict(call, content);
        if let Repetition::Nudge(count) = repetition {
            content.push_str(&format!(
                "\n\n(This is the same result for the same call, {count} times now. It will not change: go on with what is known.)"
            ));
        }
        Answered { content, progress, failed: false, repetition }
    }

    /// Tokens of a result as it enters the conversation.
    pub(super) fn tokens_shown(&self, content: &str) -> u32 {
        let most = self.settings.limits.max_tool_result_tokens;
        if content.len() / MAX_BYTES_A_TOKEN > most as usize { most } else { self.count(content).min(most) }
    }

    /// A result that is too large for the conversation goes to a file before it enters it; the model gets head, tail
    /// and the path.
    fn evict(&mut self, call: &ToolCall, content: String) -> String {
        if self.fits(&content) {
            return content;
        }
        let path = format!("{RESULTS}{}.md", call.id);
        let shown = self.excerpt(&content, &path);
        self.record_product(Product::WriteFile(FileWrite::text(path, content)));
        shown
    }
}

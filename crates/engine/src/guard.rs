//! Guardrails against an agent that wanders, all in one place. Each has a configured bound and a reaction with force:
//! text alone is ignored (lesson 13). Remarks contain no call syntax, because a model that imitates it loops
//! (lesson 9).

use crate::{Run, ToolCall, fingerprint, state::Repeat, tools};
use serde_json::Value;

/// How many distinct calls are remembered; older ones no longer count as repeated.
pub const REMEMBERED_CALLS: usize = 8;

/// Re-plannings in a row, without a closed todo in between, before the job is stopped as stuck.
pub(crate) const MAX_FORCED_REPLANS: u32 = 3;

/// Phases that the model may give up before one must come to its end: a plan that was wrong so often is not what is
/// wrong.
pub(crate) const MAX_REWINDS: u32 = 3;

/// What a result's repetition leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Repetition {
    /// Nothing special.
    Fresh,
    /// The result carries a remark; the count.
    Nudge(u32),
    /// The phase is given up and re-planned.
    Replan(u32),
}

impl Run {
    /// How often in a row the call has given the same result so far.
    pub(crate) fn repeats(&self, call: &ToolCall, arguments: &Value) -> u32 {
        let print = fingerprint::of_call(&call.name, arguments);
        self.state.guards.repeats.iter().find(|repeat| repeat.0 == print).map_or(0, |repeat| repeat.2)
    }

    /// Whether the call has repeated so often that it is answered without being run. A gate is always asked again: what
    /// it waits for may have come since, and a refusal would lock the job out (lesson 20).
    pub(crate) fn is_refused(&self, call: &ToolCall, arguments: &Value) -> bool {
        if tools::is_gate(&call.name) {
            return false;
        }
        // The bound counts this call: the fifth is refused when `refuse` is 5.
        self.repeats(call, arguments) + 1 >= self.settings.limits.repeated_calls.refuse
    }

    /// Why the model may not give this phase up, too.
    pub(crate) fn too_many_rewinds(&self) -> Result<(), String> {
        match self.state.guards.rewinds {
            rewinds if rewinds < MAX_REWINDS => Ok(()),
            rewinds => Err(format!(
                "refused: {rewinds} phases were given up since the last one that came to its end. Work on with the todos \
                 as they are: do what can be done of each, and close it with a note on what cannot."
            )),
        }
    }

    /// Counts a call and its result.
    pub(crate) fn note_call(&mut self, call: &ToolCall, arguments: &Value, result: &str) -> Repetition {
        let print = fingerprint::of_call(&call.name, arguments);
        let refused = self.is_refused(call, arguments);
        let result = fingerprint::of_text(result);
        let repeats = &mut self.state.guards.repeats;
        let known = repeats.iter().position(|repeat| repeat.0 == print).and_then(|at| repeats.remove(at));
        let count = match known {
            // A refusal has another text than the result that led to it, and still is the same call again.
            Some(Repeat(_, _, count)) if refused => count + 1,
            Some(Repeat(_, before, count)) if before == result => count + 1,
            Some(_) | None => 1,
        };
        let kept = known.filter(|_| refused).map_or(result, |repeat| repeat.1);
        repeats.push_back(Repeat(print, kept, count));
        if repeats.len() > REMEMBERED_CALLS {
            repeats.pop_front();
        }
        let bounds = self.settings.limits.repeated_calls;
        match count {
            n if n >= bounds.replan => Repetition::Replan(n),
            n if n >= bounds.nudge => Repetition::Nudge(n),
            _ => Repetition::Fresh,
        }
    }
}

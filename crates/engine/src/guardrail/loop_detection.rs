//! Guardrails against loops. Each has a configured bound and an enforced reaction: models ignore text alone.
//! Remarks contain no call syntax, because a model that imitates it loops.

use crate::{
    Guards, PhaseKind, PhaseOutcome, Product, RepeatedCalls, ToolCall,
    guardrail::{fingerprint, repeat::Repeat},
    phase::Todos,
    tools::{self, parsed_call::ParsedCall},
    vocabulary::path,
};
use serde_json::{Map, Value};

/// How many distinct calls are remembered; older ones no longer count as repeated.
pub const REMEMBERED_CALLS: usize = 8;

/// How many refused calls that are accepted when repeated are remembered: the maximum number of calls of an answer.
const REFUSED_ONCE: usize = 64;

/// The folder for results that are too large for the conversation.
pub(crate) const RESULTS: &str = "tool_results/";

/// Consecutive re-plannings, without a todo closed in a tactical phase with results between them, before the job is
/// stopped as stuck.
pub(crate) const MAX_FORCED_REPLANS: u32 = 3;

/// Consecutive tactical phases without results before the job ends.
const MAX_PHASES_WITHOUT_RESULTS: u32 = 2;

/// How many phases the model may abandon, by a rewind or by the escape hatch: after this many, the plan is not the
/// problem. A tactical phase that is completed earns one back, unless it only makes up for an abandoned one: so a job
/// whose plan has n phases abandons at most n + 3, however many phases the abandoning adds.
pub(crate) const MAX_REWINDS: u32 = 3;

/// The reaction to a repeated result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Repetition {
    /// Nothing special.
    Fresh,
    /// The result gets a remark; the count.
    Nudge(u32),
    /// The phase is abandoned and planned again; the count.
    Replan(u32),
}

impl Guards {
    fn known(&self, parsed: &ParsedCall) -> Option<&Repeat> {
        self.repeats.iter().find(|repeat| repeat.call == parsed.print)
    }

    /// How many consecutive times the call has given the same result.
    pub(crate) fn times(&self, parsed: &ParsedCall) -> u32 {
        self.known(parsed).map_or(0, |repeat| repeat.count)
    }

    /// Whether the call was repeated so often that it is refused without being run. A gate is always evaluated again:
    /// its condition may be fulfilled by now, and a refusal would lock the job out. So is a read of
    /// something that has changed since the last read.
    pub(crate) fn refuses(&self, call: &ToolCall, parsed: &ParsedCall, bounds: RepeatedCalls) -> bool {
        if tools::is_gate(&call.name) {
            return false;
        }
        // The bound includes this call: the fifth is refused if `refuse` is 5.
        let bound = bounds.refuse;
        self.known(parsed).map_or(bound <= 1, |repeat| repeat.count + 1 >= bound && !repeat.fresh)
    }

    /// Why the model may not abandon this phase too. The refusal says what to do instead: the open todos.
    pub(crate) fn too_many_rewinds(&self, todos: &Todos) -> Result<(), String> {
        let rewinds = self.rewinds;
        if rewinds < MAX_REWINDS {
            return Ok(());
        }
        Err(format!(
            "refused: {rewinds} phases were given up already, and a phase must come to its end before another one may \
             be. Work on with the todos as they are: do what can be done of each, and close it with a note on what \
             cannot. Open: {}",
            todos.open_in_words()
        ))
    }

    /// Why the phase is planned again, if as many turns as this brought no progress.
    pub(crate) fn idle_too_long(&self, bound: u32) -> Option<String> {
        let turns = self.idle_turns;
        (turns >= bound)
            .then(|| format!("{turns} turns went by without a closed todo, a changed file or a requirement"))
    }

    /// A phase begins. The count of consecutive fruitless turns continues: only a call resets it, otherwise a re-planning
    /// would hide that the model makes no calls.
    pub(crate) fn begin_phase(&mut self) {
        (self.idle_turns, self.compactions_of_todo, self.phase_has_results) = (0, 0, false);
        self.repeats.clear();
    }

    /// A person has looked at the job.
    pub(crate) fn forget_rewinds(&mut self) {
        (self.rewinds, self.recovering) = (0, false);
    }

    /// Counts a phase that has ended, without an effect if its list is passed; returns whether it is a completed phase of
    /// work.
    pub(crate) fn note_ended_phase(&mut self, outcome: PhaseOutcome, kind: PhaseKind, fruitless: Option<u32>) -> bool {
        match (outcome, kind) {
            (PhaseOutcome::Rewound | PhaseOutcome::Forced, _) => {
                (self.rewinds, self.recovering) = (self.rewinds + 1, true);
                false
            }
            (PhaseOutcome::Completed, PhaseKind::Tactical) => {
                match self.recovering {
                    true => self.recovering = false,
                    false => self.rewinds = self.rewinds.saturating_sub(1),
                }
                match self.phase_has_results {
                    true => self.phases_without_results = 0,
                    false => self.phases_without_results += 1,
                }
                if let Some(list) = fruitless {
                    self.note_phase_without_effect(list);
                }
                true
            }
            (PhaseOutcome::Completed, PhaseKind::Strategic) => false,
        }
    }

    /// Why the job ends, if too many consecutive phases had no results. Then the count restarts, because a person has
    /// looked at the job.
    pub(crate) fn ends_without_progress(&mut self) -> Option<String> {
        if self.phases_without_results < MAX_PHASES_WITHOUT_RESULTS {
            return None;
        }
        self.phases_without_results = 0;
        Some(format!(
            "{MAX_PHASES_WITHOUT_RESULTS} tactical phases in a row came to their end with nothing written or recorded: their \
             todos were closed without a changed file, a requirement, a citation or a new part of a document"
        ))
    }

    /// A file has changed: calls that read it, or a folder above it, may be repeated. Their counts continue, so that
    /// reads alternating with writes that change nothing are still detected. A result moved to a file is not a change.
    pub(crate) fn invalidate_reads(&mut self, path: &str) {
        if path.starts_with(RESULTS) {
            return;
        }
        let ends = path.match_indices('/').map(|(at, _)| at).chain([0, path.len()]);
        let seen: Vec<u32> = ends.map(|end| fingerprint::of_text(&path[..end])).collect();
        for repeat in &mut self.repeats {
            repeat.fresh |= repeat.looks_at.is_some_and(|subject| seen.contains(&subject));
        }
    }

    /// Remembers a call whose refusal said that it is accepted when repeated.
    pub(crate) fn note_refused_once(&mut self, print: u32) {
        let refused = &mut self.refused_once;
        refused.retain(|known| *known != print);
        refused.push_back(print);
        if refused.len() > REFUSED_ONCE {
            refused.pop_front();
        }
    }

    /// Counts a call and its result. `looked`: the call changed nothing, so a change of what it read is a reason to
    /// repeat it.
    pub(crate) fn note_call(
        &mut self,
        (call, parsed): (&ToolCall, &ParsedCall),
        result: &str,
        looked: bool,
        bounds: RepeatedCalls,
    ) -> Repetition {
        let print = parsed.print;
        let refused = self.refuses(call, parsed, bounds);
        let result = fingerprint::of_text(result);
        let repeats = &mut self.repeats;
        let known = repeats.iter().position(|repeat| repeat.call == print).and_then(|at| repeats.remove(at));
        let noted = match known {
            // A refusal differs in text from the result that led to it, but the call is the same.
            Some(known) if refused => Repeat { count: known.count + 1, ..known },
            known => {
                let count = known.filter(|known| known.result == result).map_or(1, |known| known.count + 1);
                let looks_at = looked.then(|| subject(&parsed.fields)).flatten();
                Repeat { call: print, result, count, looks_at, fresh: false }
            }
        };
        repeats.push_back(noted);
        if repeats.len() > REMEMBERED_CALLS {
            repeats.pop_front();
        }
        match noted.count {
            n if n >= bounds.replan => Repetition::Replan(n),
            n if n >= bounds.nudge => Repetition::Nudge(n),
            _ => Repetition::Fresh,
        }
    }
}

/// Whether a file is the system's record of the phases themselves.
pub(crate) fn is_record(path: &str) -> bool {
    matches!(path, "progress.md" | "todos.yaml" | "workspace_summary.md" | "error.md")
        || ["archive/", "tools/", RESULTS].iter().any(|folder| path.starts_with(folder))
}

/// Whether a product is the model's work, not the system's records of phases.
pub(crate) fn is_result(product: &Product) -> bool {
    let counts = |path: &str| !is_record(path);
    match product {
        Product::WriteFile(file) => counts(&file.path),
        Product::AppendFile { path, .. } | Product::DeleteFile { path } => counts(path),
        Product::ShareFiles(_) | Product::CutDocument(_) | Product::DecidePassage(_) | Product::DeliverQuotes(_) => {
            false
        }
        Product::AddSource(_)
        | Product::AddCitation(_)
        | Product::AddRequirement(_)
        | Product::ChangeRequirement(_)
        | Product::JudgeRequirement(_) => true,
    }
}

/// What a read-only call looks at: the file or folder that it names, or the whole workspace if it names none.
fn subject(arguments: &Map<String, Value>) -> Option<u32> {
    let named = arguments.get("path").and_then(Value::as_str).unwrap_or_default();
    // "." and "" are the workspace itself, which the normal form does not know.
    let path = match named.trim_matches(['.', '/', ' ']) {
        "" => String::new(),
        _ => path::normalize(named).ok()?,
    };
    Some(fingerprint::of_text(&path))
}

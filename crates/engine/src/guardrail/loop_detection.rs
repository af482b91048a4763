//! Guardrails against loops. Each has a configured bound and an enforced reaction: models ignore text alone (lesson
//! 13). Remarks contain no call syntax, because a model that imitates it loops (lesson 9).

use crate::{
    PhaseKind, PhaseOutcome, Product, Run, ToolCall,
    guardrail::{fingerprint, repeat::Repeat},
    tools::{self, parsed_call::ParsedCall},
    vocabulary::path,
};
use serde_json::{Map, Value};

/// How many distinct calls are remembered; older ones no longer count as repeated.
pub const REMEMBERED_CALLS: usize = 8;

/// How many calls are remembered that are taken when they are made again: as many as an answer may hold.
const REFUSED_ONCE: usize = 64;

/// Where results go that are too large for the conversation.
pub(crate) const RESULTS: &str = "tool_results/";

/// Re-plannings in a row, without a todo in between that was closed in a tactical phase with results, before the job is
/// stopped as stuck.
pub(crate) const MAX_FORCED_REPLANS: u32 = 3;

/// Tactical phases in a row that may end without results before the job does.
const MAX_PHASES_WITHOUT_RESULTS: u32 = 2;

/// Phases that the model may give up, by a rewind or by the escape hatch: a plan that was wrong so often is not what is
/// wrong. A tactical phase that comes to its end earns one of them back, unless it only makes up for one that was given
/// up: so a job whose plan has n phases gives up n + 3 at most, however many the giving up adds.
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
    fn known(&self, parsed: &ParsedCall) -> Option<&Repeat> {
        self.state.guards.repeats.iter().find(|repeat| repeat.call == parsed.print)
    }

    /// How often in a row the call has given the same result so far.
    pub(crate) fn repeats(&self, parsed: &ParsedCall) -> u32 {
        self.known(parsed).map_or(0, |repeat| repeat.count)
    }

    /// Whether the call has repeated so often that it is answered without being run. A gate is always asked again: what
    /// it waits for may have come since, and a refusal would lock the job out (lesson 20). So is a look at something
    /// that has changed since the last one.
    pub(crate) fn is_refused(&self, call: &ToolCall, parsed: &ParsedCall) -> bool {
        if tools::is_gate(&call.name) {
            return false;
        }
        // The bound counts this call: the fifth is refused when `refuse` is 5.
        let bound = self.settings.limits.repeated_calls.refuse;
        self.known(parsed).map_or(bound <= 1, |repeat| repeat.count + 1 >= bound && !repeat.fresh)
    }

    /// Why the model may not give this phase up, too. The refusal holds what to do in place of it: the open todos.
    pub(crate) fn too_many_rewinds(&self) -> Result<(), String> {
        let rewinds = self.state.guards.rewinds;
        if rewinds < MAX_REWINDS {
            return Ok(());
        }
        let open = self.todos.iter().filter(|todo| todo.status.is_open());
        let open: Vec<String> = open.map(|todo| format!("{}. {}", todo.position, todo.content)).collect();
        Err(format!(
            "refused: {rewinds} phases were given up already, and a phase must come to its end before another one may \
             be. Work on with the todos as they are: do what can be done of each, and close it with a note on what \
             cannot. Open: {}",
            open.join("; ")
        ))
    }

    /// Counts a phase that has ended.
    pub(crate) fn note_ended_phase(&mut self, outcome: PhaseOutcome) {
        let guards = &mut self.state.guards;
        match (outcome, self.state.phase.kind) {
            (PhaseOutcome::Rewound | PhaseOutcome::Forced, _) => {
                (guards.rewinds, guards.recovering) = (guards.rewinds + 1, true)
            }
            (PhaseOutcome::Completed, PhaseKind::Tactical) => {
                self.state.phase.completed += 1;
                match guards.recovering {
                    true => guards.recovering = false,
                    false => guards.rewinds = guards.rewinds.saturating_sub(1),
                }
                match guards.phase_has_results {
                    true => guards.phases_without_results = 0,
                    false => guards.phases_without_results += 1,
                }
                self.note_effects_of_phase();
            }
            (PhaseOutcome::Completed, PhaseKind::Strategic) => {}
        }
    }

    /// Why the job is ended, if too many phases in a row have left nothing behind. They may count anew after that: a person
    /// has looked at it.
    pub(crate) fn ends_without_progress(&mut self) -> Option<String> {
        let guards = &mut self.state.guards;
        if guards.phases_without_results < MAX_PHASES_WITHOUT_RESULTS {
            return None;
        }
        guards.phases_without_results = 0;
        Some(format!(
            "{MAX_PHASES_WITHOUT_RESULTS} tactical phases in a row came to their end with nothing written or recorded: their \
             todos were closed without a changed file, a requirement, a citation or a new part of a document"
        ))
    }

    /// A file has changed: calls that looked at it, or at a folder above it, are worth making again. They go on counting,
    /// so that looks with writes between them that change nothing are still found. What a result itself was moved to is
    /// no change.
    pub(crate) fn invalidate_reads(&mut self, path: &str) {
        if path.starts_with(RESULTS) {
            return;
        }
        let ends = path.match_indices('/').map(|(at, _)| at).chain([0, path.len()]);
        let seen: Vec<u32> = ends.map(|end| fingerprint::of_text(&path[..end])).collect();
        for repeat in &mut self.state.guards.repeats {
            repeat.fresh |= repeat.looks_at.is_some_and(|subject| seen.contains(&subject));
        }
    }

    /// Remembers a call that was refused with the word that, made again, it is taken.
    pub(crate) fn note_refused_once(&mut self, print: u32) {
        let refused = &mut self.state.guards.refused_once;
        refused.retain(|known| *known != print);
        refused.push_back(print);
        if refused.len() > REFUSED_ONCE {
            refused.pop_front();
        }
    }

    /// Counts a call and its result. `looked` says that the call changed nothing, so that a change of what it looked at
    /// is a reason to make it again.
    pub(crate) fn note_call(&mut self, call: &ToolCall, parsed: &ParsedCall, result: &str, looked: bool) -> Repetition {
        let print = parsed.print;
        let refused = self.is_refused(call, parsed);
        let result = fingerprint::of_text(result);
        let repeats = &mut self.state.guards.repeats;
        let known = repeats.iter().position(|repeat| repeat.call == print).and_then(|at| repeats.remove(at));
        let noted = match known {
            // A refusal has another text than the result that led to it, and still is the same call again.
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
        let bounds = self.settings.limits.repeated_calls;
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

/// Whether a product is the model's work: not what the system writes about the phases themselves.
pub(crate) fn is_result(product: &Product) -> bool {
    let counts = |path: &str| !is_record(path);
    match product {
        Product::WriteFile(file) => counts(&file.path),
        Product::PlaceFile(file) => counts(&file.path),
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

/// What a call that changes nothing looks at: the file or folder it names, the whole workspace where it names none.
fn subject(arguments: &Map<String, Value>) -> Option<u32> {
    let named = arguments.get("path").and_then(Value::as_str).unwrap_or_default();
    // "." and "" are the workspace itself, which the normal form does not know.
    let path = match named.trim_matches(['.', '/', ' ']) {
        "" => String::new(),
        _ => path::normalize(named).ok()?,
    };
    Some(fingerprint::of_text(&path))
}

//! A lenient parser of `main_plan.md`. Its result is shown and helps to organize the work; progress and completion are
//! never inferred from it: they need a tool call.

mod forms;
mod lines;
mod words;

use forms::Found;
use lines::Line;
use serde::Serialize;

/// The plan's file.
pub const PATH: &str = "main_plan.md";
/// Phases listed individually when the result of parsing is reported.
const MAX_NAMED: usize = 20;

/// One phase of the plan as it is written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PlannedPhase {
    /// Its heading without number, mark and state.
    pub name: String,
    /// Its state according to the text.
    pub state: PlannedState,
    /// The steps with unticked boxes.
    #[serde(skip)]
    pub open_steps: Vec<String>,
}

/// The state of a phase according to the text of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum PlannedState {
    /// Marked as done, or all of its boxes are ticked.
    Done,
    /// Marked as current, or the first one that is not done.
    Current,
    /// Neither.
    Open,
}

const DONE_MARKS: [&str; 7] = ["[x]", "✓", "✔", "✅", "complete", "completed", "done"];
const CURRENT_MARKS: [&str; 5] = ["← current", "<- current", "(current)", "in progress", "🔄"];
/// Words that mean "done" when alone at a heading's end or in a table cell, in several languages.
const DONE_WORDS: [&str; 16] = [
    "erledigt",
    "fertig",
    "abgeschlossen",
    "terminé",
    "terminée",
    "fait",
    "hecho",
    "completado",
    "completada",
    "fatto",
    "completato",
    "concluído",
    "gereed",
    "klaar",
    "готово",
    "完成",
];

/// The same for work in progress.
const CURRENT_WORDS: [&str; 7] = ["current", "in arbeit", "laufend", "en cours", "en curso", "in corso", "进行中"];

/// The phases of a plan: headings that begin with a word such as "Phase", "Schritt" or "Étape" and a number; otherwise
/// the parts of a section "Phases", numbered headings, such words in lists, a table of phases, headings with steps, or
/// a list with numbers or boxes. Sections about goals, criteria, risks and terms are not phases. Exactly one phase that
/// is not done is current.
pub fn read_plan(text: &str) -> Vec<PlannedPhase> {
    let lines = lines::lines(text);
    let mut phases: Vec<PlannedPhase> = forms::find(&lines).into_iter().map(phase).collect();
    mark_current(&mut phases);
    phases
}

/// The parsed plan in words: the number of phases, and their names. None if it has no phases.
pub fn reading(text: &str) -> Option<String> {
    let phases = read_plan(text);
    let named: Vec<&str> = phases.iter().take(MAX_NAMED).map(|phase| phase.name.as_str()).collect();
    let more = match phases.len().saturating_sub(MAX_NAMED) {
        0 => String::new(),
        more => format!("; and {more} more"),
    };
    match phases.len() {
        0 => None,
        1 => Some(format!("1 phase: {}", named.concat())),
        n => Some(format!("{n} phases: {}{more}", named.join("; "))),
    }
}

/// How to fix a plan without phases.
pub const NO_PHASES: &str = "No phases were recognised in it: begin each with a heading such as '## Phase 1: name', and put its \
                             steps below as checkboxes.";

fn phase(found: Found<'_>) -> PlannedPhase {
    let lower = found.heading.to_lowercase();
    let state = match found.marked {
        Some(marked) => marked,
        None if has_word(&lower, &CURRENT_MARKS) => PlannedState::Current,
        None if is_done(&lower) || all_checked(&found.body) => PlannedState::Done,
        None => PlannedState::Open,
    };
    let open = found.body.iter().filter(|line| line.ticked == Some(false)).map(|line| line.text.to_string());
    PlannedPhase { name: found.name, state, open_steps: open.collect() }
}

fn is_done(lower: &str) -> bool {
    let last = lower.trim_end_matches(|c: char| !c.is_alphanumeric());
    let ends_with = |word: &&str| {
        last.strip_suffix(*word).is_some_and(|before| before.trim_end().ends_with(['(', '[', '-', '–', '—', ':', '✓']))
    };
    has_word(lower, &DONE_MARKS) || DONE_WORDS.iter().any(ends_with)
}

/// The state that a table cell denotes for its row, if the cell contains nothing else.
fn state_of_cell(cell: &str) -> Option<PlannedState> {
    let cell = cell.trim_matches(|c: char| c.is_whitespace() || "*_".contains(c)).to_lowercase();
    let is_in = |words: &[&str]| words.contains(&cell.as_str());
    if is_in(&DONE_MARKS) || is_in(&DONE_WORDS) {
        return Some(PlannedState::Done);
    }
    (is_in(&CURRENT_MARKS) || is_in(&CURRENT_WORDS)).then_some(PlannedState::Current)
}

fn all_checked(body: &[Line<'_>]) -> bool {
    let boxes: Vec<bool> = body.iter().filter_map(|line| line.ticked).collect();
    !boxes.is_empty() && boxes.iter().all(|done| *done)
}

fn has_word(lower: &str, marks: &[&str]) -> bool {
    marks.iter().any(|mark| {
        lower.match_indices(mark).any(|(at, _)| {
            let before = lower[..at].chars().next_back();
            let after = lower[at + mark.len()..].chars().next();
            // "incomplete" and "completeness" are not "complete"; symbols need no word boundary.
            let free = |c: Option<char>| !c.is_some_and(char::is_alphanumeric);
            !mark.starts_with(char::is_alphanumeric) || (free(before) && free(after) && !negated(&lower[..at]))
        })
    })
}

fn negated(before: &str) -> bool {
    let word = before.trim_end().rsplit(' ').next().unwrap_or("");
    matches!(word, "not" | "to" | "be" | "until" | "when")
}

fn mark_current(phases: &mut [PlannedPhase]) {
    let mut found = false;
    for phase in phases.iter_mut().filter(|phase| phase.state == PlannedState::Current) {
        if found {
            phase.state = PlannedState::Open;
        }
        found = true;
    }
    if !found && let Some(first) = phases.iter_mut().find(|phase| phase.state == PlannedState::Open) {
        first.state = PlannedState::Current;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use PlannedState::{Current, Done, Open};

    fn check(text: &str, expect: &[(&str, PlannedState)]) {
        let found: Vec<(String, PlannedState)> = read_plan(text).into_iter().map(|p| (p.name, p.state)).collect();
        let expect: Vec<(String, PlannedState)> = expect.iter().map(|(n, s)| ((*n).to_string(), *s)).collect();
        assert_eq!(found, expect, "{text}");
    }

    #[test]
    fn reads_many_habits() {
        check(
            "# Plan\n## Phase 1: Prepare\n- [x] a\n- [x] b\n## Phase 2: Extract\n- [x] a\n- [ ] b\n## Phase 3: Report",
            &[("Prepare", Done), ("Extract", Current), ("Report", Open)],
        );
        check(
            "## Phase 1 - Prepare ✓\n## Phase 2 - Extract ← CURRENT\n## Phase 3 - Report",
            &[("Prepare", Done), ("Extract", Current), ("Report", Open)],
        );
        check("- [x] Phase 1: Prepare\n- [ ] Phase 2: Extract", &[("Prepare", Done), ("Extract", Current)]);
        check("**Phase 1: Prepare** (COMPLETE)\n**Phase 2: Extract**", &[("Prepare", Done), ("Extract", Current)]);
        check("### 1. Prepare\n### 2. Extract (current)\n", &[("Prepare", Open), ("Extract", Current)]);
        check("no structure at all", &[]);
        check("```\n## Phase 9: quoted\n```\n## Phase 1: Real", &[("Real", Current)]);
        check(
            "## Phase 1: Completeness check\n## Phase 2: not complete",
            &[("Completeness check", Current), ("not complete", Open)],
        );
    }

    #[test]
    fn reads_what_is_done_in_tables_and_lists() {
        check(
            "| # | Phase | Status |\n|---|---|---|\n| 1 | Prepare | done |\n| 2 | Extract | in progress |\n",
            &[("Prepare", Done), ("Extract", Current)],
        );
        check("1. [x] Prepare\n2. [ ] Extract\n   - [ ] pages 1-5\n", &[("Prepare", Done), ("Extract", Current)]);
        check("## Schritt 1: Lesen (erledigt)\n## Schritt 2: Bericht\n", &[("Lesen", Done), ("Bericht", Current)]);
        let plan = read_plan("1. Prepare\n   - [ ] read\n   - [x] cut\n2. Extract\n");
        assert_eq!((plan.len(), plan[0].open_steps.as_slice()), (2, ["read".to_string()].as_slice()));
    }
}

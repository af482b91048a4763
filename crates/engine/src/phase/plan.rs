//! A forgiving reader of `main_plan.md`. What it finds is shown and helps to order the work; no progress and no end is
//! ever inferred from it (lesson 7): that takes a tool call.

use serde::Serialize;

/// One phase of the plan as it is written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PlannedPhase {
    /// Its heading without number, mark and state.
    pub name: String,
    /// What the text says of it.
    pub state: PlannedState,
    /// The steps whose boxes are not ticked.
    #[serde(skip)]
    pub open_steps: Vec<String>,
}

/// What the text of a plan says of a phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum PlannedState {
    /// Marked as done, or all of its checkboxes are.
    Done,
    /// Marked as current, or the first that is not done.
    Current,
    /// Neither.
    Open,
}

const DONE_MARKS: [&str; 7] = ["[x]", "✓", "✔", "✅", "complete", "completed", "done"];
const CURRENT_MARKS: [&str; 5] = ["← current", "<- current", "(current)", "in progress", "🔄"];

/// The phases of a plan: headings (or, without any, list lines and bold lines) that begin with the word "Phase", else
/// numbered second-level headings. Exactly one phase that is not done is current.
pub fn read_plan(text: &str) -> Vec<PlannedPhase> {
    let lines: Vec<&str> = outside_fences(text);
    let mut phases = collect(&lines, names_a_phase);
    if phases.is_empty() {
        phases = collect(&lines, is_numbered_heading);
    }
    mark_current(&mut phases);
    phases
}

fn outside_fences(text: &str) -> Vec<&str> {
    let mut fenced = false;
    text.lines()
        .filter(|line| {
            if line.trim_start().starts_with("```") {
                fenced = !fenced;
                return false;
            }
            !fenced
        })
        .collect()
}

fn collect(lines: &[&str], opens: fn(&str) -> bool) -> Vec<PlannedPhase> {
    let starts: Vec<usize> = (0..lines.len()).filter(|&i| opens(lines[i])).collect();
    starts
        .iter()
        .enumerate()
        .map(|(n, &start)| {
            let end = starts.get(n + 1).copied().unwrap_or(lines.len());
            phase(lines[start], &lines[start + 1..end])
        })
        .collect()
}

fn phase(heading: &str, body: &[&str]) -> PlannedPhase {
    let lower = heading.to_lowercase();
    let state = if has_word(&lower, &CURRENT_MARKS) {
        PlannedState::Current
    } else if has_word(&lower, &DONE_MARKS) || all_checked(body) {
        PlannedState::Done
    } else {
        PlannedState::Open
    };
    let open = body.iter().filter(|line| checkbox(line) == Some(false)).map(|line| bare(line).to_string());
    PlannedPhase { name: name_of(heading), state, open_steps: open.collect() }
}

fn all_checked(body: &[&str]) -> bool {
    let boxes: Vec<bool> = body.iter().filter_map(|line| checkbox(line)).collect();
    !boxes.is_empty() && boxes.iter().all(|done| *done)
}

fn checkbox(line: &str) -> Option<bool> {
    let item = line.trim_start().trim_start_matches(['-', '*', '+']).trim_start().to_lowercase();
    if item.starts_with("[x]") {
        Some(true)
    } else if item.starts_with("[ ]") {
        Some(false)
    } else {
        None
    }
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

fn bare(line: &str) -> &str {
    let mut rest = line.trim();
    loop {
        let next = rest.trim_start_matches(['#', '-', '*', '+', '>', '_', '✓', '✔', '✅', '🔄', '→']).trim_start();
        let next = ["[x]", "[X]", "[ ]"].iter().find_map(|b| next.strip_prefix(b)).unwrap_or(next).trim_start();
        if next == rest {
            return rest;
        }
        rest = next;
    }
}

fn names_a_phase(line: &str) -> bool {
    let marked = line.trim_start().starts_with(['#', '-', '*', '+', '✓', '✔', '✅']);
    let lower = bare(line).to_lowercase();
    let numbered = lower
        .strip_prefix("phase")
        .is_some_and(|rest| rest.trim_start().starts_with(|c: char| c.is_ascii_digit() || "ivx".contains(c)));
    numbered && (marked || lower.len() < 80)
}

fn is_numbered_heading(line: &str) -> bool {
    line.trim_start().starts_with("##") && bare(line).starts_with(|c: char| c.is_ascii_digit())
}

fn name_of(heading: &str) -> String {
    let text = bare(heading);
    let text = match text.get(..5) {
        Some(word) if word.eq_ignore_ascii_case("phase") => text[5..].trim_start(),
        _ => text,
    };
    let text =
        text.trim_start_matches(|c: char| c.is_ascii_digit()).trim_start_matches(['.', ':', ')', '-', '–', '—', ' ']);
    let mut name = text;
    for mark in ["←", "<-", "✓", "✔", "✅", "(", "["] {
        name = name.split(mark).next().unwrap_or(name);
    }
    let name = name.trim_matches(|c: char| c.is_whitespace() || "*_:-–—".contains(c));
    if name.is_empty() { bare(heading).to_string() } else { name.to_string() }
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
}

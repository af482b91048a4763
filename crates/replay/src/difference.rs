//! A difference, in one line that shows its position.

use serde::Serialize;
use std::fmt;

/// Maximum characters shown per side.
const SHOWN: usize = 100;
/// Maximum lines of a diff shown per side, and context lines.
const LINES: usize = 12;
const AROUND: usize = 2;
/// Characters shown before the first that differs.
const BEFORE: usize = 24;

/// The first difference.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// The step.
    pub step: i64,
    /// What differs, e.g. `message 12 (tool result)`.
    pub what: String,
    /// The recorded text, from shortly before the first different character.
    pub recorded: String,
    /// The text of this version, from the same position.
    pub now: String,
    /// The different lines in patch format; empty for a single line.
    pub diff: String,
}

impl Difference {
    /// A difference between two texts.
    pub(crate) fn new(step: i64, what: impl Into<String>, recorded: &str, now: &str) -> Self {
        let same = recorded.chars().zip(now.chars()).take_while(|(one, other)| one == other).count();
        let from = same.saturating_sub(BEFORE);
        let diff = diff(recorded, now);
        Self { step, what: what.into(), recorded: part(recorded, from), now: part(now, from), diff }
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { step, what, recorded, now, diff: _ } = self;
        write!(f, "step {step}: {what} differs: recorded {recorded:?}, now {now:?}")
    }
}

/// The lines from the first to the last difference, first recorded, then current, with some context.
fn diff(recorded: &str, now: &str) -> String {
    let (before, after): (Vec<&str>, Vec<&str>) = (recorded.lines().collect(), now.lines().collect());
    if before.len() < 2 && after.len() < 2 {
        return String::new();
    }
    let same = before.iter().zip(&after).take_while(|(one, other)| one == other).count();
    let behind =
        before[same..].iter().rev().zip(after[same..].iter().rev()).take_while(|(one, other)| one == other).count();
    let marked = |mark: char, lines: &[&str]| {
        let mut shown: Vec<String> = lines.iter().take(LINES).map(|line| format!("{mark}{}", part(line, 0))).collect();
        if lines.len() > LINES {
            shown.push(format!("{mark}… {} lines more", lines.len() - LINES));
        }
        shown
    };
    let (before_end, after_end) = (before.len() - behind, after.len() - behind);
    let around = after_end..(after_end + AROUND).min(after.len());
    let parts = [
        marked(' ', &before[same.saturating_sub(AROUND)..same]),
        marked('-', &before[same..before_end]),
        marked('+', &after[same..after_end]),
        marked(' ', &after[around]),
    ];
    parts.concat().join("\n")
}

fn part(text: &str, from: usize) -> String {
    let mut shown: String = text.chars().skip(from).take(SHOWN).collect();
    if from > 0 && !shown.is_empty() {
        shown.insert(0, '…');
    }
    if text.chars().count() > from + SHOWN {
        shown.push('…');
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::Difference;

    #[test]
    fn a_difference_shows_the_place() {
        let long = "x".repeat(300);
        let difference = Difference::new(7, "message 3", &format!("{long}old{long}"), &format!("{long}new{long}"));
        assert!(difference.recorded.starts_with("…xxx") && difference.recorded.contains("old"), "{difference}");
        assert!(difference.now.contains("new") && difference.now.ends_with('…'), "{difference}");
        let short = Difference::new(1, "todos", "a", "");
        assert_eq!(short.to_string(), "step 1: todos differs: recorded \"a\", now \"\"");
    }
}

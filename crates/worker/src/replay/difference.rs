//! What came out different, in one line that shows the place and not the whole.

use serde::Serialize;
use std::fmt;

/// Characters shown of each side.
const SHOWN: usize = 100;
/// Characters shown before the first that differs.
const BEFORE: usize = 24;

/// The first thing that came out different.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// The step.
    pub step: i64,
    /// What differs, e.g. `message 12 (tool result)`.
    pub what: String,
    /// What was recorded, from shortly before the first character that differs.
    pub recorded: String,
    /// What this version makes of it, from the same place.
    pub now: String,
}

impl Difference {
    /// A difference between two texts.
    pub(crate) fn new(step: i64, what: impl Into<String>, recorded: &str, now: &str) -> Self {
        let same = recorded.chars().zip(now.chars()).take_while(|(one, other)| one == other).count();
        let from = same.saturating_sub(BEFORE);
        Self { step, what: what.into(), recorded: part(recorded, from), now: part(now, from) }
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { step, what, recorded, now } = self;
        write!(f, "step {step}: {what} differs: recorded {recorded:?}, now {now:?}")
    }
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

//! The result of a check, and its output.

use crate::{
    error::Failure,
    output,
    terminal::{Look, Tone},
};
use serde::Serialize;

/// The verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Verdict {
    Ok,
    /// Works, but an operator should know.
    Note,
    /// Nothing works without it.
    Fail,
}

/// A check's result: one line.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(super) struct Finding {
    /// The checked item, e.g. `database`.
    pub(super) check: &'static str,
    pub(super) verdict: Verdict,
    /// The finding and, unless it is fine, the remedy.
    pub(super) text: String,
}

impl Finding {
    pub(super) fn ok(check: &'static str, text: impl Into<String>) -> Self {
        Self { check, verdict: Verdict::Ok, text: text.into() }
    }

    pub(super) fn note(check: &'static str, text: impl Into<String>) -> Self {
        Self { check, verdict: Verdict::Note, text: text.into() }
    }

    pub(super) fn fail(check: &'static str, text: impl Into<String>) -> Self {
        Self { check, verdict: Verdict::Fail, text: text.into() }
    }

    fn line(&self, look: Look) -> String {
        let (word, tone) = match self.verdict {
            Verdict::Ok => ("ok  ", Tone::Good),
            Verdict::Note => ("note", Tone::Warning),
            Verdict::Fail => ("FAIL", Tone::Bad),
        };
        format!("{}  {}: {}", look.paint(tone, word), self.check, self.text)
    }
}

/// Prints the findings; returns 1 if a required check fails.
pub(super) fn report(findings: &[Finding], as_json: bool) -> Result<u8, Failure> {
    let look = Look::of_stdout();
    for finding in findings {
        if as_json { output::json_line(finding)? } else { output::print(&finding.line(look))? }
    }
    Ok(u8::from(findings.iter().any(|finding| finding.verdict == Verdict::Fail)))
}

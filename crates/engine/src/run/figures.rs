//! The figures of a job's result and headline that the run knows.

use crate::{
    JobExit, Product, Run, Source, Verdict,
    ledger::{Counts, Covered},
    run::is_default,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Counts of a job, from its ledger and its checkpoint.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Figures {
    /// Whether jobs of its type record requirements.
    pub records: bool,
    /// Candidate sentences of its documents.
    pub candidates: usize,
    /// Of these, those covered by an active requirement; in types that record none, those that quotes touch.
    pub covered: usize,
    /// Of these, those that are not the first candidate of any requirement.
    pub merged: usize,
    /// Passages of its documents.
    pub passages: usize,
    /// Of these, those that are answered.
    pub answered: usize,
    /// Of these, those for which the scan has no rules.
    pub not_judged: usize,
    /// Sentences.
    pub sentences: usize,
    /// Of these, those that a verified quote of an active requirement touches.
    pub sentences_quoted: usize,
    /// Of these, those for which the scan has no rules.
    pub sentences_not_judged: usize,
    /// Documents with undecoded text.
    pub undecoded: usize,
    /// Quotes of its files that were looked up and found when it ended.
    pub quotes_found: u64,
    /// The judgements of a job that judges the requirements of others.
    pub judged: Option<Judged>,
}

/// Requirements of other jobs that were judged, by verdict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Judged {
    /// Accepted, including integrated ones.
    pub accepted: usize,
    /// Of these, those that no model looked at: nothing argued against them.
    #[serde(skip_serializing_if = "is_default")]
    pub by_rule: usize,
    /// Rejected.
    pub rejected: usize,
    /// Neither: they could not be judged or integrated.
    pub failed: usize,
    /// How many waited for the model when the job began, those judged by rule not counted; the model's own once
    /// `next_requirement` has said that none waits.
    #[serde(skip_serializing_if = "is_default")]
    pub waited: usize,
}

impl Run {
    /// The job's figures at this point. With `coverage: off` those of the ledger are zero: no one asks how much of the
    /// documents was answered.
    pub fn figures(&self) -> Figures {
        let (covered, counts) = match self.settings().coverage {
            Some(_) => (self.ledger().covered(), self.ledger().counts()),
            None => (Covered::default(), Counts::default()),
        };
        let undecoded = |source: &&Source| {
            !source.unread_pages.is_empty() || source.warnings.iter().any(|said| said.contains("could not be decoded"))
        };
        Figures {
            records: self.ledger().records() || self.settings().records_requirements(),
            candidates: covered.candidates,
            covered: covered.covered,
            merged: covered.merged,
            passages: counts.total,
            answered: counts.answered,
            not_judged: counts.not_judged,
            sentences: covered.sentences,
            sentences_quoted: covered.sentences_quoted,
            sentences_not_judged: covered.sentences_not_judged,
            undecoded: self.workspace().sources().iter().filter(undecoded).count(),
            quotes_found: self.exit().and_then(JobExit::result).map_or(0, quotes_checked),
            judged: self.settings().judges_requirements().then_some(self.state().judged),
        }
    }
}

fn quotes_checked(result: &Value) -> u64 {
    result["counts"]["quotes_checked"].as_u64().unwrap_or(0)
}

impl Judged {
    /// Requirements that waited and that the job has not judged.
    pub fn left(&self) -> usize {
        self.waited.saturating_sub(self.by_model())
    }

    fn by_model(&self) -> usize {
        self.accepted - self.by_rule + self.rejected + self.failed
    }

    /// None waits any more: another validator has judged the others, or holds them.
    pub(crate) fn note_none_waits(&mut self) {
        self.waited = self.by_model();
    }

    pub(crate) fn take(&mut self, product: &Product) {
        let Product::JudgeRequirement(judgement) = product else { return };
        let by_rule = judgement.validation_result.get("by").and_then(Value::as_str) == Some("rule");
        match judgement.verdict {
            Verdict::Integrated | Verdict::Accepted => {
                self.accepted += 1;
                self.by_rule += usize::from(by_rule);
            }
            Verdict::Rejected => self.rejected += 1,
            Verdict::Failed => self.failed += 1,
        }
    }
}

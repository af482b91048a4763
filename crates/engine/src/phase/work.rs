//! Results of work, counted from the products of tools and never from the model's statements.

use crate::{
    PhaseOutcome, PhaseState, Product,
    guardrail::{fingerprint, loop_detection},
    phase::Todos,
    run::is_default,
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Files distinguished; if more are written for one todo, the others count each time.
const FILES_TOLD_APART: usize = 30;

/// The results of a todo.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Work {
    /// Requirements recorded.
    #[serde(skip_serializing_if = "is_default")]
    pub requirements: u32,
    /// Recorded requirements that were corrected or withdrawn.
    #[serde(skip_serializing_if = "is_default")]
    pub corrected: u32,
    /// Quotes found in their source.
    #[serde(skip_serializing_if = "is_default")]
    pub citations: u32,
    /// Requirements of another job that were judged.
    #[serde(skip_serializing_if = "is_default")]
    pub judged: u32,
    /// Documents whose text was extracted.
    #[serde(skip_serializing_if = "is_default")]
    pub sources: u32,
    /// Calls that were refused or failed.
    #[serde(skip_serializing_if = "is_default")]
    pub refused: u32,
    /// Files written or deleted, by fingerprint.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub files: BTreeSet<u32>,
    /// Writes of further files.
    #[serde(skip_serializing_if = "is_default")]
    pub more_files: u32,
    /// The answer (`seq` of its message) that tried to close it although passages that its text names were not
    /// answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub asked_passages: Option<i64>,
}

/// A tactical phase that ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Worked {
    /// Its number among all phases of the job.
    pub number: i32,
    /// Its name.
    pub name: String,
    /// How it ended.
    pub outcome: PhaseOutcome,
    /// How many of its todos were closed.
    pub closed: usize,
    /// How many it had.
    pub todos: usize,
    /// Why it was abandoned, if it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub issue: Option<String>,
}

impl Worked {
    /// The phase as it ends.
    pub(crate) fn of(phase: &PhaseState, todos: &Todos, outcome: PhaseOutcome, issue: Option<&str>) -> Self {
        let (number, name, issue) = (phase.number, phase.name.clone(), issue.map(str::to_owned));
        Self { number, name, outcome, closed: todos.completed(), todos: todos.len(), issue }
    }
}

impl Work {
    /// Counts a product; the system's records of phases do not count.
    pub(crate) fn take(&mut self, product: &Product) {
        match product {
            Product::AddRequirement(_) => self.requirements += 1,
            Product::ChangeRequirement(_) => self.corrected += 1,
            Product::AddCitation(_) => self.citations += 1,
            Product::JudgeRequirement(_) => self.judged += 1,
            Product::AddSource(_) => self.sources += 1,
            Product::WriteFile(file) if loop_detection::is_result(product) => self.take_file(&file.path),
            Product::AppendFile { path, .. } | Product::DeleteFile { path } if loop_detection::is_result(product) => {
                self.take_file(path);
            }
            Product::WriteFile(_)
            | Product::AppendFile { .. }
            | Product::DeleteFile { .. }
            | Product::CutDocument(_)
            | Product::DecidePassage(_)
            | Product::DeliverQuotes(_)
            | Product::ShareFiles(_) => {}
        }
    }

    fn take_file(&mut self, path: &str) {
        let print = fingerprint::of_text(path);
        if self.files.contains(&print) {
            return;
        }
        match self.files.len() < FILES_TOLD_APART {
            true => drop(self.files.insert(print)),
            false => self.more_files += 1,
        }
    }

    /// As text: "26 requirements recorded, 27 quotes verified, 1 file written, 2 calls refused".
    pub(crate) fn in_words(&self) -> Option<String> {
        let files = u32::try_from(self.files.len()).unwrap_or(u32::MAX).saturating_add(self.more_files);
        let counts = [
            (self.requirements, "requirement", "recorded"),
            (self.corrected, "requirement", "put right"),
            (self.citations, "quote", "verified"),
            (self.judged, "requirement", "judged"),
            (self.sources, "document", "extracted"),
            (files, "file", "written"),
            (self.refused, "call", "refused"),
        ];
        let words: Vec<String> = counts.into_iter().filter(|(count, ..)| *count > 0).map(counted).collect();
        (!words.is_empty()).then(|| words.join(", "))
    }
}

fn counted((count, what, done): (u32, &str, &str)) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {what}{plural} {done}")
}

#[cfg(test)]
mod tests {
    use super::Work;
    use crate::{FileWrite, Product};

    #[test]
    fn a_file_written_twice_is_one_and_records_of_the_system_are_none() {
        let mut work = Work::default();
        for path in ["output/a.md", "output/a.md", "output/b.md", "progress.md", "archive/phase_2.yaml"] {
            work.take(&Product::WriteFile(FileWrite::text(path, "x")));
        }
        work.refused = 1;
        assert_eq!(work.in_words().as_deref(), Some("2 files written, 1 call refused"));
        for n in 0..100 {
            work.take(&Product::WriteFile(FileWrite::text(format!("notes/{n}.md"), "x")));
        }
        assert_eq!(work.in_words().as_deref(), Some("102 files written, 1 call refused"));
        assert_eq!(Work::default().in_words(), None);
    }
}

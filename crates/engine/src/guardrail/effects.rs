//! The effects of a phase, counted from the products of tools and never from the model's statements: the evidence for
//! closing todos, and the bound of the outer loop.
//!
//! An *effect* is a requirement recorded, changed, withdrawn or judged, a write to the graph, a passage newly read or
//! answered, a document extracted, or a path that has content for the first time. Plans and notes are not effects,
//! because a looping model writes them as well. Effort is not an effect either: a call without such a result does not
//! count.

use crate::{
    FileWrite, Opening, PhaseKind, Product, Run, Stage, ToolCall,
    guardrail::{
        fingerprint,
        loop_detection::{self, is_record},
    },
    is_placeholder,
    ledger::Counts,
    tools::parsed_call::ParsedCall,
    vocabulary::path,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::VecDeque;

/// How many versions of files are remembered; one that was written earlier counts as new. Few, because each step writes
/// the whole checkpoint: a longer cycle is left to the count of phases without an effect.
const REMEMBERED_VERSIONS: usize = 64;
/// How many shown texts are remembered.
const REMEMBERED_TEXTS: usize = 64;
/// How many deleted files that had content are remembered.
const REMEMBERED_DELETED: usize = 64;
/// How many tactical phases without an effect a job may have in addition to the number of phases of its plan.
const MORE_THAN_PLANNED: u32 = 3;
/// How many todo lists of phases without an effect are remembered.
const REMEMBERED_LISTS: usize = 64;

/// The files that a strategic phase works on.
const PLANNING: [&str; 3] = ["workspace.md", "main_plan.md", "todos.yaml"];

/// What the current phase has produced.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PhaseEffects {
    /// Effects, except those on passages, which the ledger counts.
    #[serde(skip_serializing_if = "is_zero")]
    pub effects: u32,
    /// Other evidence for todos: texts shown for the first time, and in strategic phases new versions of the planning
    /// files.
    #[serde(skip_serializing_if = "is_zero")]
    pub evidence: u32,
    /// Passages already read when the phase began, including answered ones.
    #[serde(skip_serializing_if = "is_zero")]
    pub read_before: u32,
    /// Passages already answered when the phase began.
    #[serde(skip_serializing_if = "is_zero")]
    pub answered_before: u32,
    /// Todos that the model closed.
    #[serde(skip_serializing_if = "is_zero")]
    pub closed: u32,
    /// The answer (`seq` of its message) in which a closing was refused for lack of evidence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub asked_for: Option<i64>,
}

/// Fingerprints of what the job has already seen, so that repetitions do not count as new.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Seen {
    /// Versions of files written, and quotes verified.
    #[serde(skip_serializing_if = "VecDeque::is_empty")]
    pub versions: VecDeque<u32>,
    /// Texts shown.
    #[serde(skip_serializing_if = "VecDeque::is_empty")]
    pub texts: VecDeque<u32>,
    /// Paths whose file had content and was deleted.
    #[serde(skip_serializing_if = "VecDeque::is_empty")]
    pub deleted: VecDeque<u32>,
}

impl Seen {
    /// Whether nothing was seen yet.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

fn is_zero(count: &u32) -> bool {
    *count == 0
}

/// Remembers a fingerprint among the last `most`; returns whether it is new.
fn remember(seen: &mut VecDeque<u32>, print: u32, most: usize) -> bool {
    if seen.contains(&print) {
        return false;
    }
    seen.push_back(print);
    if seen.len() > most {
        seen.pop_front();
    }
    true
}

impl Run {
    /// Resets the counts at the beginning of a phase.
    pub(crate) fn begin_effects(&mut self) {
        let (read_before, answered_before) = read_and_answered(&self.ledger.counts());
        // Such a phase opens with a new text: the user's feedback, or why the last phase failed.
        let is_told = matches!(self.state.phase.opening, Opening::Feedback | Opening::Rewound);
        self.state.effects =
            PhaseEffects { read_before, answered_before, evidence: u32::from(is_told), ..PhaseEffects::default() };
    }

    /// Effects of the current phase.
    fn effects(&self) -> u32 {
        let (read, answered) = read_and_answered(&self.ledger.counts());
        let PhaseEffects { effects, read_before, answered_before, .. } = self.state.effects;
        effects + read.saturating_sub(read_before) + answered.saturating_sub(answered_before)
    }

    /// Whether closing one more todo would make more closed todos than results in this phase. A final review needs no
    /// evidence: the completion gate judges the work.
    pub(crate) fn lacks_evidence(&self) -> bool {
        self.state.phase.opening != Opening::Final && self.evidence() <= self.state.effects.closed
    }

    /// The results of the phase so far that are evidence for todos.
    pub(crate) fn evidence(&self) -> u32 {
        self.effects() + self.state.effects.evidence
    }

    /// Counts a product of a call, before it is applied to the files. Products of the system or the user do not count.
    pub(crate) fn note_effect(&mut self, product: &Product) {
        if !matches!(self.state.stage, Stage::Tools { .. }) {
            return;
        }
        let is_effect = match product {
            Product::AddRequirement(_) | Product::ChangeRequirement(_) | Product::JudgeRequirement(_) => true,
            // Extracting it again is not an effect.
            Product::AddSource(source) => source.text_path.is_some() && !self.sources.contains(source),
            Product::WriteFile(FileWrite { path, content }) => !is_placeholder(content) && self.is_first(path),
            Product::AppendFile { path, text } => !is_placeholder(text.as_bytes()) && self.is_first(path),
            Product::DeleteFile { path } => {
                if self.has_content(path) {
                    remember(&mut self.state.seen.deleted, fingerprint::of_text(path), REMEMBERED_DELETED);
                }
                false
            }
            Product::AddCitation(_)
            | Product::ShareFiles(_)
            | Product::CutDocument(_)
            | Product::DecidePassage(_)
            | Product::DeliverQuotes(_) => false,
        };
        self.state.effects.effects += u32::from(is_effect);
        let is_new = self.is_new_version(product);
        let plans = product.path().is_some_and(|path| PLANNING.contains(&path));
        if is_new && plans && self.state.phase.kind == PhaseKind::Strategic {
            self.state.effects.evidence += 1;
        }
        if is_new && loop_detection::is_result(product) {
            self.state.guards.phase_has_results = true;
        }
    }

    /// A query that requested write access to the graph and was not refused: its writes leave no row here. The same
    /// query again is not an effect.
    fn note_query(&mut self, parsed: &ParsedCall) {
        let writes = parsed.fields.get("allow_write").and_then(Value::as_bool) == Some(true);
        if writes && remember(&mut self.state.seen.versions, parsed.print, REMEMBERED_VERSIONS) {
            self.state.effects.effects += 1;
            self.state.guards.phase_has_results = true;
        }
    }

    /// Whether a file of the model's work gets content at a path that never had any.
    fn is_first(&self, path: &str) -> bool {
        let plans = matches!(path, "workspace.md" | "main_plan.md") || path.starts_with("notes");
        let deleted = || self.state.seen.deleted.contains(&fingerprint::of_text(path));
        !plans && !is_record(path) && !self.has_content(path) && !deleted()
    }

    fn has_content(&self, path: &str) -> bool {
        self.files.get(path).is_some_and(|facts| facts.size > 0 && !facts.placeholder)
    }

    /// Whether bytes are new among the versions of their path; other products are always new, except a known quote.
    fn is_new_version(&mut self, product: &Product) -> bool {
        let print = match product {
            Product::WriteFile(file) => fingerprint::of_parts(&[file.path.as_bytes(), &file.content]),
            Product::AppendFile { path, text } => {
                let before = self.files.get(path).map_or(0, |facts| facts.size);
                fingerprint::of_parts(&[path.as_bytes(), &before.to_le_bytes(), text.as_bytes()])
            }
            Product::AddCitation(citation) => fingerprint::of_text(&citation.id),
            Product::DeleteFile { .. }
            | Product::ShareFiles(_)
            | Product::CutDocument(_)
            | Product::DecidePassage(_)
            | Product::DeliverQuotes(_) => return false,
            Product::AddRequirement(_)
            | Product::ChangeRequirement(_)
            | Product::JudgeRequirement(_)
            | Product::AddSource(_) => return true,
        };
        remember(&mut self.state.seen.versions, print, REMEMBERED_VERSIONS)
    }

    /// A call without a product: a text shown for the first time is evidence; a part of a document is also a result of
    /// the phase.
    pub(crate) fn note_shown(&mut self, call: &ToolCall, parsed: &ParsedCall, content: &str) {
        self.note_query(parsed);
        // A list of names is not a text.
        if matches!(call.name.as_str(), "list_files" | "create_folder") {
            return;
        }
        if !remember(&mut self.state.seen.texts, fingerprint::of_text(content), REMEMBERED_TEXTS) {
            return;
        }
        self.state.effects.evidence += 1;
        let path = parsed.fields.get("path").and_then(Value::as_str).and_then(|path| path::normalize(path).ok());
        if path.is_some_and(|path| self.is_part_of_a_document(&path)) {
            (self.state.guards.phase_has_results, self.state.guards.compactions_of_todo) = (true, 0);
        }
    }

    fn is_part_of_a_document(&self, path: &str) -> bool {
        let is_text = |source: &crate::Source| source.text_path.as_deref() == Some(path);
        path.starts_with("input/") || path.starts_with("chunks/") || self.sources.iter().any(is_text)
    }

    /// Counts a tactical phase that has ended.
    pub(crate) fn note_effects_of_phase(&mut self) {
        if self.effects() > 0 {
            return;
        }
        let print = list_print(self.todos.iter().map(|todo| todo.content.as_str()));
        let guards = &mut self.state.guards;
        guards.phases_without_effect += 1;
        remember(&mut guards.lists_without_effect, print, REMEMBERED_LISTS);
    }

    /// Why the job is stuck, if it had more phases without an effect than its plan can explain. Then the count
    /// restarts, because a person has looked at the job.
    pub(crate) fn is_stuck(&mut self) -> Option<String> {
        let planned = self.state.phase.planned;
        let most = u32::try_from(planned).unwrap_or(0) + MORE_THAN_PLANNED;
        let count = self.state.guards.phases_without_effect;
        if count <= most {
            return None;
        }
        self.state.guards.phases_without_effect = 0;
        Some(format!(
            "the job is stuck: {count} tactical phases came to their end without an effect, and its plan has {planned} phases: \
             no requirement was recorded or judged in them, no passage read or answered, and no new file but notes written"
        ))
    }

    /// Whether a list is identical to that of a phase without an effect.
    pub(crate) fn had_no_effect<'a>(&self, contents: impl Iterator<Item = &'a str>) -> bool {
        self.state.guards.lists_without_effect.contains(&list_print(contents))
    }
}

fn read_and_answered(counts: &Counts) -> (u32, u32) {
    let count = |of: usize| u32::try_from(of).unwrap_or(u32::MAX);
    (count(counts.total.saturating_sub(counts.unread)), count(counts.answered))
}

/// Fingerprint of a todo list by its texts.
fn list_print<'a>(contents: impl Iterator<Item = &'a str>) -> u32 {
    fingerprint::of_text(&contents.map(str::trim).collect::<Vec<_>>().join("\n"))
}

//! The effects of a phase, counted from the products of tools and never from the model's statements: the evidence for
//! closing todos, and the bound of the outer loop.
//!
//! An *effect* is a requirement recorded, changed, withdrawn or judged, a write to the graph, a passage newly read or
//! answered, a document extracted, or a path that has content for the first time. Plans and notes are not effects,
//! because a looping model writes them as well. Effort is not an effect either: a call without such a result does not
//! count.

use crate::{
    FileWrite, Guards, Opening, PhaseKind, Product, Stage, State, ToolCall,
    guardrail::{
        fingerprint,
        loop_detection::{self, is_record},
        rework::{News, Rework},
    },
    is_placeholder,
    ledger::{Counts, Ledger},
    run::{Workspace, is_default},
    tools::parsed_call::ParsedCall,
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
    #[serde(skip_serializing_if = "is_default")]
    pub effects: u32,
    /// Other evidence for todos: texts shown for the first time, and in strategic phases new versions of the planning
    /// files.
    #[serde(skip_serializing_if = "is_default")]
    pub evidence: u32,
    /// Passages already read when the phase began, including answered ones.
    #[serde(skip_serializing_if = "is_default")]
    pub read_before: u32,
    /// Passages already answered when the phase began.
    #[serde(skip_serializing_if = "is_default")]
    pub answered_before: u32,
    /// Todos that the model closed.
    #[serde(skip_serializing_if = "is_default")]
    pub closed: u32,
    /// The answer (`seq` of its message) in which a closing was refused for lack of evidence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub asked_for: Option<i64>,
    /// How far it has come, and the turns since.
    #[serde(skip_serializing_if = "is_default")]
    pub rework: Rework,
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

impl PhaseEffects {
    /// The counts at the beginning of a phase.
    pub(crate) fn begin(ledger: &Ledger, opening: Opening) -> Self {
        let (read_before, answered_before) = read_and_answered(&ledger.counts());
        // Such a phase opens with a new text: the user's feedback, or why the last phase failed.
        let is_told = matches!(opening, Opening::Feedback | Opening::Rewound);
        Self { read_before, answered_before, evidence: u32::from(is_told), ..Self::default() }
    }

    /// Effects of the phase so far.
    pub(crate) fn so_far(&self, ledger: &Ledger) -> u32 {
        let (read, answered) = read_and_answered(&ledger.counts());
        self.effects + read.saturating_sub(self.read_before) + answered.saturating_sub(self.answered_before)
    }

    /// The results of the phase so far that are evidence for todos.
    pub(crate) fn evidence_so_far(&self, ledger: &Ledger) -> u32 {
        self.so_far(ledger) + self.evidence
    }

    /// Whether closing one more todo would make more closed todos than results in this phase. A final review needs no
    /// evidence: the completion gate judges the work.
    pub(crate) fn lacks_evidence(&self, ledger: &Ledger, opening: Opening) -> bool {
        opening != Opening::Final && self.evidence_so_far(ledger) <= self.closed
    }
}

impl State {
    /// Counts a product, before it is applied to the workspace.
    pub(crate) fn note(&mut self, product: &Product, workspace: &Workspace) {
        self.work.take(product);
        if loop_detection::is_result(product) {
            self.guards.compactions_of_todo = 0;
        }
        // Products of the system or the user are no effects.
        if matches!(self.stage, Stage::Tools { .. }) {
            self.note_effect(product, workspace);
        }
        self.judged.take(product);
        self.given.take(product);
        if let Some(path) = product.path() {
            self.guards.invalidate_reads(path);
        }
    }

    fn note_effect(&mut self, product: &Product, workspace: &Workspace) {
        let is_effect = match product {
            Product::AddRequirement(_) | Product::ChangeRequirement(_) | Product::JudgeRequirement(_) => true,
            // Extracting it again is not an effect.
            Product::AddSource(source) => source.text_path.is_some() && !workspace.sources().contains(source),
            Product::WriteFile(FileWrite { path, content }) => {
                !is_placeholder(content) && self.seen.is_first(path, workspace)
            }
            Product::AppendFile { path, text } => {
                !is_placeholder(text.as_bytes()) && self.seen.is_first(path, workspace)
            }
            Product::DeleteFile { path } => {
                if workspace.has_content(path) {
                    remember(&mut self.seen.deleted, fingerprint::of_text(path), REMEMBERED_DELETED);
                }
                false
            }
            Product::AddCitation(_)
            | Product::ShareFiles(_)
            | Product::CutDocument(_)
            | Product::DecidePassage(_)
            | Product::DeliverQuotes(_) => false,
        };
        self.effects.effects += u32::from(is_effect);
        let is_new = self.seen.is_new_version(product, workspace);
        self.note_rework(product, is_effect, is_new);
        let plans = product.path().is_some_and(|path| PLANNING.contains(&path));
        if is_new && plans && self.phase.kind == PhaseKind::Strategic {
            self.effects.evidence += 1;
        }
        if is_new && loop_detection::is_result(product) {
            self.guards.phase_has_results = true;
        }
    }

    /// For the bound on rework. What is recorded counts by what it adds in the ledger.
    fn note_rework(&mut self, product: &Product, is_effect: bool, is_new: bool) {
        let rework = &mut self.effects.rework;
        match product {
            Product::AddRequirement(_) => {}
            Product::ChangeRequirement(_) => rework.changes += 1,
            Product::AddCitation(_) => rework.gains += u32::from(is_new),
            Product::WriteFile(FileWrite { path, .. }) | Product::AppendFile { path, .. } => {
                if is_new && !is_record(path) && !is_note(path) {
                    rework.news = rework.news.max(News::Own);
                }
                rework.gains += u32::from(is_effect);
            }
            _ => rework.gains += u32::from(is_effect),
        }
    }

    /// A query that requested write access to the graph and was not refused: its writes leave no row here. The same
    /// query again is not an effect.
    fn note_query(&mut self, parsed: &ParsedCall) {
        let writes = parsed.fields.get("allow_write").and_then(Value::as_bool) == Some(true);
        if writes && remember(&mut self.seen.versions, parsed.print, REMEMBERED_VERSIONS) {
            self.effects.effects += 1;
            self.effects.rework.gains += 1;
            self.guards.phase_has_results = true;
        }
    }

    /// A call without a product: a text shown for the first time is evidence; a part of a document is also a result of
    /// the phase.
    pub(crate) fn note_shown(&mut self, call: &ToolCall, parsed: &ParsedCall, content: &str, is_of_document: bool) {
        self.note_query(parsed);
        // A list of names is not a text.
        if matches!(call.name.as_str(), "list_files" | "create_folder") {
            return;
        }
        if !remember(&mut self.seen.texts, fingerprint::of_text(content), REMEMBERED_TEXTS) {
            return;
        }
        self.effects.evidence += 1;
        let news = &mut self.effects.rework.news;
        *news = News::of(&call.name).max(*news);
        if is_of_document {
            (self.guards.phase_has_results, self.guards.compactions_of_todo) = (true, 0);
        }
    }
}

impl Seen {
    /// Whether a file of the model's work gets content at a path that never had any.
    fn is_first(&self, path: &str, workspace: &Workspace) -> bool {
        let deleted = || self.deleted.contains(&fingerprint::of_text(path));
        !is_note(path) && !is_record(path) && !workspace.has_content(path) && !deleted()
    }

    /// Whether bytes are new among the versions of their path; other products are always new, except a known quote.
    fn is_new_version(&mut self, product: &Product, workspace: &Workspace) -> bool {
        let print = match product {
            Product::WriteFile(file) => fingerprint::of_parts(&[file.path.as_bytes(), &file.content]),
            Product::AppendFile { path, text } => {
                let before = workspace.files().get(path).map_or(0, |facts| facts.size);
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
        remember(&mut self.versions, print, REMEMBERED_VERSIONS)
    }
}

impl Guards {
    /// Counts a phase of work that was completed without an effect, with the fingerprint of its todos.
    pub(super) fn note_phase_without_effect(&mut self, list: u32) {
        self.phases_without_effect += 1;
        remember(&mut self.lists_without_effect, list, REMEMBERED_LISTS);
    }

    /// Why the job is stuck, if it had more phases without an effect than its plan can explain. Then the count restarts,
    /// because a person has looked at the job.
    pub(crate) fn is_stuck(&mut self) -> Option<String> {
        let planned = self.planned_by_effect;
        let most = u32::try_from(planned).unwrap_or(0) + MORE_THAN_PLANNED;
        let count = self.phases_without_effect;
        if count <= most {
            return None;
        }
        self.phases_without_effect = 0;
        Some(format!(
            "the job is stuck: {count} tactical phases came to their end without an effect, and its plan had {planned} phases, \
             not counting what was added to it since the last effect: no requirement was recorded or judged in them, no passage \
             read or answered, and no new file but notes written"
        ))
    }

    /// Whether a list is identical to that of a phase without an effect.
    pub(crate) fn had_no_effect<'a>(&self, contents: impl Iterator<Item = &'a str>) -> bool {
        self.lists_without_effect.contains(&fingerprint::of_list(contents))
    }
}

/// Whether a file holds the plan or notes, which a looping model writes as well.
fn is_note(path: &str) -> bool {
    matches!(path, "workspace.md" | "main_plan.md") || path.starts_with("notes")
}

fn read_and_answered(counts: &Counts) -> (u32, u32) {
    let count = |of: usize| u32::try_from(of).unwrap_or(u32::MAX);
    (count(counts.total.saturating_sub(counts.unread)), count(counts.answered))
}

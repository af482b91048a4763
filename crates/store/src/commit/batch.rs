//! A step's changes, sorted by the statement that writes them.
//!
//! Statements write sets, and parts of one statement do not see each other; so whatever touches the same row twice in
//! one step is folded here: a phase opened and closed, a list put and then moved in, a result appended and cleared.

use super::{Commit, workspace::FileChange};
use plumbline_engine::{
    Change, Citation, Judgement, Leave, Message, MessageKind, PhaseKind, PhaseOutcome, Product, RequestRecord,
    Requirement, Role, SharedFiles, Source, Todo, TodoStatus,
};
use serde::Serialize;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};
use uuid::Uuid;

/// Everything a step writes besides the job's row and the checkpoint.
#[derive(Default)]
pub(super) struct Batch<'a> {
    pub(super) messages: Vec<MessageRow<'a>>,
    pub(super) cleared: Vec<i64>,
    pub(super) requests: Vec<RequestRow<'a>>,
    pub(super) feedback_taken: Vec<i64>,
    pub(super) opened: Vec<OpenedPhase<'a>>,
    pub(super) closed: Vec<ClosedPhase>,
    pub(super) lists: BTreeMap<i32, Vec<Todo>>,
    pub(super) moved: Vec<MovedTodo<'a>>,
    pub(super) files: Vec<FileChange<'a>>,
    pub(super) shared: Option<&'a SharedFiles>,
    pub(super) sources: BTreeMap<&'a str, &'a Source>,
    pub(super) citations: Vec<&'a Citation>,
    pub(super) requirements: Vec<RequirementRow<'a>>,
    pub(super) judgements: BTreeMap<Uuid, &'a Judgement>,
    pub(super) left: Option<&'a Leave>,
}

/// A row of `messages`; its long columns, text and calls, are taken from the message itself.
#[derive(Serialize)]
pub(super) struct MessageRow<'a> {
    seq: i64,
    phase_number: i32,
    role: Role,
    kind: MessageKind,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_call_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    extra: Option<&'a Map<String, Value>>,
    tokens: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    cleared_step: Option<i64>,
    #[serde(skip)]
    pub(super) message: &'a Message,
}

/// A row of `llm_requests`.
#[derive(Serialize)]
pub(super) struct RequestRow<'a> {
    pub(super) id: Uuid,
    #[serde(flatten)]
    pub(super) record: &'a RequestRecord,
}

/// A row of `phases`; with its outcome if it ends in the step that opens it.
#[derive(Serialize)]
pub(super) struct OpenedPhase<'a> {
    number: i32,
    kind: PhaseKind,
    name: &'a str,
    outcome: Option<PhaseOutcome>,
}

/// The end of a phase that an earlier step opened.
#[derive(Serialize)]
pub(super) struct ClosedPhase {
    number: i32,
    outcome: PhaseOutcome,
}

/// A todo's new status.
pub(super) struct MovedTodo<'a> {
    pub(super) phase_number: i32,
    pub(super) position: i32,
    pub(super) status: TodoStatus,
    pub(super) notes: Option<&'a str>,
}

/// A row of `requirement_cache`.
#[derive(Serialize)]
pub(super) struct RequirementRow<'a> {
    id: Uuid,
    content_key_hex: String,
    #[serde(flatten)]
    requirement: &'a Requirement,
}

impl<'a> MessageRow<'a> {
    fn of(message: &'a Message, phase_number: i32, step: i64) -> Self {
        Self {
            seq: message.seq,
            phase_number,
            role: message.role,
            kind: message.kind,
            tool_call_id: message.tool_call_id.as_deref(),
            extra: (!message.extra.is_empty()).then_some(&message.extra),
            tokens: message.tokens,
            cleared_step: message.cleared.then_some(step),
            message,
        }
    }
}

impl<'a> Batch<'a> {
    /// Sorts and folds the changes of a commit.
    pub(super) fn of(commit: &Commit<'a>) -> Self {
        let mut batch = Self::default();
        let mut phase_number = first_phase(commit);
        let step = commit.expected_step + 1;
        for change in commit.changes {
            match change {
                Change::Message(message) => batch.messages.push(MessageRow::of(message, phase_number, step)),
                Change::ResultsCleared(seqs) => batch.clear(seqs, step),
                Change::PhaseOpened { number, kind, name } => {
                    phase_number = *number;
                    batch.opened.push(OpenedPhase { number: *number, kind: *kind, name, outcome: None });
                }
                Change::PhaseClosed { number, outcome } => batch.close_phase(*number, *outcome),
                Change::TodosPut { phase_number, todos } => {
                    batch.moved.retain(|moved| moved.phase_number != *phase_number);
                    batch.lists.insert(*phase_number, todos.clone());
                }
                Change::TodoMoved { phase_number, position, status, notes } => {
                    batch.move_todo(*phase_number, *position, *status, notes.as_deref());
                }
                Change::Product(product) => batch.product(product),
                Change::Request(record) => batch.requests.push(RequestRow { id: Uuid::now_v7(), record }),
                Change::FeedbackTaken(ids) => batch.feedback_taken.extend(ids),
                Change::Left(leave) => batch.left = Some(leave),
            }
        }
        batch
    }

    fn clear(&mut self, seqs: &[i64], step: i64) {
        let mut seqs: BTreeSet<i64> = seqs.iter().copied().collect();
        for row in &mut self.messages {
            if seqs.remove(&row.seq) {
                row.cleared_step = Some(step);
            }
        }
        self.cleared.extend(seqs);
    }

    fn close_phase(&mut self, number: i32, outcome: PhaseOutcome) {
        match self.opened.iter_mut().find(|opened| opened.number == number) {
            Some(opened) => opened.outcome = Some(outcome),
            None => self.closed.push(ClosedPhase { number, outcome }),
        }
    }

    fn move_todo(&mut self, phase_number: i32, position: i32, status: TodoStatus, notes: Option<&'a str>) {
        if let Some(list) = self.lists.get_mut(&phase_number) {
            if let Some(todo) = list.iter_mut().find(|todo| todo.position == position) {
                todo.status = status;
                todo.notes = notes.map(str::to_owned).or(todo.notes.take());
            }
            return;
        }
        let same = |moved: &&mut MovedTodo<'_>| moved.phase_number == phase_number && moved.position == position;
        match self.moved.iter_mut().find(same) {
            Some(moved) => {
                moved.status = status;
                moved.notes = notes.or(moved.notes);
            }
            None => self.moved.push(MovedTodo { phase_number, position, status, notes }),
        }
    }

    fn product(&mut self, product: &'a Product) {
        match product {
            Product::WriteFile(file) => {
                self.files.push(FileChange::Write { path: &file.path, content: &file.content });
            }
            Product::PlaceFile(file) => self.files.push(FileChange::Place(file)),
            Product::ShareFiles(shared) => self.shared = Some(shared),
            Product::AppendFile { path, text } => self.files.push(FileChange::Append { path, text }),
            Product::DeleteFile { path } => self.files.push(FileChange::Delete { path }),
            // One statement must not update a row twice: the last word on a document counts.
            Product::AddSource(source) => drop(self.sources.insert(&source.path, source)),
            Product::AddCitation(citation) => self.citations.push(citation),
            Product::AddRequirement(requirement) => self.requirements.push(RequirementRow {
                id: Uuid::now_v7(),
                content_key_hex: hex(&requirement.content_key),
                requirement,
            }),
            // The same row judged twice in one step: the last word counts.
            Product::JudgeRequirement(judgement) => drop(self.judgements.insert(judgement.id, judgement)),
        }
    }
}

/// The phase that messages belong to before the first phase of this step opens: phases are counted without gaps.
fn first_phase(commit: &Commit<'_>) -> i32 {
    commit
        .changes
        .iter()
        .find_map(|change| if let Change::PhaseOpened { number, .. } = change { Some(number - 1) } else { None })
        .unwrap_or(commit.state.phase.number)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

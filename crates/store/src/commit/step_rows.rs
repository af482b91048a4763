//! The rows of nearly every step, as the documents for `commit_steps.sql`.
//!
//! Statements write sets, and parts of one statement do not see each other; so two changes of the same row in one step
//! are folded here: a phase opened and closed, a list written and then updated, a result appended and cleared.

use super::{
    Commit,
    file_versions::FileChange,
    rare_rows::{RareRows, TodoPlace},
};
use plumbline_engine::{Change, Message, Product, Progress, RequestRecord, TodoStatus};
use serde::Serialize;
use std::collections::BTreeSet;
use uuid::Uuid;

/// The rows of a step: its job's columns, and what is new in the tables. Its members are the columns of `json_to_record`
/// in the statement.
#[derive(Serialize)]
pub(super) struct StepRows<'a> {
    job_id: Uuid,
    lease_epoch: i64,
    expected_step: i64,
    #[serde(flatten)]
    progress: &'a Progress,
    total_requests: i64,
    total_tokens_used: i64,
    cached_tokens: i64,
    cost_microusd: i64,
    /// The number of feedback rows that the step has taken in.
    feedback_read: usize,
    requests: Vec<RequestRow<'a>>,
    todo_moves: Vec<TodoMove<'a>>,
    /// In a document of their own.
    #[serde(skip)]
    pub(super) messages: Vec<MessageRow<'a>>,
    /// Files are sent beside the document, as bytes.
    #[serde(skip)]
    pub(super) files: Vec<FileChange<'a>>,
    /// The rare rows, in their own document.
    #[serde(skip)]
    pub(super) rare: RareRows<'a>,
}

/// A row of `messages`.
#[derive(Serialize)]
pub(super) struct MessageRow<'a> {
    phase_number: i32,
    #[serde(flatten)]
    message: &'a Message,
    #[serde(skip_serializing_if = "Option::is_none")]
    cleared_step: Option<i64>,
}

/// A row of `llm_requests`.
#[derive(Serialize)]
struct RequestRow<'a> {
    id: Uuid,
    #[serde(flatten)]
    record: &'a RequestRecord,
}

/// A todo's new status.
#[derive(Serialize)]
struct TodoMove<'a> {
    phase_number: i32,
    position: i32,
    status: TodoStatus,
    notes: Option<&'a str>,
}

impl<'a> StepRows<'a> {
    /// Sorts and folds the changes of a commit.
    pub(super) fn of(commit: &Commit<'a>) -> Self {
        let mut rows = Self::without_changes(commit);
        let mut phase_number = first_phase(commit);
        let step = commit.expected_step + 1;
        for change in commit.changes {
            match change {
                Change::Message(message) => {
                    let cleared_step = message.cleared.then_some(step);
                    rows.messages.push(MessageRow { phase_number, message, cleared_step });
                }
                Change::ResultsCleared(seqs) => rows.clear(seqs, step),
                Change::PhaseOpened { number, kind, name } => {
                    phase_number = *number;
                    rows.rare.phases.open(*number, *kind, name);
                }
                Change::PhaseClosed { number, outcome } => rows.rare.phases.close(*number, *outcome),
                Change::TodosPut { phase_number, todos } => {
                    rows.todo_moves.retain(|moved| moved.phase_number != *phase_number);
                    rows.rare.phases.put_todos(*phase_number, todos);
                }
                Change::TodoMoved { phase_number, position, status, notes } => {
                    rows.move_todo(*phase_number, *position, *status, notes.as_deref());
                }
                Change::TodoUnevidenced { phase_number, position } => {
                    rows.rare.unevidenced_todos.push(TodoPlace { phase_number: *phase_number, position: *position });
                }
                Change::PassagesPut(passages) => rows.rare.put_passages(passages),
                Change::PassagesDropped(numbers) => rows.rare.drop_passages(numbers),
                Change::Product(product) => rows.product(product),
                Change::Request(record) => rows.requests.push(RequestRow { id: Uuid::now_v7(), record }),
                Change::FeedbackTaken(ids) => rows.rare.feedback_read.extend(ids),
                Change::Approval(change) => rows.rare.approvals.push(change),
                Change::Exited(leave) => rows.rare.exit = Some(leave),
            }
        }
        rows.feedback_read = rows.rare.feedback_read.len();
        rows
    }

    /// The columns of the job's row and the checkpoint.
    fn without_changes(commit: &Commit<'a>) -> Self {
        let totals = &commit.state.totals;
        Self {
            job_id: commit.lease.job_id,
            lease_epoch: commit.lease.epoch,
            expected_step: commit.expected_step,
            progress: commit.progress,
            total_requests: totals.requests,
            total_tokens_used: totals.tokens,
            cached_tokens: totals.cached_tokens,
            cost_microusd: totals.cost_microusd,
            feedback_read: 0,
            requests: Vec::new(),
            todo_moves: Vec::new(),
            messages: Vec::new(),
            files: Vec::new(),
            rare: RareRows::without_changes(commit),
        }
    }

    fn clear(&mut self, seqs: &[i64], step: i64) {
        let mut seqs: BTreeSet<i64> = seqs.iter().copied().collect();
        for row in &mut self.messages {
            if seqs.remove(&row.message.seq) {
                row.cleared_step = Some(step);
            }
        }
        self.rare.cleared_results.extend(seqs);
    }

    fn move_todo(&mut self, phase_number: i32, position: i32, status: TodoStatus, notes: Option<&'a str>) {
        if self.rare.phases.move_todo(phase_number, position, status, notes) {
            return;
        }
        let same = |moved: &&mut TodoMove<'_>| moved.phase_number == phase_number && moved.position == position;
        match self.todo_moves.iter_mut().find(same) {
            Some(moved) => {
                moved.status = status;
                moved.notes = notes.or(moved.notes);
            }
            None => self.todo_moves.push(TodoMove { phase_number, position, status, notes }),
        }
    }

    fn product(&mut self, product: &'a Product) {
        match product {
            Product::WriteFile(file) => {
                self.files.push(FileChange::Write { path: &file.path, content: &file.content });
            }
            Product::AppendFile { path, text } => self.files.push(FileChange::Append { path, text }),
            Product::DeleteFile { path } => self.files.push(FileChange::Delete { path }),
            Product::ShareFiles(shared) => self.rare.share(shared),
            Product::AddSource(source) => self.rare.add_source(source),
            // Its consequences are rows of the ledger.
            Product::CutDocument(_) => {}
            Product::AddCitation(citation) => self.rare.citations.push(citation),
            Product::AddRequirement(requirement) => self.rare.add_requirement(requirement),
            Product::ChangeRequirement(change) => self.rare.requirement_changes.push(change),
            Product::JudgeRequirement(judgement) => self.rare.judge(judgement),
            // The ledger has decided it; the consequences are rows of passages.
            Product::DecidePassage(_) | Product::DeliverQuotes(_) => {}
        }
    }
}

/// The phase of messages before the first phase that this step opens: phase numbers have no gaps.
fn first_phase(commit: &Commit<'_>) -> i32 {
    commit
        .changes
        .iter()
        .find_map(|change| if let Change::PhaseOpened { number, .. } = change { Some(number - 1) } else { None })
        .unwrap_or(commit.state.phase.number)
}

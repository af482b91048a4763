//! One job's rows in memory: applies the engine's changes like the store, without a database. Used by replay for a
//! recording, and by tests of the engine for a whole job.
//!
//! A step's files and todo lists are folded before they are written, as in the store: a step writes no row twice.

use crate::ledger::beginning_at;
use crate::{
    Approval, ApprovalChange, ApprovalState, Change, Citation, Feedback, FileIndex, FileMeta, JobInfo, Message,
    Passage, PhaseKind, PhaseOutcome, Product, RecordedRequirement, Requirement, Snapshot, Source, StandingRequirement,
    State, Todo, Totals, WorkspaceMemory, apply_requirement_changes,
};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The changes of a step to files: their content, or none if they are deleted.
pub type FileChanges = BTreeMap<String, Option<Vec<u8>>>;

/// A row of `phases`.
#[derive(Clone, Debug)]
pub struct PhaseRow {
    /// Strategic or tactical.
    pub kind: PhaseKind,
    /// Its name.
    pub name: String,
    /// How it ended; none while it is open.
    pub outcome: Option<PhaseOutcome>,
}

/// The rows of a job, after a step.
#[derive(Clone, Debug, Default)]
pub struct JobRows {
    /// The job, with the number of its last step.
    pub job: JobInfo,
    /// The last checkpoint; none before the first step.
    pub state: Option<State>,
    /// The conversation.
    pub messages: Vec<Message>,
    /// Phases by their numbers.
    pub phases: BTreeMap<i32, PhaseRow>,
    /// Todo lists by the numbers of their phases.
    pub todos: BTreeMap<i32, Vec<Todo>>,
    /// Phase and position of todos that were closed without evidence.
    pub unevidenced: BTreeSet<(i32, i32)>,
    /// The workspace: contents by paths.
    pub files: BTreeMap<String, Vec<u8>>,
    /// The documents, by path.
    pub sources: Vec<Source>,
    /// Their passages.
    pub passages: BTreeMap<i32, Passage>,
    /// Citations by their ids.
    pub citations: HashMap<String, Citation>,
    /// The approvals requested from people, in order of the requests.
    pub approvals: Vec<Approval>,
    /// Seconds that the job has waited for people.
    pub waited_s: i64,
    /// The step from which on it held untrusted text, if not from its own requests.
    pub untrusted_step: Option<i64>,
    /// Requirements in the order in which they were recorded, including withdrawn ones.
    pub recorded: Vec<RecordedRequirement>,
    /// The steps that wrote the quotes of requirements, by their ids.
    placed: HashMap<String, i64>,
    index: FileIndex,
}

impl JobRows {
    /// A job before its first step.
    pub fn new(job: JobInfo) -> Self {
        Self { job: JobInfo { step: 0, ..job }, ..Self::default() }
    }

    /// What a worker would load: of the messages, only those of the checkpoint's context.
    pub fn snapshot(&self, feedback: Vec<Feedback>, new_claim: bool) -> Snapshot {
        let number = self.state.as_ref().map_or(0, |state| state.phase.number);
        Snapshot {
            job: self.job.clone(),
            state: self.state.clone(),
            first_totals: Totals::default(),
            messages: self.messages.iter().filter(|message| self.is_in_context(message)).cloned().collect(),
            todos: self.list(number).to_vec(),
            staged_todos: self.list(number + 1).to_vec(),
            files: self.index.clone(),
            memory: self.memory(),
            sources: self.sources.clone(),
            passages: self.passages.values().cloned().collect(),
            standing: self.standing(),
            last_number: self.next_number() - 1,
            feedback,
            approvals: self.approvals.clone(),
            waited_s: self.waited_s,
            untrusted_step: self.untrusted_step,
            new_claim,
        }
    }

    /// The number of the next requirement.
    pub fn next_number(&self) -> i32 {
        self.recorded.iter().filter_map(|known| known.requirement.number).max().unwrap_or(0) + 1
    }

    /// The `req_` ids of the active requirements whose first quote begins at this sentence of this passage.
    pub fn requirements_at(&self, passage: i32, sentence: i32) -> Vec<String> {
        let there = beginning_at(self.standing(), &self.passages, (passage, sentence));
        there.into_iter().map(|standing| standing.candidate_id).collect()
    }

    fn standing(&self) -> Vec<StandingRequirement> {
        let standing = self.recorded.iter().filter(|known| !known.is_withdrawn());
        let of = |requirement: &Requirement| {
            let placed = self.placed.get(&requirement.candidate_id).copied().unwrap_or_default();
            Some(StandingRequirement::of(requirement, requirement.number?, placed))
        };
        standing.filter_map(|known| of(&known.requirement)).collect()
    }

    fn is_in_context(&self, message: &Message) -> bool {
        self.state.as_ref().is_some_and(|state| {
            let context = &state.context;
            let head = [Some(context.system_seq), context.summary_seq];
            message.seq >= context.tail_from || head.contains(&Some(message.seq)) || context.kept.contains(&message.seq)
        })
    }

    fn memory(&self) -> WorkspaceMemory {
        let mut memory = WorkspaceMemory::default();
        for path in WorkspaceMemory::PATHS {
            if let (Some(content), Some(text)) = (self.files.get(path), memory.get_mut(path)) {
                *text = String::from_utf8_lossy(content).into_owned();
            }
        }
        memory
    }

    /// The workspace's index, as the engine has it.
    pub fn index(&self) -> &FileIndex {
        &self.index
    }

    /// A file's content.
    pub fn file(&self, path: &str) -> Option<&[u8]> {
        self.files.get(path).map(Vec::as_slice)
    }

    /// A phase's todos.
    pub fn list(&self, phase_number: i32) -> &[Todo] {
        self.todos.get(&phase_number).map(Vec::as_slice).unwrap_or_default()
    }

    /// The effect of changes on the files that they touch; unchanged files are omitted.
    pub fn file_changes(&self, changes: &[Change]) -> FileChanges {
        let mut after = FileChanges::new();
        for product in changes.iter().filter_map(Change::product) {
            self.apply_file_changes(product, &mut after);
        }
        after.retain(|path, content| self.file(path) != content.as_deref());
        after
    }

    fn apply_file_changes(&self, product: &Product, after: &mut FileChanges) {
        match product {
            Product::WriteFile(file) => {
                after.insert(file.path.clone(), Some(file.content.clone()));
            }
            Product::ShareFiles(shared) => {
                after.extend(shared.files.iter().map(|file| (file.path.clone(), Some(file.content.to_vec()))));
            }
            Product::AppendFile { path, text } => {
                let stored = || self.file(path).map(<[u8]>::to_vec);
                let content = after.entry(path.clone()).or_insert_with(stored);
                content.get_or_insert_default().extend_from_slice(text.as_bytes());
            }
            Product::DeleteFile { path } => {
                after.insert(path.clone(), None);
            }
            Product::AddSource(_)
            | Product::CutDocument(_)
            | Product::AddCitation(_)
            | Product::AddRequirement(_)
            | Product::DecidePassage(_)
            | Product::DeliverQuotes(_)
            | Product::ChangeRequirement(_)
            | Product::JudgeRequirement(_) => {}
        }
    }

    /// The lists that changes touch, after the changes.
    pub fn lists_after(&self, changes: &[Change]) -> BTreeMap<i32, Vec<Todo>> {
        let mut lists = BTreeMap::new();
        for change in changes {
            match change {
                Change::TodosPut { phase_number, todos } => {
                    lists.insert(*phase_number, todos.clone());
                }
                Change::TodoMoved { phase_number, position, status, notes } => {
                    let list = lists.entry(*phase_number).or_insert_with(|| self.list(*phase_number).to_vec());
                    if let Some(todo) = list.iter_mut().find(|todo| todo.position == *position) {
                        todo.status = *status;
                        todo.notes = notes.clone().or(todo.notes.take());
                    }
                }
                _ => {}
            }
        }
        lists
    }

    /// Applies one step's transaction.
    pub fn commit(&mut self, step: i64, changes: &[Change], state: &State) {
        self.todos.append(&mut self.lists_after(changes));
        self.job.step = step;
        self.apply_changes(changes);
        self.state = Some(state.clone());
    }

    /// Applies the products of a call to the rows, for the calls after it.
    pub fn apply_products(&mut self, products: &[Product]) {
        let changes: Vec<Change> = products.iter().cloned().map(Change::Product).collect();
        self.apply_changes(&changes);
    }

    fn apply_changes(&mut self, changes: &[Change]) {
        for (path, content) in self.file_changes(changes) {
            self.put_file(path, content);
        }
        changes.iter().for_each(|change| self.write(change));
    }

    fn put_file(&mut self, path: String, content: Option<Vec<u8>>) {
        match content {
            Some(content) => {
                self.index.insert(path.clone(), FileMeta::of(&content));
                self.files.insert(path, content);
            }
            None => {
                self.index.remove(&path);
                self.files.remove(&path);
            }
        }
    }

    /// Everything except files and todos, which are folded first, and data that no other step reads.
    fn write(&mut self, change: &Change) {
        match change {
            Change::Message(message) => self.messages.push(message.clone()),
            Change::ResultsCleared(seqs) => {
                let cleared = self.messages.iter_mut().filter(|message| seqs.contains(&message.seq));
                cleared.for_each(|message| message.cleared = true);
            }
            Change::PhaseOpened { number, kind, name } => {
                self.phases.insert(*number, PhaseRow { kind: *kind, name: name.clone(), outcome: None });
            }
            Change::PhaseClosed { number, outcome } => {
                if let Some(phase) = self.phases.get_mut(number) {
                    phase.outcome = Some(*outcome);
                }
            }
            Change::TodoUnevidenced { phase_number, position } => {
                self.unevidenced.insert((*phase_number, *position));
            }
            Change::Product(product) => self.write_product(product),
            Change::PassagesPut(passages) => {
                self.passages.extend(passages.iter().map(|passage| (passage.number, passage.clone())));
            }
            Change::PassagesDropped(numbers) => self.passages.retain(|number, _| !numbers.contains(number)),
            Change::Approval(change) => self.write_approval(change),
            Change::TodosPut { .. }
            | Change::TodoMoved { .. }
            | Change::Request(_)
            | Change::FeedbackTaken(_)
            | Change::Exited(_) => {}
        }
    }

    fn write_approval(&mut self, change: &ApprovalChange) {
        match change {
            ApprovalChange::Asked { calls, .. } => {
                for call in calls {
                    self.set_approval(&call.call_id, ApprovalState::Approved, ApprovalState::Void);
                    self.approvals.push(Approval {
                        call_id: call.call_id.clone(),
                        tool: call.tool.clone(),
                        tool_sha256: call.tool_sha256,
                        arguments_sha256: call.arguments_sha256,
                        state: ApprovalState::Pending,
                        edited: None,
                        reason: call.reason.clone(),
                        decided_by: None,
                    });
                }
            }
            ApprovalChange::Executed { call_id, .. } => {
                self.set_approval(call_id, ApprovalState::Approved, ApprovalState::Executed);
            }
            ApprovalChange::Closed { call_id, .. } => {
                self.set_approval(call_id, ApprovalState::Approved, ApprovalState::Void);
            }
            // It has an outcome: the row is not needed any more.
            ApprovalChange::Answered { call_id, .. } => self.approvals.retain(|row| row.call_id != *call_id),
        }
    }

    fn set_approval(&mut self, call_id: &str, from: ApprovalState, to: ApprovalState) {
        let of_call = self.approvals.iter_mut().filter(|row| row.call_id == call_id && row.state == from);
        of_call.for_each(|row| row.state = to);
    }

    fn write_product(&mut self, product: &Product) {
        match product {
            Product::AddSource(source) => {
                self.sources.retain(|known| known.path != source.path);
                self.sources.push(source.clone());
                self.sources.sort_by(|one, other| one.path.cmp(&other.path));
            }
            Product::AddCitation(citation) => {
                self.citations.entry(citation.id.clone()).or_insert_with(|| citation.clone());
            }
            Product::AddRequirement(requirement) => {
                self.placed.insert(requirement.candidate_id.clone(), self.job.step);
                apply_requirement_changes(&mut self.recorded, std::iter::once(product));
            }
            Product::ChangeRequirement(change) => {
                if change.fields.contains_key("citations") {
                    self.placed.insert(change.candidate_id.clone(), self.job.step);
                }
                apply_requirement_changes(&mut self.recorded, std::iter::once(product));
            }
            Product::WriteFile(_)
            | Product::ShareFiles(_)
            | Product::AppendFile { .. }
            | Product::DeleteFile { .. }
            | Product::CutDocument(_)
            | Product::DecidePassage(_)
            | Product::DeliverQuotes(_)
            | Product::JudgeRequirement(_) => {}
        }
    }
}

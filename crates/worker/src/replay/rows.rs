//! The rows of one job in memory: what Postgres is to the worker, as far as a replay needs it.

use super::step::Redone;
use plumbline_effects::tools::{BoxFuture, Workspace, WorkspaceError};
use plumbline_engine::{
    Change, Citation, FileFacts, FileIndex, JobFacts, Memory, Message, PhaseKind, Product, Settings, Snapshot, Source,
    State, Todo,
};
use plumbline_store::{RecordedJob, RecordedStep};
use sha2::{Digest as _, Sha256};
use std::{
    collections::{BTreeMap, HashMap},
    sync::{Arc, Mutex, PoisonError},
};

/// What a step makes of files: their content, or none where they are deleted.
pub(super) type FileChanges = BTreeMap<String, Option<Vec<u8>>>;

/// One job's rows after a step.
#[derive(Clone)]
pub(super) struct Rows {
    job: JobFacts,
    /// The claim that wrote the last step.
    lease_epoch: i64,
    state: Option<State>,
    messages: Vec<Message>,
    /// Kind and name by number.
    phases: BTreeMap<i32, (PhaseKind, String)>,
    todos: BTreeMap<i32, Vec<Todo>>,
    files: BTreeMap<String, Vec<u8>>,
    index: FileIndex,
    sources: Vec<Source>,
    citations: HashMap<String, Citation>,
    /// `candidate_id` by content key.
    requirements: HashMap<Vec<u8>, String>,
    /// What tools that were really run have put aside.
    aside: Arc<Mutex<HashMap<[u8; 32], Vec<u8>>>>,
}

impl Rows {
    /// A job before its first step.
    pub(super) fn new(job: &RecordedJob) -> Self {
        let (id, job_type, prompt) = (job.id, job.job_type.clone(), job.prompt.clone());
        Self {
            job: JobFacts { id, job_type, prompt, step: 0, started_at: job.started_at },
            lease_epoch: 0,
            state: None,
            messages: Vec::new(),
            phases: BTreeMap::new(),
            todos: BTreeMap::new(),
            files: BTreeMap::new(),
            index: FileIndex::new(),
            sources: Vec::new(),
            citations: HashMap::new(),
            requirements: HashMap::new(),
            aside: Arc::default(),
        }
    }

    /// What the store's load would give at the beginning of a step.
    pub(super) fn snapshot(&self, settings: Arc<Settings>, step: &RecordedStep) -> Snapshot {
        let number = self.state.as_ref().map_or(0, |state| state.phase.number);
        let todos = |number: i32| self.todos.get(&number).cloned().unwrap_or_default();
        // Only the first step of a claim can meet calls that were in flight when the claim before was cut off.
        let new_claim = self.lease_epoch != step.lease_epoch;
        Snapshot {
            job: self.job.clone(),
            settings,
            state: self.state.clone(),
            messages: self.messages.iter().filter(|message| self.is_in_context(message)).cloned().collect(),
            todos: todos(number),
            staged_todos: todos(number + 1),
            files: self.index.clone(),
            memory: self.memory(),
            sources: self.sources.clone(),
            requirements: i64::try_from(self.requirements.len()).unwrap_or(i64::MAX),
            feedback: step.feedback.clone(),
            interrupted: new_claim && step.interrupted,
        }
    }

    fn is_in_context(&self, message: &Message) -> bool {
        self.state.as_ref().is_some_and(|state| {
            let context = &state.context;
            let head = [Some(context.system_seq), context.summary_seq];
            message.seq >= context.tail_from || head.contains(&Some(message.seq)) || context.kept.contains(&message.seq)
        })
    }

    fn memory(&self) -> Memory {
        let mut memory = Memory::default();
        for path in Memory::PATHS {
            if let (Some(content), Some(text)) = (self.files.get(path), memory.get_mut(path)) {
                *text = String::from_utf8_lossy(content).into_owned();
            }
        }
        memory
    }

    /// A file's content.
    pub(super) fn file(&self, path: &str) -> Option<&[u8]> {
        self.files.get(path).map(Vec::as_slice)
    }

    /// Kind and name of a phase.
    pub(super) fn phase(&self, number: i32) -> Option<(PhaseKind, &str)> {
        self.phases.get(&number).map(|(kind, name)| (*kind, name.as_str()))
    }

    /// A phase's list as it stands.
    pub(super) fn list(&self, phase_number: i32) -> &[Todo] {
        self.todos.get(&phase_number).map(Vec::as_slice).unwrap_or_default()
    }

    /// What changes make of the files they touch; what stays the same is left out.
    pub(super) fn file_changes(&self, changes: &[Change]) -> FileChanges {
        let mut after = FileChanges::new();
        for change in changes {
            match change {
                Change::Product(Product::WriteFile(file)) => {
                    after.insert(file.path.clone(), Some(file.content.clone()));
                }
                Change::Product(Product::PlaceFile(file)) => {
                    let aside = self.aside.lock().unwrap_or_else(PoisonError::into_inner);
                    after.insert(file.path.clone(), aside.get(&file.sha256).cloned());
                }
                Change::Product(Product::ShareFiles(shared)) => {
                    let files = shared.files.iter().map(|file| (file.path.clone(), Some(file.content.to_vec())));
                    after.extend(files);
                }
                Change::Product(Product::AppendFile { path, text }) => {
                    let stored = || self.file(path).map(<[u8]>::to_vec);
                    let content = after.entry(path.clone()).or_insert_with(stored);
                    content.get_or_insert_default().extend_from_slice(text.as_bytes());
                }
                Change::Product(Product::DeleteFile { path }) => {
                    after.insert(path.clone(), None);
                }
                _ => {}
            }
        }
        after.retain(|path, content| self.file(path) != content.as_deref());
        after
    }

    /// The lists that changes touch, as they leave them.
    pub(super) fn lists_after(&self, changes: &[Change]) -> BTreeMap<i32, Vec<Todo>> {
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

    /// One step's transaction.
    pub(super) fn commit(&mut self, redone: &Redone) {
        let files = self.file_changes(&redone.changes);
        self.todos.append(&mut self.lists_after(&redone.changes));
        for (path, content) in files {
            self.put_file(path, content);
        }
        for change in &redone.changes {
            self.write(change);
        }
        self.job.step = redone.step;
        self.lease_epoch = redone.lease_epoch;
        self.state = Some(redone.state.clone());
    }

    /// Lays what a call produced over the rows, for the calls behind it.
    pub(super) fn lay(&mut self, products: &[Product]) {
        let changes: Vec<Change> = products.iter().cloned().map(Change::Product).collect();
        for (path, content) in self.file_changes(&changes) {
            self.put_file(path, content);
        }
        changes.iter().for_each(|change| self.write(change));
    }

    fn put_file(&mut self, path: String, content: Option<Vec<u8>>) {
        match content {
            Some(content) => {
                self.index.insert(path.clone(), FileFacts::of(&content));
                self.files.insert(path, content);
            }
            None => {
                self.index.remove(&path);
                self.files.remove(&path);
            }
        }
    }

    /// Everything but files and todos, which are folded first.
    fn write(&mut self, change: &Change) {
        match change {
            Change::Message(message) => self.messages.push(message.clone()),
            Change::ResultsCleared(seqs) => {
                let cleared = self.messages.iter_mut().filter(|message| seqs.contains(&message.seq));
                cleared.for_each(|message| message.cleared = true);
            }
            Change::PhaseOpened { number, kind, name } => {
                self.phases.insert(*number, (*kind, name.clone()));
            }
            Change::Product(Product::AddSource(source)) => {
                self.sources.retain(|known| known.path != source.path);
                self.sources.push(source.clone());
                self.sources.sort_by(|one, other| one.path.cmp(&other.path));
            }
            Change::Product(Product::AddCitation(citation)) => {
                self.citations.entry(citation.id.clone()).or_insert_with(|| citation.clone());
            }
            Change::Product(Product::AddRequirement(requirement)) => {
                self.requirements.insert(requirement.content_key.clone(), requirement.candidate_id.clone());
            }
            Change::Product(
                Product::WriteFile(_)
                | Product::PlaceFile(_)
                | Product::ShareFiles(_)
                | Product::AppendFile { .. }
                | Product::DeleteFile { .. }
                | Product::JudgeRequirement(_),
            )
            | Change::PhaseClosed { .. }
            | Change::TodosPut { .. }
            | Change::TodoMoved { .. }
            | Change::Request(_)
            | Change::FeedbackTaken(_)
            | Change::Left(_) => {}
        }
    }
}

impl Workspace for Rows {
    fn index(&self) -> &FileIndex {
        &self.index
    }

    fn sources(&self) -> &[Source] {
        &self.sources
    }

    fn read<'a>(&'a self, path: &'a str) -> BoxFuture<'a, Result<Option<Vec<u8>>, WorkspaceError>> {
        Box::pin(async move { Ok(self.file(path).map(<[u8]>::to_vec)) })
    }

    fn put_aside(&self, contents: Vec<Vec<u8>>) -> BoxFuture<'_, Result<(), WorkspaceError>> {
        let known = contents.into_iter().map(|content| (Sha256::digest(&content).into(), content));
        self.aside.lock().unwrap_or_else(PoisonError::into_inner).extend(known);
        Box::pin(std::future::ready(Ok(())))
    }

    fn read_aside<'a>(&'a self, sha256: &'a [u8; 32]) -> BoxFuture<'a, Result<Option<Vec<u8>>, WorkspaceError>> {
        let known = self.aside.lock().unwrap_or_else(PoisonError::into_inner).get(sha256).cloned();
        Box::pin(std::future::ready(Ok(known)))
    }

    fn citation<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<Option<Citation>, WorkspaceError>> {
        Box::pin(async move { Ok(self.citations.get(id).cloned()) })
    }

    fn requirement<'a>(&'a self, content_key: &'a [u8]) -> BoxFuture<'a, Result<Option<String>, WorkspaceError>> {
        Box::pin(async move { Ok(self.requirements.get(content_key).cloned()) })
    }
}

//! A store of vectors and maps: what Postgres is to the worker. It is strict where tables have keys and constraints.

use super::dialogue::start;
use plumbline_engine::{
    Change, Feedback, FileFacts, FileIndex, JobFacts, Leave, Memory, Message, PhaseKind, PhaseOutcome, Product,
    RequestRecord, Requirement, Settings, Snapshot, Source, State, Todo,
};
use std::collections::BTreeMap;
use uuid::Uuid;

/// A row of `phases`.
#[derive(Clone, Debug)]
pub(crate) struct PhaseRow {
    pub(crate) kind: PhaseKind,
    pub(crate) name: String,
    pub(crate) outcome: Option<PhaseOutcome>,
}

/// The rows of one job.
#[derive(Clone, Debug)]
pub(crate) struct Toy {
    pub(crate) job: JobFacts,
    pub(crate) settings: Settings,
    pub(crate) state: Option<State>,
    pub(crate) messages: Vec<Message>,
    pub(crate) phases: BTreeMap<i32, PhaseRow>,
    pub(crate) todos: BTreeMap<i32, Vec<Todo>>,
    pub(crate) files: BTreeMap<String, Vec<u8>>,
    pub(crate) sources: Vec<Source>,
    pub(crate) requirements: BTreeMap<Vec<u8>, Requirement>,
    pub(crate) requests: Vec<RequestRecord>,
    pub(crate) feedback: Vec<Feedback>,
    pub(crate) taken: Vec<i64>,
    pub(crate) left: Option<Leave>,
    pub(crate) interrupted: bool,
}

impl Toy {
    pub(crate) fn new(settings: Settings) -> Self {
        let job = JobFacts {
            id: Uuid::from_u128(7),
            job_type: "creator".into(),
            prompt: "Extract the requirements of policy.pdf.".into(),
            step: 0,
            started_at: start(),
        };
        Self {
            job,
            settings,
            state: None,
            messages: Vec::new(),
            phases: BTreeMap::new(),
            todos: BTreeMap::new(),
            files: BTreeMap::new(),
            sources: Vec::new(),
            requirements: BTreeMap::new(),
            requests: Vec::new(),
            feedback: Vec::new(),
            taken: Vec::new(),
            left: None,
            interrupted: false,
        }
    }

    /// One step's transaction.
    pub(crate) fn commit(&mut self, changes: &[Change], state: &State) {
        for change in changes {
            self.write(change);
        }
        self.job.step += 1;
        self.state = Some(state.clone());
    }

    fn write(&mut self, change: &Change) {
        match change {
            Change::Message(message) => {
                assert_eq!(message.seq, self.messages.len() as i64 + 1, "messages are numbered without gaps");
                self.messages.push(message.clone());
            }
            Change::ResultsCleared(seqs) => self.clear(seqs),
            Change::PhaseOpened { number, kind, name } => self.open_phase(*number, *kind, name),
            Change::PhaseClosed { number, outcome } => {
                let phase = self.phases.get_mut(number).expect("a closed phase was opened");
                assert_eq!(phase.outcome.replace(*outcome), None, "phase {number} is closed once");
            }
            Change::TodosPut { phase_number, todos } => {
                let positions: Vec<i32> = todos.iter().map(|todo| todo.position).collect();
                assert_eq!(positions, (1..=todos.len() as i32).collect::<Vec<_>>(), "positions are 1 to n");
                self.todos.insert(*phase_number, todos.clone());
            }
            Change::TodoMoved { phase_number, position, status, notes } => {
                let list = self.todos.get_mut(phase_number).expect("moved todos have a list");
                let todo = list.iter_mut().find(|todo| todo.position == *position).expect("moved todos exist");
                todo.status = *status;
                todo.notes = notes.clone().or(todo.notes.take());
            }
            Change::Product(product) => self.produce(product),
            Change::Request(record) => self.requests.push(record.clone()),
            Change::FeedbackTaken(ids) => {
                for id in ids {
                    assert!(self.feedback.iter().any(|row| row.id == *id) && !self.taken.contains(id), "taken once");
                    self.taken.push(*id);
                }
            }
            Change::Left(leave) => assert_eq!(self.left.replace(leave.clone()), None, "a job leaves once"),
        }
    }

    fn clear(&mut self, seqs: &[i64]) {
        for seq in seqs {
            let message = self.messages.iter_mut().find(|message| message.seq == *seq).expect("cleared messages exist");
            assert!(message.tool_call_id.is_some() && !message.cleared, "only tool results are cleared, and once");
            message.cleared = true;
        }
    }

    fn open_phase(&mut self, number: i32, kind: PhaseKind, name: &str) {
        let last = self.phases.keys().next_back().copied().unwrap_or(0);
        assert_eq!(number, last + 1, "phase numbers strictly rise, without gaps");
        assert!(self.phases.values().all(|phase| phase.outcome.is_some()), "one phase is open at a time");
        self.phases.insert(number, PhaseRow { kind, name: name.into(), outcome: None });
    }

    /// Takes in one product.
    pub(crate) fn produce(&mut self, product: &Product) {
        match product {
            Product::WriteFile(file) => {
                self.files.insert(file.path.clone(), file.content.clone());
            }
            // Nothing is put aside here.
            Product::PlaceFile(file) => {
                self.files.insert(file.path.clone(), file.sha256.to_vec());
            }
            Product::ShareFiles(shared) => {
                let files = shared.files.iter().map(|file| (file.path.clone(), file.content.to_vec()));
                self.files.extend(files);
            }
            Product::AppendFile { path, text } => {
                self.files.entry(path.clone()).or_default().extend_from_slice(text.as_bytes());
            }
            Product::DeleteFile { path } => {
                self.files.remove(path);
            }
            Product::AddSource(source) => {
                self.sources.retain(|known| known.path != source.path);
                self.sources.push(source.clone());
                self.sources.sort_by(|one, other| one.path.cmp(&other.path));
            }
            Product::AddCitation(_) | Product::JudgeRequirement(_) => {}
            Product::AddRequirement(requirement) => {
                self.requirements.insert(requirement.content_key.clone(), (**requirement).clone());
            }
        }
    }

    /// What the store's load gives: of the messages, only those of the checkpoint's context.
    pub(crate) fn snapshot(&self) -> Snapshot {
        let number = self.state.as_ref().map_or(0, |state| state.phase.number);
        let todos = |number: i32| self.todos.get(&number).cloned().unwrap_or_default();
        Snapshot {
            job: self.job.clone(),
            settings: self.settings.clone().into(),
            state: self.state.clone(),
            messages: self.messages.iter().filter(|message| self.is_in_context(message)).cloned().collect(),
            todos: todos(number),
            staged_todos: todos(number + 1),
            files: self.file_index(),
            memory: self.memory(),
            sources: self.sources.clone(),
            requirements: self.requirements.len() as i64,
            feedback: self.feedback.iter().filter(|row| !self.taken.contains(&row.id)).cloned().collect(),
            interrupted: self.interrupted,
        }
    }

    fn is_in_context(&self, message: &Message) -> bool {
        self.state.as_ref().is_some_and(|state| {
            let context = &state.context;
            let head = [Some(context.system_seq), context.summary_seq];
            message.seq >= context.tail_from || head.contains(&Some(message.seq)) || context.kept.contains(&message.seq)
        })
    }

    fn file_index(&self) -> FileIndex {
        self.files.iter().map(|(path, content)| (path.clone(), FileFacts::of(content))).collect()
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

    /// The text of a file.
    pub(crate) fn file(&self, path: &str) -> String {
        let content = self.files.get(path).unwrap_or_else(|| panic!("{path} exists"));
        String::from_utf8_lossy(content).into_owned()
    }
}

//! A store of vectors and maps, in place of Postgres. It is strict where tables have keys and constraints.

use super::dialogue::start;
use plumbline_engine::{
    Approval, ApprovalState, Change, Feedback, FileWrite, JobExit, JobInfo, JobRows, Product, RequestRecord, Settings,
    Snapshot, State,
};
use std::ops::Deref;
use uuid::Uuid;

/// The rows of one job, and those that no later step reads.
#[derive(Clone, Debug)]
pub(crate) struct Toy {
    rows: JobRows,
    pub(crate) settings: Settings,
    pub(crate) requests: Vec<RequestRecord>,
    pub(crate) feedback: Vec<Feedback>,
    pub(crate) taken: Vec<i64>,
    pub(crate) exit: Option<JobExit>,
    /// Whether the next load belongs to another claim.
    pub(crate) new_claim: bool,
}

impl Deref for Toy {
    type Target = JobRows;

    fn deref(&self) -> &JobRows {
        &self.rows
    }
}

impl Toy {
    pub(crate) fn new(settings: Settings) -> Self {
        let job = JobInfo {
            id: Uuid::from_u128(7),
            job_type: "creator".into(),
            prompt: "Extract the requirements of policy.pdf.".into(),
            step: 0,
            started_at: start(),
        };
        Self {
            rows: JobRows::new(job),
            settings,
            requests: Vec::new(),
            feedback: Vec::new(),
            taken: Vec::new(),
            exit: None,
            new_claim: false,
        }
    }

    /// One step's transaction.
    pub(crate) fn commit(&mut self, changes: &[Change], state: &State) {
        // Changes are checked one by one, against the state after the earlier ones.
        let mut rows = self.rows.clone();
        for change in changes {
            Self::check(&rows, change);
            rows.commit(self.job.step, std::slice::from_ref(change), state);
            self.note(change);
        }
        self.rows.commit(self.job.step + 1, changes, state);
    }

    /// Checks what the keys and constraints of the tables enforce.
    fn check(rows: &JobRows, change: &Change) {
        match change {
            Change::Message(message) => {
                assert_eq!(message.seq, rows.messages.len() as i64 + 1, "messages are numbered without gaps");
            }
            Change::ResultsCleared(seqs) => seqs.iter().for_each(|seq| may_be_cleared(rows, *seq)),
            Change::PhaseOpened { number, .. } => {
                let last = rows.phases.keys().next_back().copied().unwrap_or(0);
                assert_eq!(*number, last + 1, "phase numbers strictly rise, without gaps");
                assert!(rows.phases.values().all(|phase| phase.outcome.is_some()), "one phase is open at a time");
            }
            Change::PhaseClosed { number, .. } => {
                let phase = rows.phases.get(number).expect("a closed phase was opened");
                assert_eq!(phase.outcome, None, "phase {number} is closed once");
            }
            Change::TodosPut { todos, .. } => {
                let positions: Vec<i32> = todos.iter().map(|todo| todo.position).collect();
                assert_eq!(positions, (1..=todos.len() as i32).collect::<Vec<_>>(), "positions are 1 to n");
            }
            Change::TodoMoved { phase_number, position, .. } => {
                assert!(rows.list(*phase_number).iter().any(|todo| todo.position == *position), "moved todos exist");
            }
            Change::TodoUnevidenced { phase_number, position } => {
                assert!(!rows.unevidenced.contains(&(*phase_number, *position)), "on record once");
            }
            Change::PassagesDropped(numbers) => {
                assert!(numbers.iter().all(|number| rows.passages.contains_key(number)), "what is dropped is there");
            }
            Change::Approval(_)
            | Change::Product(_)
            | Change::PassagesPut(_)
            | Change::Request(_)
            | Change::FeedbackTaken(_)
            | Change::Exited(_) => {}
        }
    }

    fn note(&mut self, change: &Change) {
        match change {
            Change::Request(record) => self.requests.push(record.clone()),
            Change::FeedbackTaken(ids) => {
                for id in ids {
                    assert!(self.feedback.iter().any(|row| row.id == *id) && !self.taken.contains(id), "taken once");
                    self.taken.push(*id);
                }
            }
            Change::Exited(leave) => assert_eq!(self.exit.replace(leave.clone()), None, "a job leaves once"),
            _ => {}
        }
    }

    /// People's decisions on the waiting calls, in order.
    pub(crate) fn decide(&mut self, decisions: impl IntoIterator<Item = impl FnOnce(&mut Approval)>) {
        let waiting = self.rows.approvals.iter_mut().filter(|row| row.state == ApprovalState::Pending);
        for (row, decide) in waiting.zip(decisions) {
            row.decided_by = Some("anna".into());
            decide(row);
        }
    }

    /// The job is a follow-up of one that has read untrusted text.
    pub(crate) fn follows_untrusted(&mut self) {
        self.rows.untrusted_step = Some(0);
    }

    /// The job has waited for people.
    pub(crate) fn wait(&mut self, seconds: i64) {
        self.rows.waited_s += seconds;
    }

    /// Applies one product.
    pub(crate) fn produce(&mut self, product: &Product) {
        self.rows.apply_products(std::slice::from_ref(product));
    }

    /// Adds a file, as if an earlier step had written it.
    pub(crate) fn place(&mut self, path: impl Into<String>, content: Vec<u8>) {
        self.produce(&Product::WriteFile(FileWrite { path: path.into(), content }));
    }

    /// The result of the store's load.
    pub(crate) fn snapshot(&self) -> Snapshot {
        let feedback = self.feedback.iter().filter(|row| !self.taken.contains(&row.id)).cloned().collect();
        self.rows.snapshot(feedback, self.new_claim)
    }

    /// The text of a file.
    pub(crate) fn text(&self, path: &str) -> String {
        let content = self.file(path).unwrap_or_else(|| panic!("{path} exists"));
        String::from_utf8_lossy(content).into_owned()
    }
}

fn may_be_cleared(rows: &JobRows, seq: i64) {
    let message = rows.messages.iter().find(|message| message.seq == seq).expect("cleared messages exist");
    assert!(message.tool_call_id.is_some() && !message.cleared, "only tool results are cleared, and once");
}

//! The in-memory rows of a replay.

use super::replayed::ReplayedStep;
use plumbline_engine::{
    Approval, ApprovalState, Citation, Corrupt, FileIndex, JobInfo, JobRows, Passage, RecordedRequirement, Run,
    Settings, Snapshot, Source, known_keys,
};
use plumbline_store::{RecordedJob, RecordedStep};
use plumbline_tools::{BoxFuture, KnownKeys, PassagePlace, Workspace, WorkspaceError};
use std::{collections::HashMap, future::ready, sync::Arc};

/// One job's rows after a step, and the claim that wrote it.
#[derive(Clone)]
pub(crate) struct MemoryJob {
    pub(crate) job: JobRows,
    lease_epoch: i64,
    /// People's decisions on its calls, in the order of the requests.
    decisions: Arc<[Approval]>,
}

impl MemoryJob {
    /// A job before its first step.
    pub(crate) fn new(job: &RecordedJob) -> Self {
        let (id, job_type, prompt) = (job.id, job.job_type.clone(), job.prompt.clone());
        let facts = JobInfo { id, job_type, prompt, step: 0, started_at: job.started_at };
        let decisions = job.approvals.iter().map(|row| row.approval.clone()).collect();
        let mut rows = JobRows::new(facts);
        rows.waited_s = job.waited_s;
        // What it read itself, it reads again.
        rows.untrusted_step = job.untrusted_step.filter(|step| *step == 0);
        Self { job: rows, lease_epoch: 0, decisions }
    }

    /// The run as a claim would load it at the beginning of a step. Requests abandoned before the first step have no
    /// checkpoint that counts them, see [`super::step`].
    pub(crate) fn load(&self, settings: Arc<Settings>, step: &RecordedStep) -> Result<Run, Corrupt> {
        // Only the first step of a claim can find a call that the previous claim has dispatched.
        let snapshot = self.job.snapshot(step.feedback.clone(), self.lease_epoch != step.lease_epoch);
        Run::load(Snapshot { first_totals: step.abandoned(), ..snapshot }, settings)
    }

    /// Whether a citation of this id is recorded.
    pub(crate) fn has_citation(&self, id: &str) -> bool {
        self.job.citations.contains_key(id)
    }

    /// One step's transaction.
    pub(crate) fn commit(&mut self, redone: &ReplayedStep) {
        self.job.commit(redone.step, &redone.changes, &redone.state);
        self.lease_epoch = redone.lease_epoch;
        self.decide();
    }

    /// Requested approvals get their recorded decisions before the next step.
    fn decide(&mut self) {
        let mut seen: HashMap<String, usize> = HashMap::new();
        for row in &mut self.job.approvals {
            let place = seen.entry(row.call_id.clone()).or_default();
            let decision = self.decisions.iter().filter(|decision| decision.call_id == row.call_id).nth(*place);
            *place += 1;
            if let (ApprovalState::Pending, Some(decision)) = (row.state, decision) {
                row.state = decided(decision, row);
                if decision.state == ApprovalState::Void {
                    (row.tool_sha256, row.arguments_sha256) = (decision.tool_sha256, decision.arguments_sha256);
                }
                (row.edited, row.reason) = (decision.edited.clone(), decision.reason.clone());
                row.decided_by = decision.decided_by.clone();
            }
        }
    }
}

impl Workspace for MemoryJob {
    fn index(&self) -> &FileIndex {
        self.job.index()
    }

    fn sources(&self) -> &[Source] {
        &self.job.sources
    }

    fn passages(&self) -> Vec<PassagePlace> {
        self.job.passages.values().map(|passage: &Passage| PassagePlace::from(passage)).collect()
    }

    fn next_number(&self) -> i32 {
        self.job.next_number()
    }

    fn requirements_at(&self, passage: i32, sentence: i32) -> Vec<String> {
        self.job.requirements_at(passage, sentence)
    }

    fn read<'a>(&'a self, path: &'a str) -> BoxFuture<'a, Result<Option<Vec<u8>>, WorkspaceError>> {
        Box::pin(ready(Ok(self.job.file(path).map(<[u8]>::to_vec))))
    }

    fn citations_with<'a>(&'a self, ids: &'a [String]) -> BoxFuture<'a, Result<Vec<Citation>, WorkspaceError>> {
        Box::pin(ready(Ok(ids.iter().filter_map(|id| self.job.citations.get(id).cloned()).collect())))
    }

    fn citations(&self) -> BoxFuture<'_, Result<Vec<Citation>, WorkspaceError>> {
        Box::pin(ready(Ok(self.job.citations.values().cloned().collect())))
    }

    fn requirements_known<'a>(&'a self, keys: &'a [Vec<u8>]) -> BoxFuture<'a, Result<KnownKeys, WorkspaceError>> {
        Box::pin(ready(Ok(known_keys(&self.job.recorded, keys))))
    }

    fn recorded(&self) -> BoxFuture<'_, Result<Vec<RecordedRequirement>, WorkspaceError>> {
        Box::pin(ready(Ok(self.job.recorded.clone())))
    }
}

/// A row's state before its call was made or found invalid: its new arguments did not fit, or tool and arguments are not
/// those of the request.
fn decided(decision: &Approval, requested: &Approval) -> ApprovalState {
    let digests = |row: &Approval| (row.tool_sha256, row.arguments_sha256);
    match decision.state {
        ApprovalState::Executed => ApprovalState::Approved,
        ApprovalState::Void if decision.edited.is_some() || digests(decision) != digests(requested) => {
            ApprovalState::Approved
        }
        state => state,
    }
}

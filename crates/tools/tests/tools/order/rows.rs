//! The tools' view of a job: the committed rows and the run's lists, as provided by the worker.

use plumbline_engine::{Asked, HeldRequirement, KnownRequirement, Tally};
use plumbline_engine::{Citation, FileIndex, JobRows, RecordedRequirement, Run, Source, known_keys};
use plumbline_tools::{BoxFuture, KnownKeys, PassagePlace, ValidationQueue, Workspace, WorkspaceError};
use std::{collections::BTreeSet, future::ready};
use uuid::Uuid;

/// The files and rows.
pub(super) struct LiveRows<'a> {
    pub(super) rows: &'a JobRows,
    pub(super) run: &'a Run,
}

impl Workspace for LiveRows<'_> {
    fn index(&self) -> &FileIndex {
        self.run.workspace().files()
    }

    fn sources(&self) -> &[Source] {
        self.run.workspace().sources()
    }

    fn passages(&self) -> Vec<PassagePlace> {
        self.run.ledger().all().map(PassagePlace::from).collect()
    }

    fn next_number(&self) -> i32 {
        self.run.ledger().next_number()
    }

    fn read<'a>(&'a self, path: &'a str) -> BoxFuture<'a, Result<Option<Vec<u8>>, WorkspaceError>> {
        Box::pin(ready(Ok(self.rows.file(path).map(<[u8]>::to_vec))))
    }

    fn citations_with<'a>(&'a self, ids: &'a [String]) -> BoxFuture<'a, Result<Vec<Citation>, WorkspaceError>> {
        Box::pin(ready(Ok(ids.iter().filter_map(|id| self.rows.citations.get(id).cloned()).collect())))
    }

    fn citations(&self) -> BoxFuture<'_, Result<Vec<Citation>, WorkspaceError>> {
        let mut citations: Vec<Citation> = self.rows.citations.values().cloned().collect();
        citations.sort_by(|one, other| one.id.cmp(&other.id));
        Box::pin(ready(Ok(citations)))
    }

    fn requirements_known<'a>(&'a self, keys: &'a [Vec<u8>]) -> BoxFuture<'a, Result<KnownKeys, WorkspaceError>> {
        Box::pin(ready(Ok(known_keys(&self.rows.recorded, keys))))
    }

    fn recorded(&self) -> BoxFuture<'_, Result<Vec<RecordedRequirement>, WorkspaceError>> {
        Box::pin(ready(Ok(self.rows.recorded.clone())))
    }
}

/// The committed requirements, as far as they are compared.
#[derive(Debug)]
pub(super) struct Recorded<'a>(pub(super) &'a JobRows);

impl Recorded<'_> {
    fn standing(&self) -> Vec<KnownRequirement> {
        let standing = self.0.recorded.iter().filter(|known| !known.is_withdrawn());
        standing.cloned().map(known).collect()
    }
}

fn words(text: &str) -> BTreeSet<String> {
    text.to_lowercase()
        .split(|c: char| !c.is_alphanumeric())
        .map(str::to_owned)
        .filter(|word| !word.is_empty())
        .collect()
}

/// A row with an id different from that of the candidate id.
fn known(RecordedRequirement { requirement, status }: RecordedRequirement) -> KnownRequirement {
    let digits = requirement.candidate_id.trim_start_matches("req_");
    KnownRequirement {
        id: Uuid::from_u128(!u128::from_str_radix(digits, 16).unwrap()),
        job_id: Uuid::nil(),
        number: None,
        candidate_id: Some(requirement.candidate_id),
        name: Some(requirement.name),
        text: requirement.text,
        status,
        graph_node_id: None,
        place: None,
    }
}

impl ValidationQueue for Recorded<'_> {
    fn similar<'a>(
        &'a self,
        asked: &'a [Asked<'a>],
    ) -> BoxFuture<'a, Result<Vec<Vec<KnownRequirement>>, WorkspaceError>> {
        let shares = |asked: &Asked<'_>, known: &KnownRequirement| {
            words(asked.text).intersection(&words(&known.text)).next().is_some()
        };
        let like = |asked: &Asked<'_>| {
            let mut like = self.standing();
            like.retain(|known| shares(asked, known));
            like
        };
        Box::pin(ready(Ok(asked.iter().map(like).collect())))
    }

    fn recorded(&self, _: bool) -> BoxFuture<'_, Result<(Uuid, u64), WorkspaceError>> {
        Box::pin(ready(Ok((self.0.job.id, self.standing().len() as u64))))
    }

    fn claim<'a>(
        &'a self,
        _: u32,
        _: bool,
        _: &'a [Uuid],
    ) -> BoxFuture<'a, Result<Vec<HeldRequirement>, WorkspaceError>> {
        unreachable!("the tools of these jobs validate nothing")
    }

    fn release<'a>(&'a self, _: &'a [Uuid]) -> BoxFuture<'a, Result<(), WorkspaceError>> {
        unreachable!("the tools of these jobs validate nothing")
    }

    fn held(&self) -> BoxFuture<'_, Result<Vec<HeldRequirement>, WorkspaceError>> {
        unreachable!("the tools of these jobs validate nothing")
    }

    fn text_path<'a>(&'a self, _: Uuid, _: &'a str) -> BoxFuture<'a, Result<Option<String>, WorkspaceError>> {
        unreachable!("the tools of these jobs validate nothing")
    }

    fn read<'a>(&'a self, _: Uuid, _: &'a str) -> BoxFuture<'a, Result<Option<Vec<u8>>, WorkspaceError>> {
        unreachable!("the tools of these jobs validate nothing")
    }

    fn tally(&self, _: bool) -> BoxFuture<'_, Result<Tally, WorkspaceError>> {
        unreachable!("the tools of these jobs validate nothing")
    }
}

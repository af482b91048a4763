//! The tools' view of a job: its files, documents, citations and requirements, read from the rows on demand. A
//! connection is taken for one query and returned; none is held while a tool works. Only staged blobs are written here,
//! under the lease.

use plumbline_engine::{Citation, FileIndex, RecordedRequirement, Run, Source};
use plumbline_store::backoff::LostTime;
use plumbline_store::{Error, Lease, Store};
use plumbline_tools::{BoxFuture, KnownKeys, PassagePlace, Workspace, WorkspaceError};
use std::time::Duration;

/// One job's rows.
#[derive(Debug)]
pub(crate) struct StoreWorkspace<'a> {
    pub(super) store: &'a Store,
    pub(super) lease: Lease,
    run: &'a Run,
    lost_time: &'a LostTime,
}

impl<'a> StoreWorkspace<'a> {
    pub(crate) fn new(store: &'a Store, lease: Lease, run: &'a Run, lost_time: &'a LostTime) -> Self {
        Self { store, lease, run, lost_time }
    }

    /// Queries the database and retries transient failures: the caller's lease bounds how long.
    pub(super) async fn ask<T, F>(&self, query: impl Fn() -> F + Send) -> Result<T, WorkspaceError>
    where
        F: Future<Output = Result<T, Error>> + Send,
        T: Send,
    {
        self.lost_time.retry_transient(query).await.map_err(|error| WorkspaceError(Box::new(error)))
    }
}

impl Workspace for StoreWorkspace<'_> {
    fn lost_time(&self) -> Duration {
        self.lost_time.total()
    }

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

    fn requirements_at(&self, passage: i32, sentence: i32) -> Vec<String> {
        self.run.ledger().beginning_at((passage, sentence)).map(str::to_owned).collect()
    }

    fn read<'a>(&'a self, path: &'a str) -> BoxFuture<'a, Result<Option<Vec<u8>>, WorkspaceError>> {
        Box::pin(self.ask(move || self.store.read_file(self.lease.job_id, path)))
    }

    fn citations_with<'a>(&'a self, ids: &'a [String]) -> BoxFuture<'a, Result<Vec<Citation>, WorkspaceError>> {
        Box::pin(self.ask(move || self.store.citations_with(self.lease.job_id, ids)))
    }

    fn citations(&self) -> BoxFuture<'_, Result<Vec<Citation>, WorkspaceError>> {
        Box::pin(self.ask(|| self.store.citations(self.lease.job_id)))
    }

    fn requirements_known<'a>(&'a self, keys: &'a [Vec<u8>]) -> BoxFuture<'a, Result<KnownKeys, WorkspaceError>> {
        Box::pin(self.ask(move || self.store.requirements_known(self.lease.job_id, keys)))
    }

    fn recorded(&self) -> BoxFuture<'_, Result<Vec<RecordedRequirement>, WorkspaceError>> {
        Box::pin(self.ask(|| self.store.recorded(self.lease.job_id)))
    }
}

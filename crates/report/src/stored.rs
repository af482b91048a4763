//! The report from the current rows, for readers outside the worker.

use super::{Facts, write};
use plumbline_engine::{Citation, FileIndex, RecordedRequirement, Source};
use plumbline_store::{Error, Store, facts};
use plumbline_tools::{BoxFuture, Workspace, WorkspaceError};
use uuid::Uuid;

/// Generates the report of a job from its current rows; none if there is no such job.
///
/// # Errors
/// The rows could not be read.
pub async fn of_stored(store: &Store, job_id: Uuid) -> Result<Option<Vec<u8>>, Error> {
    let Some(job) = store.job_seen(job_id).await? else { return Ok(None) };
    let headline = [&job.result, &job.error_details].into_iter().find_map(|of| of.as_ref()?.get("headline")?.as_str());
    let sources = store.sources(job_id).await?;
    let rows = Stored { store, job_id, index: facts(store.file_index(job_id).await?), sources };
    let passages = store.passages(job_id).await?;
    let recorded = store.recorded(job_id).await?;
    let (prompt, passages) = (job.line.prompt.as_str(), passages.iter().collect());
    let told = Facts { job_id, prompt, headline, passages, recorded: &recorded, changes: &[] };
    match write(&told, &rows).await {
        Ok(report) => Ok(Some(report)),
        Err(WorkspaceError(error)) => Err(match error.downcast::<Error>() {
            Ok(error) => *error,
            Err(other) => Error::Corrupt { job_id, what: "workspace", reason: other.to_string() },
        }),
    }
}

/// A job's rows.
struct Stored<'a> {
    store: &'a Store,
    job_id: Uuid,
    index: FileIndex,
    sources: Vec<Source>,
}

fn unread(error: Error) -> WorkspaceError {
    WorkspaceError(Box::new(error))
}

impl Workspace for Stored<'_> {
    fn index(&self) -> &FileIndex {
        &self.index
    }

    fn sources(&self) -> &[Source] {
        &self.sources
    }

    fn read<'a>(&'a self, path: &'a str) -> BoxFuture<'a, Result<Option<Vec<u8>>, WorkspaceError>> {
        Box::pin(async move { self.store.read_file(self.job_id, path).await.map_err(unread) })
    }

    fn citations(&self) -> BoxFuture<'_, Result<Vec<Citation>, WorkspaceError>> {
        Box::pin(async { self.store.citations(self.job_id).await.map_err(unread) })
    }

    fn recorded(&self) -> BoxFuture<'_, Result<Vec<RecordedRequirement>, WorkspaceError>> {
        Box::pin(async { self.store.recorded(self.job_id).await.map_err(unread) })
    }
}

//! The report from the current rows, for readers outside the worker.

use super::{Facts, write};
use plumbline_engine::{Citation, FileIndex, RecordedRequirement, Source};
use plumbline_store::{Error, Store, facts};
use plumbline_tools::{BoxFuture, Workspace, WorkspaceError};
use serde_json::Value;
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
    let config = config(store, job_id).await?;
    let asks_for_coverage = match config.get("coverage") {
        Some(coverage) => coverage != "off",
        None => !job.result.as_ref().is_some_and(|result| result["coverage"].is_null()),
    };
    let no_sources: Vec<String> =
        config.get("no_sources").and_then(|patterns| serde_json::from_value(patterns.clone()).ok()).unwrap_or_default();
    let told = Facts {
        job_id,
        prompt: &job.line.prompt,
        headline,
        passages: passages.iter().filter(|_| asks_for_coverage).collect(),
        result: job.result.as_ref(),
        no_sources: &no_sources,
        recorded: &recorded,
        changes: &[],
    };
    match write(&told, &rows).await {
        Ok(report) => Ok(Some(report)),
        Err(WorkspaceError(error)) => Err(match error.downcast::<Error>() {
            Ok(error) => *error,
            Err(other) => Error::Corrupt { job_id, what: "workspace", reason: other.to_string() },
        }),
    }
}

/// The job's configuration; empty before its first claim and for a login that may not read it.
async fn config(store: &Store, job_id: Uuid) -> Result<Value, Error> {
    match store.settings(job_id).await {
        Ok(settings) => Ok(settings.map_or(Value::Null, |mut settings| settings.resolved["config"].take())),
        Err(error) if error.is_forbidden() => Ok(Value::Null),
        Err(error) => Err(error),
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

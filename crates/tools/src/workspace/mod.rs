//! The job's files: the tools that read and write them, and the tools' view of a job.
//!
//! The worker implements [`Workspace`] over the store, tests in memory; `overlay` adds the changes of the running
//! batch.

pub(crate) mod create_folder;
pub(crate) mod delete_file;
pub(crate) mod edit_file;
pub(crate) mod list_files;
pub(crate) mod overlay;
pub(crate) mod path;
pub(crate) mod read_file;
pub(crate) mod search_files;
pub(crate) mod untrusted;
pub(crate) mod write_file;

use plumbline_engine::{Citation, FileIndex, Passage, PassageState, RecordedRequirement, Source};
use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

/// The future of an object-safe trait method.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Content keys of recorded requirements, each with the requirement's `candidate_id`.
pub type KnownKeys = Vec<(Vec<u8>, String)>;

/// The location of a passage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PassagePlace {
    /// Its number.
    pub number: i32,
    /// Its document.
    pub document: String,
    /// Its first and its last page, if the document has pages.
    pub pages: Option<(i32, i32)>,
    /// The file with its text, if it has one.
    pub chunk_path: Option<String>,
    /// Whether results have shown its complete text.
    pub is_read: bool,
}

impl From<&Passage> for PassagePlace {
    fn from(passage: &Passage) -> Self {
        let Passage { number, document, pages, chunk_path, .. } = passage;
        let is_read = passage.state != PassageState::Unread;
        Self { number: *number, document: document.clone(), pages: *pages, chunk_path: chunk_path.clone(), is_read }
    }
}

/// Read access to one job's committed rows. The runner overlays the running batch's changes.
pub trait Workspace: Send + Sync {
    /// The workspace's files.
    fn index(&self) -> &FileIndex;

    /// The job's documents.
    fn sources(&self) -> &[Source];

    /// The time that reads have lost to an outage of the rows so far: it counts against no time limit of a call.
    fn lost_time(&self) -> Duration {
        Duration::ZERO
    }

    /// The passages of the job's documents, by number.
    fn passages(&self) -> Vec<PassagePlace> {
        Vec::new()
    }

    /// The number of the job's next requirement.
    fn next_number(&self) -> i32 {
        1
    }

    /// The `candidate_id`s of the job's requirements that are not withdrawn and whose first quote begins at this
    /// sentence of the passage.
    fn requirements_at(&self, passage: i32, sentence: i32) -> Vec<String> {
        let _ = (passage, sentence);
        Vec::new()
    }

    /// A file's content; none if there is no such file.
    fn read<'a>(&'a self, path: &'a str) -> BoxFuture<'a, Result<Option<Vec<u8>>, WorkspaceError>>;

    /// The citations of this job with these ids. The default has none.
    fn citations_with<'a>(&'a self, _ids: &'a [String]) -> BoxFuture<'a, Result<Vec<Citation>, WorkspaceError>> {
        Box::pin(std::future::ready(Ok(Vec::new())))
    }

    /// The citations of this job, by id. The default has none.
    fn citations(&self) -> BoxFuture<'_, Result<Vec<Citation>, WorkspaceError>> {
        Box::pin(std::future::ready(Ok(Vec::new())))
    }

    /// The `candidate_id`s of this job's requirements with these content keys, each with its key; keys that are not
    /// recorded are left out. The default has none.
    fn requirements_known<'a>(&'a self, _keys: &'a [Vec<u8>]) -> BoxFuture<'a, Result<KnownKeys, WorkspaceError>> {
        Box::pin(std::future::ready(Ok(Vec::new())))
    }

    /// The requirements recorded by this job, including withdrawn ones, in the order of recording. The default has
    /// none.
    fn recorded(&self) -> BoxFuture<'_, Result<Vec<RecordedRequirement>, WorkspaceError>> {
        Box::pin(std::future::ready(Ok(Vec::new())))
    }
}

/// The rows could not be read. Not an error for the model: the batch is abandoned, and the worker repeats the step.
#[derive(Debug, thiserror::Error)]
#[error("the workspace could not be read")]
pub struct WorkspaceError(#[source] pub Box<dyn std::error::Error + Send + Sync>);

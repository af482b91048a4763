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

/// A future that an object-safe trait can return.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Where a passage is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PassagePlace {
    /// Its number.
    pub number: i32,
    /// Its document.
    pub document: String,
    /// Its first and its last page, where the document has pages.
    pub pages: Option<(i32, i32)>,
    /// The file with its text, if it has one.
    pub chunk_path: Option<String>,
    /// Whether results have shown all of its text.
    pub is_read: bool,
}

impl From<&Passage> for PassagePlace {
    fn from(passage: &Passage) -> Self {
        let Passage { number, document, pages, chunk_path, .. } = passage;
        let is_read = passage.state != PassageState::Unread;
        Self { number: *number, document: document.clone(), pages: *pages, chunk_path: chunk_path.clone(), is_read }
    }
}

/// Read access to one job's committed rows. What the running batch itself has done is laid over it by the runner.
pub trait Workspace: Send + Sync {
    /// The workspace's files.
    fn index(&self) -> &FileIndex;

    /// The job's documents.
    fn sources(&self) -> &[Source];

    /// The passages of the job's documents, by their numbers.
    fn passages(&self) -> Vec<PassagePlace> {
        Vec::new()
    }

    /// The number of the job's next requirement.
    fn next_number(&self) -> i32 {
        1
    }

    /// The `candidate_id`s of the job's requirements that stand and whose first quote begins at a sentence of a passage.
    fn requirements_at(&self, passage: i32, sentence: i32) -> Vec<String> {
        let _ = (passage, sentence);
        Vec::new()
    }

    /// A file's content; none when there is no such file.
    fn read<'a>(&'a self, path: &'a str) -> BoxFuture<'a, Result<Option<Vec<u8>>, WorkspaceError>>;

    /// Puts contents aside for files that the running calls will place: whoever makes a long text does not hold it.
    /// Where nothing is kept, this is refused.
    fn stage_blobs(&self, contents: Vec<Vec<u8>>) -> BoxFuture<'_, Result<(), WorkspaceError>> {
        drop(contents);
        Box::pin(std::future::ready(Err(WorkspaceError("nothing can be put aside here".into()))))
    }

    /// A content that was put aside, by its SHA-256.
    fn read_staged_blob<'a>(&'a self, _sha256: &'a [u8; 32]) -> BoxFuture<'a, Result<Option<Vec<u8>>, WorkspaceError>> {
        Box::pin(std::future::ready(Ok(None)))
    }

    /// A citation of this job by its id.
    fn citation<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<Option<Citation>, WorkspaceError>>;

    /// The citations of this job, by their ids. None where nothing is cited.
    fn citations(&self) -> BoxFuture<'_, Result<Vec<Citation>, WorkspaceError>> {
        Box::pin(std::future::ready(Ok(Vec::new())))
    }

    /// The `candidate_id` of this job's requirement with that content key, if it is recorded already.
    fn requirement<'a>(&'a self, content_key: &'a [u8]) -> BoxFuture<'a, Result<Option<String>, WorkspaceError>>;

    /// The requirements that this job has recorded, withdrawn ones too, in the order in which they were recorded.
    /// None where nothing is recorded.
    fn recorded(&self) -> BoxFuture<'_, Result<Vec<RecordedRequirement>, WorkspaceError>> {
        Box::pin(std::future::ready(Ok(Vec::new())))
    }
}

/// The rows could not be read. No matter for the model: the batch is given up, and the step is the worker's to repeat
/// (lesson 84).
#[derive(Debug, thiserror::Error)]
#[error("the workspace could not be read")]
pub struct WorkspaceError(#[source] pub Box<dyn std::error::Error + Send + Sync>);

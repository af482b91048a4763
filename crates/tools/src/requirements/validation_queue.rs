//! The tools' interface to the validation queue. The worker implements it over the store, tests in memory.

use crate::error::{Remedy, ToolError};
use crate::graph::GraphClient;
use crate::workspace::{BoxFuture, WorkspaceError};
use plumbline_engine::{Asked, HeldRequirement, KnownRequirement, Tally};
use uuid::Uuid;

/// The rows of the validation queue. Read-only, except for [`ValidationQueue::claim`].
pub trait ValidationQueue: std::fmt::Debug + Send + Sync {
    /// Up to `count` requirements for this job, those it already holds first; idempotent. `recheck`: those that were
    /// accepted without a graph count as pending. Of those it holds, `left_out` are not returned.
    fn claim<'a>(
        &'a self,
        count: u32,
        recheck: bool,
        left_out: &'a [Uuid],
    ) -> BoxFuture<'a, Result<Vec<HeldRequirement>, WorkspaceError>>;

    /// Releases the requirements that this job holds, except these rows: they are pending again.
    fn release<'a>(&'a self, but: &'a [Uuid]) -> BoxFuture<'a, Result<(), WorkspaceError>>;

    /// The requirements that this job holds.
    fn held(&self) -> BoxFuture<'_, Result<Vec<HeldRequirement>, WorkspaceError>>;

    /// For each text, in its position: requirements that share words with it.
    fn similar<'a>(
        &'a self,
        asked: &'a [Asked<'a>],
    ) -> BoxFuture<'a, Result<Vec<Vec<KnownRequirement>>, WorkspaceError>>;

    /// The file with the text of a document of the job that recorded a requirement, if it has one.
    fn text_path<'a>(
        &'a self,
        job_id: Uuid,
        document: &'a str,
    ) -> BoxFuture<'a, Result<Option<String>, WorkspaceError>>;

    /// A file of that job.
    fn read<'a>(&'a self, job_id: Uuid, path: &'a str) -> BoxFuture<'a, Result<Option<Vec<u8>>, WorkspaceError>>;

    /// The job whose requirements count as this job's own, and their number: for a validator those of the job that it
    /// validates, if it is bound to one.
    fn recorded(&self, is_validator: bool) -> BoxFuture<'_, Result<(Uuid, u64), WorkspaceError>>;

    /// This job's judgements.
    fn tally(&self, recheck: bool) -> BoxFuture<'_, Result<Tally, WorkspaceError>>;
}

/// The graph of a job, if it has one.
#[derive(Clone, Copy, Debug, Default)]
pub enum Graph<'a> {
    /// None is configured: integration is disabled.
    #[default]
    Off,
    /// The configured graph.
    On(&'a GraphClient),
    /// The configured graph cannot be used, with the reason.
    Unusable(&'a str),
}

impl<'a> Graph<'a> {
    /// The client, if there is a graph.
    pub(crate) fn client(self) -> Result<Option<&'a GraphClient>, ToolError> {
        match self {
            Self::Off => Ok(None),
            Self::On(client) => Ok(Some(client)),
            Self::Unusable(reason) => {
                Err(ToolError::Unavailable { reason: reason.to_string(), remedy: Remedy::Operator })
            }
        }
    }
}

//! Access of a validator's tools to rows of `requirement_cache`, claimed under the job's lease. As in
//! `store_workspace`, a connection is taken for one query and returned.

use super::store_workspace::StoreWorkspace;
use plumbline_engine::{Asked, HeldRequirement, KnownRequirement, Tally};
use plumbline_tools::{BoxFuture, ValidationQueue, WorkspaceError};
use uuid::Uuid;

/// Requirements that a text is compared with: those with the most words in common come first, so similar ones are
/// included.
const MAX_COMPARED: i64 = 50;

/// Maximum rows read of the requirements that the job holds: more than `next_requirement` ever gives it.
const MAX_HELD: i64 = 100;

impl ValidationQueue for StoreWorkspace<'_> {
    fn claim<'a>(
        &'a self,
        count: u32,
        recheck: bool,
        left_out: &'a [Uuid],
    ) -> BoxFuture<'a, Result<Vec<HeldRequirement>, WorkspaceError>> {
        Box::pin(async move {
            self.ask(|| self.store.claim_requirements(&self.lease, i64::from(count), recheck, left_out)).await
        })
    }

    fn release<'a>(&'a self, but: &'a [Uuid]) -> BoxFuture<'a, Result<(), WorkspaceError>> {
        Box::pin(async move { self.ask(|| self.store.release_requirements(&self.lease, but)).await })
    }

    fn held(&self) -> BoxFuture<'_, Result<Vec<HeldRequirement>, WorkspaceError>> {
        Box::pin(async move { self.ask(|| self.store.held_requirements(self.lease.job_id, &[], MAX_HELD)).await })
    }

    fn similar<'a>(
        &'a self,
        asked: &'a [Asked<'a>],
    ) -> BoxFuture<'a, Result<Vec<Vec<KnownRequirement>>, WorkspaceError>> {
        Box::pin(async move { self.ask(|| self.store.similar_requirements(asked, MAX_COMPARED)).await })
    }

    fn recorded(&self, is_validator: bool) -> BoxFuture<'_, Result<(Uuid, u64), WorkspaceError>> {
        Box::pin(async move {
            let (job, count) = self.ask(|| self.store.recorded_requirements(self.lease.job_id, is_validator)).await?;
            Ok((job, u64::try_from(count).unwrap_or(0)))
        })
    }

    fn text_path<'a>(
        &'a self,
        job_id: Uuid,
        document: &'a str,
    ) -> BoxFuture<'a, Result<Option<String>, WorkspaceError>> {
        Box::pin(async move {
            let sources = self.ask(|| self.store.sources(job_id)).await?;
            Ok(sources.into_iter().find(|source| source.path == document).and_then(|source| source.text_path))
        })
    }

    fn read<'a>(&'a self, job_id: Uuid, path: &'a str) -> BoxFuture<'a, Result<Option<Vec<u8>>, WorkspaceError>> {
        Box::pin(async move { self.ask(|| self.store.read_file(job_id, path)).await })
    }

    fn tally(&self, recheck: bool) -> BoxFuture<'_, Result<Tally, WorkspaceError>> {
        Box::pin(async move { self.ask(|| self.store.validation_tally(self.lease.job_id, recheck)).await })
    }
}

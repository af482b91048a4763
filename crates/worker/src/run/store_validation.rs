//! Access of a validator's tools to rows of `requirement_cache`, claimed under the job's lease. As in
//! `store_workspace`, a connection is taken for one query and returned.

use plumbline_store::backoff::LostTime;
use plumbline_store::{Error, Lease, SimilarRequirement, Store, ValidationTally};
use plumbline_tools::{Asked, BoxFuture, HeldRequirement, KnownRequirement, Tally, ValidationQueue, WorkspaceError};
use serde_json::Value;
use uuid::Uuid;

/// Requirements that a text is compared with: those with the most words in common come first, so similar ones are
/// included.
const MAX_COMPARED: i64 = 50;

/// Maximum rows read of the requirements that the job holds: more than `next_requirement` ever gives it.
const MAX_HELD: i64 = 100;

/// The hand-over, as accessible under one job's lease.
#[derive(Debug)]
pub(crate) struct StoreValidationQueue<'a> {
    store: &'a Store,
    lease: Lease,
    lost_time: &'a LostTime,
}

impl<'a> StoreValidationQueue<'a> {
    pub(crate) fn new(store: &'a Store, lease: Lease, lost_time: &'a LostTime) -> Self {
        Self { store, lease, lost_time }
    }

    /// Queries the database and retries transient failures: the caller's lease bounds how long.
    async fn ask<T, F>(&self, query: impl Fn() -> F + Send) -> Result<T, WorkspaceError>
    where
        F: Future<Output = Result<T, Error>> + Send,
        T: Send,
    {
        self.lost_time.retry_transient(query).await.map_err(|error| WorkspaceError(Box::new(error)))
    }
}

impl ValidationQueue for StoreValidationQueue<'_> {
    fn claim<'a>(
        &'a self,
        count: u32,
        recheck: bool,
        left_out: &'a [Uuid],
    ) -> BoxFuture<'a, Result<Vec<HeldRequirement>, WorkspaceError>> {
        Box::pin(async move {
            let claim = || self.store.claim_requirements(&self.lease, i64::from(count), recheck, left_out);
            Ok(self.ask(claim).await?.into_iter().map(held).collect())
        })
    }

    fn release<'a>(&'a self, but: &'a [Uuid]) -> BoxFuture<'a, Result<(), WorkspaceError>> {
        Box::pin(async move { self.ask(|| self.store.release_requirements(&self.lease, but)).await })
    }

    fn held(&self) -> BoxFuture<'_, Result<Vec<HeldRequirement>, WorkspaceError>> {
        Box::pin(async move {
            let held = || self.store.held_requirements(self.lease.job_id, &[], MAX_HELD);
            Ok(self.ask(held).await?.into_iter().map(self::held).collect())
        })
    }

    fn similar<'a>(
        &'a self,
        asked: &'a [Asked<'a>],
    ) -> BoxFuture<'a, Result<Vec<Vec<KnownRequirement>>, WorkspaceError>> {
        Box::pin(async move {
            let asked: Vec<_> = asked
                .iter()
                .map(|&Asked { job_id, text, before, widely }| plumbline_store::Asked { job_id, text, before, widely })
                .collect();
            let similar = self.ask(|| self.store.similar_requirements(&asked, MAX_COMPARED)).await?;
            Ok(similar.into_iter().map(|like| like.into_iter().map(known).collect()).collect())
        })
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
        Box::pin(async move { Ok(tally(self.ask(|| self.store.validation_tally(self.lease.job_id, recheck)).await?)) })
    }
}

fn held(row: plumbline_store::HeldRequirement) -> HeldRequirement {
    HeldRequirement {
        id: row.id,
        job_id: row.job_id,
        number: row.number,
        candidate_id: row.candidate_id,
        is_ours: row.is_ours,
        text: row.text,
        name: row.name,
        r#type: row.r#type,
        priority: row.priority,
        source_document: row.source_document,
        source_location: row.source_location.map(Value::from),
        gobd_relevant: row.gobd_relevant,
        gdpr_relevant: row.gdpr_relevant,
        citations: row.citations.into(),
        mentioned_objects: row.mentioned_objects.into(),
        mentioned_messages: row.mentioned_messages.into(),
        reasoning: row.reasoning,
        confidence: row.confidence,
        tags: row.tags.into(),
        citations_given: u32::try_from(row.citations_given).unwrap_or(u32::MAX),
        citations_confirmed: u32::try_from(row.citations_confirmed).unwrap_or(u32::MAX),
    }
}

/// A recorded requirement in the form for tools.
pub(crate) fn known(row: SimilarRequirement) -> KnownRequirement {
    KnownRequirement {
        id: row.id,
        job_id: row.job_id,
        number: row.number,
        candidate_id: row.candidate_id,
        name: row.name,
        text: row.text,
        status: row.status,
        graph_node_id: row.graph_node_id,
        place: row.first_quote.and_then(|quote| plumbline_tools::place_of(&Value::from(quote))),
    }
}

fn tally(counted: ValidationTally) -> Tally {
    let number = |count: i64| u64::try_from(count).unwrap_or_default();
    Tally {
        integrated: number(counted.integrated),
        accepted: number(counted.accepted),
        by_rule: number(counted.by_rule),
        rejected: number(counted.rejected),
        failed: number(counted.failed),
        waiting: number(counted.waiting),
        reasons: counted.reasons.into_iter().map(|(reason, count)| (reason, number(count))).collect(),
    }
}

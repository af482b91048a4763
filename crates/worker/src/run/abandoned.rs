//! Requests that a run abandons before their answer is committed: it is paused, cancelled, lost, or its worker leaves.
//! The provider's possible usage is recorded.

use crate::{app::App, clock};
use parking_lot::Mutex;
use plumbline_config::Llm;
use plumbline_engine::{FailureClass, ModelRequest, RequestRecord, Usage};
use plumbline_llm::ModelClient;
use plumbline_store::{Lease, backoff::with_call_timeout};
use std::{sync::Arc, time::Instant};
use tracing::warn;

/// The error of such a request.
const GIVEN_UP: &str =
    "given up before its answer was committed: the job was paused, cancelled or taken from its worker";

/// The requests of a run that are sent but not committed, shared with the code that drops the run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sent(Arc<Mutex<Vec<SentRequest>>>);

#[derive(Debug)]
struct SentRequest {
    record: RequestRecord,
    /// The last step before it that was known to be committed.
    after: i64,
    since: Instant,
}

impl Sent {
    /// A request is sent now, after this step, with this many prompt tokens by our own count.
    pub(crate) fn add(
        &self,
        after: i64,
        request: &ModelRequest<'_>,
        llm: &Llm,
        client: &ModelClient,
        prompt_tokens: u32,
        fallback: bool,
    ) {
        let usage = Usage { prompt_tokens, ..Usage::default() };
        let prices = plumbline_engine::Prices::from(llm.prices);
        let model = client.config().model.clone();
        let record = RequestRecord {
            prompt_tokens,
            estimated: true,
            error: Some(GIVEN_UP.to_owned()),
            failure_class: Some(FailureClass::Abandoned),
            endpoint: Some(client.endpoint().to_owned()),
            fallback,
            cost_microusd: prices.cost_microusd(&usage),
            ..RequestRecord::sent(model, request.purpose, request.attempt, clock::now())
        };
        self.0.lock().push(SentRequest { record, after, since: Instant::now() });
    }

    /// The sent requests are recorded with their step.
    pub(crate) fn committed(&self) {
        self.0.lock().clear();
    }

    /// Records the remaining requests; if the database is unavailable they are lost.
    pub(crate) async fn put_on_record(&self, app: &App, lease: &Lease) {
        let left = std::mem::take(&mut *self.0.lock());
        for SentRequest { mut record, after, since } in left {
            record.duration_ms = i64::try_from(since.elapsed().as_millis()).unwrap_or(i64::MAX);
            if let Err(error) = with_call_timeout(app.store.note_abandoned(lease, after, &record)).await {
                warn!(job.id = %lease.job_id, %error, "could not record an abandoned request");
            }
        }
    }
}

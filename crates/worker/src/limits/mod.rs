//! Limits of models' endpoints, shared by all workers on one database (see `endpoint_limits`).
//!
//! ```text
//! step loop ──acquire──▶ task ──one draw for all that wait──▶ endpoint_limits (GCRA), endpoint_slots
//!     │                   ▲ │
//!     └──settle: used, refused, stated limits┘ └──▶ status_reason of jobs that wait for long
//! ```
//!
//! A [`task`] of this process draws for each endpoint, key and model with a known limit: set in `llm.limits`, stated by
//! the provider, or learnt from a refusal. Endpoints without a known limit skip the database. A draw covers all
//! requests in the [queue](mod@queue), and some future ones, so that a step needs no separate commit here.

mod message;
mod permit;
mod queue;
mod refused_keys;
mod task;
mod waits;
mod window;

pub(crate) use permit::{Answered, Permit, is_waited_for};
pub(crate) use refused_keys::RefusedKeys;

use message::Message;
use parking_lot::Mutex;
use plumbline_config::Llm;
use plumbline_llm::{ModelClient, StatedLimits};
use plumbline_store::backoff::with_call_timeout;
use plumbline_store::{EndpointKey, EndpointLimits, Lease, Store};
use queue::Waiter;
use std::{
    collections::{HashMap, HashSet},
    sync::{Arc, Weak},
    time::Duration,
};
use task::Task;
use tokio::sync::{mpsc, oneshot};
use tracing::warn;
use uuid::Uuid;

/// How often the rows are checked for new endpoints, without a notification.
const LOOK_EVERY: Duration = Duration::from_secs(30);

/// A request to be sent.
#[derive(Debug)]
pub(crate) struct NextRequest {
    /// The lease of its job.
    pub(crate) lease: Lease,
    /// Estimated tokens of the prompt.
    pub(crate) prompt_tokens: u32,
    /// The limits in `llm.limits`.
    pub(crate) configured: EndpointLimits,
    /// Whether that is the current configuration, and not the one stored when the job started.
    pub(crate) is_current: bool,
}

/// The limits of all endpoints that this process uses.
#[derive(Debug)]
pub(crate) struct Limits {
    store: Store,
    worker_id: Uuid,
    /// How long this worker's leases live without a heartbeat.
    lease: Duration,
    /// Endpoints with a row.
    known: Mutex<HashSet<EndpointKey>>,
    tasks: Mutex<HashMap<EndpointKey, mpsc::UnboundedSender<Message>>>,
}

impl Limits {
    /// Starts the search for endpoints with limits.
    pub(crate) fn start(store: Store, worker_id: Uuid, lease: Duration) -> Arc<Self> {
        let limits = Arc::new(Self { store, worker_id, lease, known: Mutex::default(), tasks: Mutex::default() });
        tokio::spawn(look(Arc::downgrade(&limits)));
        limits
    }

    /// Waits until the request may be sent. If dropped while it waits, it has taken nothing. None: no limit is known.
    pub(crate) async fn acquire(&self, key: &EndpointKey, request: NextRequest) -> Option<Permit> {
        if request.configured == EndpointLimits::default() && !self.is_known(key) {
            return None;
        }
        let task = self.task(key);
        let (reply, granted) = oneshot::channel();
        // The task lives as long as this sender.
        let _ = task.send(Message::Waits(Box::new(Waiter::new(request, task.clone(), reply))));
        granted.await.ok()
    }

    /// Records a limit learnt from an answer of an endpoint without a known limit.
    pub(crate) async fn learn(&self, key: &EndpointKey, answered: Answered, stated: StatedLimits) {
        let noted = async {
            if stated.is_any() {
                let [requests, tokens] = [stated.requests_per_minute, stated.tokens_per_minute].map(as_count);
                self.store.learn_endpoint_limits(key, requests, tokens).await?;
            }
            if let Some(refusal) = answered.refusal(stated.is_any()) {
                self.store.block_endpoint(key, &refusal).await?;
            }
            Ok(())
        };
        if !stated.is_any() && answered.refusal(false).is_none() {
            return;
        }
        match with_call_timeout(noted).await {
            Ok(()) => {
                self.known.lock().insert(key.clone());
            }
            Err(error) => warn!(model.endpoint = key.endpoint, %error, "could not store a learned rate limit"),
        }
    }

    /// Whether no endpoint has a limit.
    pub(crate) fn knows_none(&self) -> bool {
        self.known.lock().is_empty()
    }

    fn is_known(&self, key: &EndpointKey) -> bool {
        self.known.lock().contains(key)
    }

    fn task(&self, key: &EndpointKey) -> mpsc::UnboundedSender<Message> {
        let mut tasks = self.tasks.lock();
        let start = || Task::start(self.store.clone(), key.clone(), self.worker_id, self.lease);
        tasks.entry(key.clone()).or_insert_with(start).clone()
    }

    async fn look(&self) -> Result<(), plumbline_store::Error> {
        let found = with_call_timeout(self.store.known_endpoints()).await?;
        let found: HashSet<EndpointKey> = found.into_iter().collect();
        // The task of an endpoint without a row ends if no request waits for it.
        let mut tasks = self.tasks.lock();
        tasks.retain(|key, task| found.contains(key) || task.strong_count() > 1);
        drop(tasks);
        *self.known.lock() = found;
        Ok(())
    }
}

async fn look(limits: Weak<Limits>) {
    let Some(mut changes) = limits.upgrade().map(|limits| limits.store.limits_changed()) else { return };
    while let Some(limits) = limits.upgrade() {
        if let Err(error) = limits.look().await {
            tracing::debug!(%error, "could not read the rate limits of model endpoints");
        }
        drop(limits);
        let _ = tokio::time::timeout(LOOK_EVERY, changes.changed()).await;
    }
}

/// The key of the limits for a client's requests.
pub(crate) fn key_of(client: &ModelClient) -> EndpointKey {
    let config = client.config();
    EndpointKey {
        endpoint: client.endpoint().to_owned(),
        key_name: config.api_key_env.clone(),
        model: config.model.clone(),
    }
}

/// The limits in `llm.limits`.
pub(crate) fn configured(llm: &Llm) -> EndpointLimits {
    EndpointLimits {
        requests_per_minute: llm.limits.requests_per_minute.map(i64::from),
        tokens_per_minute: as_count(llm.limits.tokens_per_minute),
        parallel: llm.limits.parallel.and_then(|parallel| i32::try_from(parallel).ok()),
    }
}

fn as_count(number: Option<u64>) -> Option<i64> {
    number.and_then(|number| i64::try_from(number).ok())
}

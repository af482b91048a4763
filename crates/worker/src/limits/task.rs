//! The task that draws from the limits of one endpoint for all requests of this process.

use super::{
    as_count,
    message::Message,
    permit::Answered,
    queue::{Due, WaitQueue},
    waits::Waits,
};
use plumbline_llm::StatedLimits;
use plumbline_store::backoff::with_call_timeout;
use plumbline_store::{EndpointKey, EndpointLimits, Error, Store};
use plumbline_telemetry::instruments;
use std::time::{Duration, Instant};
use tokio::sync::{mpsc, watch};
use tracing::{debug, info, warn};
use uuid::Uuid;

/// Retry delay after a failed statement.
const AGAIN: Duration = Duration::from_secs(1);

/// The limits of one endpoint, as known to this process.
pub(super) struct Task {
    store: Store,
    key: EndpointKey,
    worker_id: Uuid,
    lease: Duration,
    queue: WaitQueue,
    waits: Waits,
    configured: Option<EndpointLimits>,
    stated: StatedLimits,
    changes: watch::Receiver<u64>,
    failed_at: Option<Instant>,
}

impl Task {
    /// Starts it; it ends with the last sender.
    pub(super) fn start(
        store: Store,
        key: EndpointKey,
        worker_id: Uuid,
        lease: Duration,
    ) -> mpsc::UnboundedSender<Message> {
        let (sender, inbox) = mpsc::unbounded_channel();
        let task = Self {
            changes: store.limits_changed(),
            waits: Waits::new(store.clone()),
            store,
            key,
            worker_id,
            lease,
            queue: WaitQueue::new(Instant::now(), lease),
            configured: None,
            stated: StatedLimits::default(),
            failed_at: None,
        };
        tokio::spawn(task.run(inbox));
        sender
    }

    async fn run(mut self, mut inbox: mpsc::UnboundedReceiver<Message>) {
        loop {
            while let Ok(message) = inbox.try_recv() {
                self.take(message).await;
            }
            self.queue.drop_gone();
            let waits_over = self.queue.admit(Instant::now());
            self.waits.are_over(waits_over);
            self.waits.say(&mut self.queue).await;
            instruments::waits_for_limit(self.queue.len());
            let now = Instant::now();
            let again = self.failed_at.map(|at| at + AGAIN).filter(|again| *again > now);
            let wake = match (self.queue.due(now), again) {
                (Due::Draw, None) => {
                    self.draw().await;
                    continue;
                }
                (Due::Hold, None) => {
                    self.hold_slots().await;
                    continue;
                }
                (Due::Draw | Due::Hold, again) => again,
                (Due::At(at), _) => Some(at),
                (Due::Nothing, _) => None,
            };
            if !self.sleep(wake, &mut inbox).await {
                return;
            }
        }
    }

    /// Sleeps until something is due or happens; false at the end of the process.
    async fn sleep(&mut self, wake: Option<Instant>, inbox: &mut mpsc::UnboundedReceiver<Message>) -> bool {
        let wake = [wake, self.waits.next(&self.queue)].into_iter().flatten().min();
        let pause = async {
            match wake {
                Some(at) => tokio::time::sleep_until(at.into()).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            message = inbox.recv() => match message {
                Some(message) => self.take(message).await,
                None => return false,
            },
            changed = self.changes.changed() => match changed {
                Ok(()) => self.queue.limits_changed(),
                Err(_) => return false,
            },
            () = pause => {}
        }
        true
    }

    async fn take(&mut self, message: Message) {
        match message {
            Message::Waits(waiter) => {
                self.configure(waiter.request.configured, waiter.request.is_current).await;
                self.queue.join(*waiter);
            }
            Message::Ended { reserved, answered, stated } => {
                match answered {
                    Answered::Used { tokens, completion } => self.queue.used(reserved, tokens, completion),
                    Answered::Refused { .. } => self.queue.refused(reserved),
                    Answered::Unknown => self.queue.lost(),
                }
                self.learn(stated).await;
                self.block(answered).await;
            }
        }
    }

    /// Writes the configured limits if they differ from the last ones.
    async fn configure(&mut self, limits: EndpointLimits, is_current: bool) {
        let is_said = limits != EndpointLimits::default();
        let is_news = if is_current { self.configured != Some(limits) } else { self.configured.is_none() };
        if !is_said || !is_news {
            return;
        }
        let set = self.store.set_endpoint_limits(&self.key, limits, is_current);
        if self.noted(with_call_timeout(set).await) {
            self.configured = Some(limits);
        }
    }

    /// Applies limits stated by the provider if they differ from the last ones.
    async fn learn(&mut self, stated: StatedLimits) {
        if !stated.is_any() || stated == self.stated {
            return;
        }
        let [requests, tokens] = [stated.requests_per_minute, stated.tokens_per_minute].map(as_count);
        let learn = self.store.learn_endpoint_limits(&self.key, requests, tokens);
        if self.noted(with_call_timeout(learn).await) {
            self.stated = stated;
        }
    }

    /// Blocks the endpoint for all workers for a time.
    async fn block(&mut self, answered: Answered) {
        let limits = self.queue.limits();
        let names_limits = match limits.tokens_per_minute {
            Some(_) => self.stated.tokens_per_minute.is_some(),
            None => self.stated.requests_per_minute.is_some(),
        };
        let Some(refusal) = answered.refusal(names_limits) else { return };
        info!(
            model.endpoint = self.key.endpoint,
            model.name = self.key.model,
            wait_s = refusal.wait.map(|wait| wait.as_secs()),
            "provider rate limit hit; all workers back off"
        );
        self.queue.limits_changed();
        let block = self.store.block_endpoint(&self.key, &refusal);
        self.noted(with_call_timeout(block).await);
    }

    async fn draw(&mut self) {
        let draw = self.queue.draw(Instant::now());
        match with_call_timeout(self.store.draw_from_endpoint(&self.key, &draw)).await {
            Ok(drawn) => {
                debug!(model.name = self.key.model, ?draw, ?drawn, "drew from the rate limit");
                self.failed_at = None;
                self.queue.drew(&draw, drawn, Instant::now());
            }
            Err(error) => {
                self.queue.not_drawn(&draw);
                self.failed(&error);
            }
        }
    }

    async fn hold_slots(&mut self) {
        let hold = self.queue.hold(Instant::now());
        let held = self.store.hold_endpoint_slots(&self.key, self.worker_id, self.lease, hold.wanted, hold.ended);
        match with_call_timeout(held).await {
            Ok(slots) => {
                self.failed_at = None;
                self.queue.held(hold, slots);
            }
            Err(error) => self.failed(&error),
        }
    }

    fn failed(&mut self, error: &Error) {
        if self.failed_at.is_none() {
            warn!(model.endpoint = self.key.endpoint, %error, "rate-limit draw failed; retrying");
        }
        self.failed_at = Some(Instant::now());
    }

    fn noted(&self, done: Result<(), Error>) -> bool {
        if let Err(error) = &done {
            warn!(model.endpoint = self.key.endpoint, %error, "could not store a learned rate limit");
        }
        done.is_ok()
    }
}

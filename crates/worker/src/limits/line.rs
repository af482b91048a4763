//! The requests of this process that wait for one bucket, and what was drawn for them (`draws`). No clock and no
//! database: what is due when is computed here, and done by the bucket.

mod draws;
#[cfg(test)]
mod tests;

pub(super) use draws::Due;

use super::reserve::{Reserve, SendingRate};
use super::{Permit, Wish, bucket::Message};
use plumbline_store::{Amount, Drawn, EndpointLimits, Lease};
use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};
use tokio::sync::{mpsc, oneshot};

/// For how long an answer of the database is believed: whatever changes is told by a notice, which may be lost.
const FRESH: Duration = Duration::from_secs(10);
/// The same of who else waits for slots.
const FRESH_SLOTS: Duration = Duration::from_secs(1);

/// A request that waits.
#[derive(Debug)]
pub(super) struct Waiter {
    pub(super) wish: Wish,
    pub(super) since: Instant,
    /// Whether its job's row says that it waits.
    pub(super) told: bool,
    reply: oneshot::Sender<Permit>,
    /// Where its permit says how the request ended.
    bucket: mpsc::UnboundedSender<Message>,
    tokens: f64,
    /// Behind what of the bucket it stands.
    position: Option<Amount>,
}

impl Waiter {
    pub(super) fn new(wish: Wish, bucket: mpsc::UnboundedSender<Message>, reply: oneshot::Sender<Permit>) -> Self {
        Self { wish, since: Instant::now(), told: false, reply, bucket, tokens: 0.0, position: None }
    }

    fn amount(&self) -> Amount {
        Amount { requests: 1.0, tokens: self.tokens }
    }
}

/// The last draw's answer.
#[derive(Clone, Copy, Debug)]
struct Seen {
    at: Instant,
    drawn: Drawn,
}

/// All of it.
#[derive(Debug)]
pub(super) struct Line {
    waiting: VecDeque<Waiter>,
    seen: Option<Seen>,
    /// Something has changed since.
    stale: bool,
    tried: Option<Instant>,
    /// Drawn for requests to come.
    spare: Amount,
    spare_at: Instant,
    /// Places in line for requests to come, where there is a line.
    reserve: Option<Reserve>,
    sending: SendingRate,
    corrected: Amount,
    spent: Amount,
    in_use: i32,
    /// Slots that may be in use.
    slots: i32,
    /// Tokens of an answer, and of a request, as they usually are.
    usual_answer: f64,
    usual_request: f64,
}

impl Line {
    pub(super) fn new(now: Instant) -> Self {
        Self {
            waiting: VecDeque::new(),
            seen: None,
            stale: false,
            tried: None,
            spare: Amount::default(),
            spare_at: now,
            reserve: None,
            sending: SendingRate::new(now),
            corrected: Amount::default(),
            spent: Amount::default(),
            in_use: 0,
            slots: 0,
            usual_answer: 500.0,
            usual_request: 0.0,
        }
    }

    /// How many wait.
    pub(super) fn len(&self) -> usize {
        self.waiting.len()
    }

    /// Puts a request at the end.
    pub(super) fn join(&mut self, mut waiter: Waiter) {
        waiter.tokens = f64::from(waiter.wish.prompt_tokens) + self.usual_answer;
        waiter.position = self.reserve.as_mut().and_then(|reserve| reserve.take(waiter.amount()));
        self.waiting.push_back(waiter);
    }

    /// A request has ended, with so many tokens in all and in its answer.
    pub(super) fn used(&mut self, reserved: f64, tokens: f64, answer: f64) {
        self.ended();
        self.corrected.tokens += tokens - reserved;
        self.spent.requests += 1.0;
        self.spent.tokens += tokens;
        self.usual_answer += (answer - self.usual_answer) / 8.0;
        self.usual_request += (tokens - self.usual_request) / if self.usual_request > 0.0 { 8.0 } else { 1.0 };
    }

    /// A request was refused: it used nothing.
    pub(super) fn refused(&mut self, reserved: f64) {
        self.ended();
        self.give_back(Amount { requests: 1.0, tokens: reserved });
    }

    /// A request has ended, nobody knows how.
    pub(super) fn lost(&mut self, reserved: f64) {
        self.ended();
        self.spent.requests += 1.0;
        self.spent.tokens += reserved;
    }

    fn ended(&mut self) {
        self.in_use -= 1;
        // Whoever else waits has the next turn.
        if self.seen.is_some_and(|seen| seen.drawn.contested) {
            self.slots = self.slots.min(self.in_use);
        }
    }

    fn give_back(&mut self, amount: Amount) {
        self.corrected.requests -= amount.requests;
        self.corrected.tokens -= amount.tokens;
    }

    /// What was seen holds no longer.
    pub(super) fn forget_seen(&mut self) {
        self.stale = true;
        let spare = std::mem::take(&mut self.spare);
        self.give_back(spare);
    }

    /// The limits that were seen last.
    pub(super) fn limits(&self) -> EndpointLimits {
        self.seen.map(|seen| seen.drawn.limits).unwrap_or_default()
    }

    /// Requests that nobody waits for any more leave the line.
    pub(super) fn drop_gone(&mut self) {
        let (gone, waiting) =
            std::mem::take(&mut self.waiting).into_iter().partition(|waiter| waiter.reply.is_closed());
        self.waiting = waiting;
        let gone: VecDeque<Waiter> = gone;
        for waiter in gone.iter().filter(|waiter| waiter.position.is_some()) {
            self.give_back(waiter.amount());
        }
    }

    /// Lets all go whose turn it is; those of which it was told that they wait.
    pub(super) fn admit(&mut self, now: Instant) -> Vec<Lease> {
        let mut told = Vec::new();
        let mut left = VecDeque::new();
        for mut waiter in std::mem::take(&mut self.waiting) {
            if !self.takes(&mut waiter, now) {
                left.push_back(waiter);
                continue;
            }
            let amount = waiter.amount();
            self.in_use += 1;
            self.sending.sent(now);
            if waiter.told {
                told.push(waiter.wish.lease);
            }
            // On its way to a job that no longer waits, it is dropped, and settled by that.
            if let Err(unused) = waiter.reply.send(Permit::new(waiter.bucket, amount.tokens)) {
                unused.cancel();
                self.in_use -= 1;
                self.give_back(amount);
            }
        }
        self.waiting = left;
        told
    }

    /// Whether it may go now; what it needs is taken then.
    fn takes(&mut self, waiter: &mut Waiter, now: Instant) -> bool {
        if !self.is_fresh(now) || !self.has_slot(now) {
            return false;
        }
        match waiter.position {
            Some(position) => self.ready_at(position, waiter.tokens).is_some_and(|ready| ready <= now),
            None => self.takes_spare(waiter, now),
        }
    }

    fn takes_spare(&mut self, waiter: &mut Waiter, now: Instant) -> bool {
        let (limits, amount) = (self.limits(), waiter.amount());
        let is_there = |limit: Option<i64>, spare: f64, needed: f64| limit.is_none() || spare >= needed;
        let enough = is_there(limits.requests_per_minute, self.spare.requests, amount.requests)
            && is_there(limits.tokens_per_minute, self.spare.tokens, amount.tokens)
            && self.blocked_until().is_none_or(|until| until <= now);
        if enough {
            self.spare.requests -= amount.requests.min(self.spare.requests);
            self.spare.tokens -= amount.tokens.min(self.spare.tokens);
        }
        enough
    }

    fn is_fresh(&self, now: Instant) -> bool {
        !self.stale && self.seen.is_some_and(|seen| now.saturating_duration_since(seen.at) <= FRESH)
    }

    fn has_slot(&self, now: Instant) -> bool {
        if self.limits().parallel.is_none() {
            return true;
        }
        let is_fresh = self.seen.is_some_and(|seen| now.saturating_duration_since(seen.at) <= FRESH_SLOTS);
        is_fresh && self.in_use < self.slots
    }

    fn blocked_until(&self) -> Option<Instant> {
        self.seen.map(|seen| seen.at + seen.drawn.refilled_in)
    }

    /// When a request at this position may go, as far as is known; see `draw_from_endpoint` for the rule.
    fn ready_at(&self, position: Amount, tokens: f64) -> Option<Instant> {
        let Seen { drawn, .. } = self.seen?;
        let wait = |limit: Option<i64>, position: f64, released: f64, size: f64, least: f64| {
            let Some(limit) = limit else { return 0.0 };
            let rate = 0.9 * limit as f64 / 60.0;
            let beyond_capacity = (size - rate.max(least)).max(0.0);
            ((position - beyond_capacity - released) / rate).max(0.0)
        };
        let of_requests = wait(drawn.limits.requests_per_minute, position.requests, drawn.released.requests, 1.0, 1.0);
        let of_tokens = wait(drawn.limits.tokens_per_minute, position.tokens, drawn.released.tokens, tokens, 0.0);
        Some(self.blocked_until()? + Duration::from_secs_f64(of_requests.max(of_tokens).min(1e6)))
    }

    /// Those that have waited for so long.
    pub(super) fn waiting_longer_than(&mut self, wait: Duration, now: Instant) -> impl Iterator<Item = &mut Waiter> {
        self.waiting.iter_mut().filter(move |waiter| now.saturating_duration_since(waiter.since) >= wait)
    }

    /// When the next of them will have waited for so long.
    pub(super) fn next_to_tell(&self, wait: Duration) -> Option<Instant> {
        self.waiting.iter().filter(|waiter| !waiter.told).map(|waiter| waiter.since + wait).min()
    }
}

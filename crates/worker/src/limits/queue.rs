//! The queue of this process's requests for one endpoint, and the draws for them. It has no clock and no database
//! access: due times are computed here, and the endpoint's task acts on them.

mod slots;
#[cfg(test)]
mod tests;

use super::{NextRequest, Permit, message::Message, window::Window};
use plumbline_store::{Amount, Draw, Drawn, EndpointLimits, Lease};
use slots::SlotsHeld;
use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};
use tokio::sync::{mpsc, oneshot};

pub(super) use slots::Hold;

/// Minimum time between two draws of one process.
const GAP: Duration = Duration::from_millis(150);
/// Time after which corrections are written if there is no other draw.
const REPORT: Duration = Duration::from_secs(5);
/// How far ahead a process draws, at its sending rate: so that not every queued request needs its own draw.
const AHEAD_FOR: Duration = Duration::from_secs(4);
/// Maximum requests drawn ahead, within a quarter of the burst: for a job with occasional requests.
const AHEAD: f64 = 8.0;
/// Time after which they are given back, from when all of them could have been used.
const UNUSED: Duration = Duration::from_secs(8);

/// A waiting request.
#[derive(Debug)]
pub(super) struct Waiter {
    pub(super) request: NextRequest,
    pub(super) since: Instant,
    /// Whether its job's row shows that it waits.
    pub(super) is_said: bool,
    reply: oneshot::Sender<Permit>,
    /// Where its permit reports how the request ended.
    task: mpsc::UnboundedSender<Message>,
    tokens: f64,
    /// When it may be sent; none until something was drawn for it.
    ready: Option<Instant>,
}

impl Waiter {
    pub(super) fn new(
        request: NextRequest,
        task: mpsc::UnboundedSender<Message>,
        reply: oneshot::Sender<Permit>,
    ) -> Self {
        Self { request, since: Instant::now(), is_said: false, reply, task, tokens: 0.0, ready: None }
    }

    fn amount(&self) -> Amount {
        Amount { requests: 1.0, tokens: self.tokens }
    }
}

/// What is due next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Due {
    /// A draw.
    Draw,
    /// A request for slots.
    Hold,
    /// Nothing before this time.
    At(Instant),
    /// Nothing until an event.
    Nothing,
}

/// The queue of an endpoint.
#[derive(Debug)]
pub(super) struct WaitQueue {
    waiting: VecDeque<Waiter>,
    window: Option<Window>,
    /// The last draw, and its result.
    drew_at: Option<Instant>,
    seen: Drawn,
    corrected: Amount,
    slots: SlotsHeld,
    sending: SendingRate,
    /// Usual tokens of an answer, and of a request.
    usual_answer: f64,
    usual_request: f64,
}

impl WaitQueue {
    /// For a worker whose slots expire after `lease`.
    pub(super) fn new(now: Instant, lease: Duration) -> Self {
        Self {
            waiting: VecDeque::new(),
            window: None,
            drew_at: None,
            seen: Drawn::default(),
            corrected: Amount::default(),
            slots: SlotsHeld::new(lease),
            sending: SendingRate { rate: 0.0, at: now },
            usual_answer: 500.0,
            usual_request: 0.0,
        }
    }

    /// Number of waiting requests.
    pub(super) fn len(&self) -> usize {
        self.waiting.len()
    }

    /// The limits seen last.
    pub(super) fn limits(&self) -> EndpointLimits {
        self.seen.limits
    }

    /// Appends a request.
    pub(super) fn join(&mut self, mut waiter: Waiter) {
        waiter.tokens = (f64::from(waiter.request.prompt_tokens) + self.usual_answer).round();
        // If earlier requests still wait for a draw, this one waits for a draw too.
        let is_next = self.waiting.iter().all(|other| other.ready.is_some());
        waiter.ready = self.window.as_mut().filter(|_| is_next).and_then(|window| window.take(waiter.tokens));
        self.waiting.push_back(waiter);
    }

    /// A request has ended, with this many tokens in total and in its answer.
    pub(super) fn used(&mut self, reserved: f64, tokens: f64, answer: f64) {
        self.slots.ended();
        self.corrected.tokens += tokens - reserved;
        self.usual_answer += (answer - self.usual_answer) / 8.0;
        self.usual_request += (tokens - self.usual_request) / if self.usual_request > 0.0 { 8.0 } else { 1.0 };
    }

    /// A request was refused: it used nothing.
    pub(super) fn refused(&mut self, reserved: f64) {
        self.slots.ended();
        self.give_back(Amount { requests: 1.0, tokens: reserved });
    }

    /// A request has ended, and whether the provider counted it is unknown: it counts.
    pub(super) fn lost(&mut self) {
        self.slots.ended();
    }

    fn give_back(&mut self, amount: Amount) {
        self.corrected.requests -= amount.requests;
        self.corrected.tokens -= amount.tokens;
    }

    /// The limits have changed, or a block has begun: everything is given back and drawn again.
    pub(super) fn limits_changed(&mut self) {
        let mut back = self.window.take().map(|window| window.left()).unwrap_or_default();
        for waiter in &mut self.waiting {
            if waiter.ready.take().is_some() {
                back = Amount { requests: back.requests + 1.0, tokens: back.tokens + waiter.tokens };
            }
        }
        self.give_back(back);
    }

    /// Removes requests whose jobs no longer wait.
    pub(super) fn drop_gone(&mut self) {
        let (gone, waiting): (VecDeque<Waiter>, VecDeque<Waiter>) =
            std::mem::take(&mut self.waiting).into_iter().partition(|waiter| waiter.reply.is_closed());
        self.waiting = waiting;
        for waiter in gone.iter().filter(|waiter| waiter.ready.is_some()) {
            self.give_back(waiter.amount());
        }
    }

    /// Admits all due requests; returns those whose rows show that they wait.
    pub(super) fn admit(&mut self, now: Instant) -> Vec<Lease> {
        let mut said = Vec::new();
        let mut left = VecDeque::new();
        for waiter in std::mem::take(&mut self.waiting) {
            let is_ready = waiter.ready.is_some_and(|ready| ready <= now);
            if !is_ready || !self.slots.take(self.seen.limits.parallel, now) {
                left.push_back(waiter);
                continue;
            }
            self.sending.sent(now);
            said.extend(waiter.is_said.then_some(waiter.request.lease));
            let amount = waiter.amount();
            // If the job no longer waits, the undelivered permit is returned unused.
            if let Err(unused) = waiter.reply.send(permit(waiter.task, amount.tokens)) {
                unused.cancel();
                self.slots.ended();
                self.give_back(amount);
            }
        }
        self.waiting = left;
        said
    }

    /// The next action.
    pub(super) fn due(&self, now: Instant) -> Due {
        let draw = self.draw_at(now);
        let hold = self.hold_at(now);
        let ready = self.waiting.iter().filter_map(|waiter| waiter.ready).filter(|ready| *ready > now).min();
        match (draw, hold) {
            (Some(at), _) if at <= now => Due::Draw,
            (_, Some(at)) if at <= now => Due::Hold,
            _ => [draw, hold, ready].into_iter().flatten().min().map_or(Due::Nothing, Due::At),
        }
    }

    fn draw_at(&self, now: Instant) -> Option<Instant> {
        let after = |pause: Duration| self.drew_at.map_or(now, |drew| drew + pause);
        let is_short = self.waiting.iter().any(|waiter| waiter.ready.is_none());
        let has_more = self.window.is_some_and(|window| window.left() != Amount::default());
        [
            is_short.then(|| after(GAP)),
            (self.corrected != Amount::default()).then(|| after(REPORT)),
            self.window.filter(|_| has_more).map(|window| (window.end() + UNUSED).max(after(GAP))),
        ]
        .into_iter()
        .flatten()
        .min()
    }

    /// The current draw: for all waiting requests and some future ones; unused parts are given back.
    pub(super) fn draw(&mut self, now: Instant) -> Draw {
        self.drew_at = Some(now);
        let left = self.window.take().map(|window| window.left()).unwrap_or_default();
        self.give_back(left);
        let mut cost = Amount::default();
        for waiter in self.waiting.iter().filter(|waiter| waiter.ready.is_none()) {
            cost = Amount { requests: cost.requests + 1.0, tokens: cost.tokens + waiter.tokens };
        }
        if cost.requests > 0.0 {
            let ahead = self.ahead(now);
            cost.requests += ahead;
            cost.tokens += (ahead * self.usual_request).round();
        }
        Draw { cost, corrected: std::mem::take(&mut self.corrected) }
    }

    /// Number of requests to draw in addition to the waiting ones.
    fn ahead(&self, now: Instant) -> f64 {
        let Drawn { period_s, burst_s, .. } = self.seen;
        let request_s = period_s.requests.max(period_s.tokens * self.usual_request);
        let room = if request_s > 0.0 { burst_s / 4.0 / request_s } else { AHEAD };
        self.sending.within(AHEAD_FOR, now).max(room.min(AHEAD)).floor()
    }

    /// Applies a draw. None: there is no limit any more, and all requests may be sent.
    pub(super) fn drew(&mut self, draw: &Draw, drawn: Option<Drawn>, now: Instant) {
        self.seen = drawn.unwrap_or_default();
        let mut window = Window::new(self.seen, draw.cost, now);
        for waiter in self.waiting.iter_mut().filter(|waiter| waiter.ready.is_none()) {
            waiter.ready = window.take(waiter.tokens);
        }
        self.window = Some(window);
    }

    /// A draw has failed: its corrections are added to the next one.
    pub(super) fn not_drawn(&mut self, draw: &Draw) {
        self.corrected.requests += draw.corrected.requests;
        self.corrected.tokens += draw.corrected.tokens;
    }

    fn hold_at(&self, now: Instant) -> Option<Instant> {
        self.seen.limits.parallel?;
        self.slots.due(self.ripe(now), now)
    }

    /// The current request for slots.
    pub(super) fn hold(&mut self, now: Instant) -> Hold {
        self.slots.hold(self.ripe(now), now)
    }

    /// Applies the answer; none: there is no such limit any more.
    pub(super) fn held(&mut self, hold: Hold, slots: Option<plumbline_store::Slots>) {
        match slots {
            Some(slots) => self.slots.held(hold, slots),
            None => self.seen.limits.parallel = None,
        }
    }

    /// Number of requests that wait only for a slot.
    fn ripe(&self, now: Instant) -> i32 {
        let ripe = self.waiting.iter().filter(|waiter| waiter.ready.is_some_and(|ready| ready <= now)).count();
        i32::try_from(ripe).unwrap_or(i32::MAX / 2)
    }

    /// The requests that have waited for at least this time.
    pub(super) fn waiting_longer_than(&mut self, wait: Duration, now: Instant) -> impl Iterator<Item = &mut Waiter> {
        self.waiting.iter_mut().filter(move |waiter| now.saturating_duration_since(waiter.since) >= wait)
    }

    /// When the next request will have waited this long without its row showing it.
    pub(super) fn next_status_due(&self, wait: Duration) -> Option<Instant> {
        self.waiting.iter().filter(|waiter| !waiter.is_said).map(|waiter| waiter.since + wait).min()
    }
}

/// The recent sending rate of a process.
#[derive(Clone, Copy, Debug)]
struct SendingRate {
    /// Requests per second, at that time.
    rate: f64,
    at: Instant,
}

impl SendingRate {
    /// The averaging period.
    const OVER: Duration = Duration::from_secs(5);

    fn sent(&mut self, now: Instant) {
        self.rate = self.faded(now) + 1.0 / Self::OVER.as_secs_f64();
        self.at = now;
    }

    /// Expected number of requests within a time.
    fn within(&self, time: Duration, now: Instant) -> f64 {
        self.faded(now) * time.as_secs_f64()
    }

    fn faded(&self, now: Instant) -> f64 {
        self.rate * (-now.saturating_duration_since(self.at).as_secs_f64() / Self::OVER.as_secs_f64()).exp()
    }
}

/// A permit that reports to the endpoint's task. If the task is gone, it ended with the worker.
fn permit(task: mpsc::UnboundedSender<Message>, reserved: f64) -> Permit {
    Permit::new(move |answered, stated| drop(task.send(Message::Ended { reserved, answered, stated })))
}

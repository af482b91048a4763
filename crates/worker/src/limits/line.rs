//! The requests of this process that wait for one bucket, and what was drawn for them. No clock and no database: what is
//! due when is computed here, and done by the bucket.

use super::reserve::{Reserve, SendingRate};
use super::{Permit, Wish, bucket::Message};
use plumbline_store::{Amount, Draw, Drawn, EndpointLimits, Lease};
use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};
use tokio::sync::{mpsc, oneshot};

/// For how long an answer of the database is believed: whatever changes is told by a notice, which may be lost.
const FRESH: Duration = Duration::from_secs(10);
/// The same of who else waits for slots.
const FRESH_SLOTS: Duration = Duration::from_secs(1);
/// Draws of one process are as far apart at least.
const GAP: Duration = Duration::from_millis(150);
/// The same of draws for slots that were not there.
const SLOT_GAP: Duration = Duration::from_millis(300);
/// After how long what was really used is told, if nothing else is to be drawn.
const REPORT: Duration = Duration::from_secs(5);
/// For how long places in line are drawn ahead, at the rate at which this process sends.
const AHEAD_FOR: Duration = Duration::from_secs(4);
/// After how long such places are given back, from when they might have been used.
const UNUSED: Duration = Duration::from_secs(3);
/// Requests that are drawn ahead where there is no line, at least.
const AHEAD: f64 = 8.0;

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

/// What is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Due {
    Draw,
    At(Instant),
    Nothing,
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

    /// What is to be done next.
    pub(super) fn due(&self, now: Instant) -> Due {
        let Some(at) = self.draw_at(now) else { return Due::Nothing };
        if at <= now { Due::Draw } else { Due::At(at) }
    }

    /// Whether more is drawn than there is.
    fn is_in_line(&self) -> bool {
        let Some(Seen { drawn, .. }) = self.seen else { return false };
        let is_less = |limit: Option<i64>, released: f64, position: f64| limit.is_some() && released < position;
        is_less(drawn.limits.requests_per_minute, drawn.released.requests, drawn.position.requests)
            || is_less(drawn.limits.tokens_per_minute, drawn.released.tokens, drawn.position.tokens)
    }

    /// When to draw, or to look again whose turn it is.
    fn draw_at(&self, now: Instant) -> Option<Instant> {
        let after = |pause: Duration| self.tried.map_or(now, |tried| tried + pause);
        let ripe: Vec<Option<Instant>> = self.waiting.iter().map(|waiter| self.ripe_at(waiter)).collect();
        let mut times = Vec::new();
        if ripe.contains(&None) || (self.stale && !ripe.is_empty()) {
            times.push(after(GAP));
        }
        // Who is ripe and still here lacks a slot, or a fresh look.
        let waits_for_slot = self.is_fresh(now);
        for at in ripe.into_iter().flatten() {
            times.push(at.max(after(if waits_for_slot && at <= now { SLOT_GAP } else { GAP })));
        }
        if self.limits().parallel.is_some() && self.slots > self.in_use {
            times.push(after(FRESH_SLOTS));
        }
        let to_tell = self.seen.is_some() && (self.spent != Amount::default() || self.corrected != Amount::default());
        if to_tell {
            times.push(after(REPORT));
        }
        let end = self.reserve.as_ref().and_then(|reserve| self.ready_at(reserve.end(), 0.0));
        times.extend(end.map(|end| (end + UNUSED).max(after(GAP))));
        if self.spare != Amount::default() {
            times.push((self.spare_at + FRESH).max(after(GAP)));
        }
        times.into_iter().min()
    }

    /// When a request is ready by what was drawn for it; none where nothing was.
    fn ripe_at(&self, waiter: &Waiter) -> Option<Instant> {
        self.ready_at(waiter.position?, waiter.tokens)
    }

    /// What is drawn now.
    pub(super) fn draw(&mut self, now: Instant) -> Draw {
        self.tried = Some(now);
        let spare = std::mem::take(&mut self.spare);
        self.give_back(spare);
        let is_short = self.waiting.iter().any(|waiter| waiter.position.is_none());
        let is_unused = |reserve: &Reserve| self.ready_at(reserve.end(), 0.0).is_none_or(|end| end + UNUSED <= now);
        if self.reserve.as_ref().is_some_and(|reserve| is_short || is_unused(reserve)) {
            let left = self.reserve.take().map(|reserve| reserve.left()).unwrap_or_default();
            self.give_back(left);
        }
        let new = self.waiting.iter().filter(|waiter| waiter.position.is_none());
        let mut needed = new.fold(Amount::default(), |sum, waiter| Amount {
            requests: sum.requests + 1.0,
            tokens: sum.tokens + waiter.tokens,
        });
        if is_short && self.is_in_line() {
            let ahead = self.sending.within(AHEAD_FOR, now).round();
            needed.requests += ahead;
            needed.tokens += ahead * self.usual_request;
        }
        let soon = now + SLOT_GAP;
        let ripe = |waiter: &&Waiter| self.ripe_at(waiter).is_none_or(|at| at <= soon);
        let asked = self.waiting.iter().filter(ripe).count();
        let is_used = needed.requests > 0.0 || spare.requests < AHEAD / 2.0 && self.spent.requests > 0.0;
        let ahead = if is_used { AHEAD.max(2.0 * self.spent.requests) } else { 0.0 };
        Draw {
            needed,
            spare: Amount { requests: ahead, tokens: ahead * self.usual_request },
            corrected: self.corrected,
            spent: self.spent,
            slots_in_use: self.in_use,
            slots_asked: self.in_use + i32::try_from(asked).unwrap_or(i32::MAX / 2),
        }
    }

    /// Takes over what was drawn. None: there is no limit any more, and all may go.
    pub(super) fn drew(&mut self, draw: &Draw, drawn: Option<Drawn>, now: Instant) {
        (self.corrected, self.spent, self.stale) = (Amount::default(), Amount::default(), false);
        let free = Drawn {
            limits: EndpointLimits::default(),
            position: draw.needed,
            released: draw.needed,
            given: Amount::default(),
            refilled_in: Duration::ZERO,
            slots: None,
            contested: false,
        };
        let drawn = drawn.unwrap_or(free);
        let mut at = Amount {
            requests: drawn.position.requests - draw.needed.requests,
            tokens: drawn.position.tokens - draw.needed.tokens,
        };
        // Nobody stands behind the end: what others gave back has moved it, or the row is a new one.
        for position in self.waiting.iter_mut().filter_map(|waiter| waiter.position.as_mut()) {
            position.requests = position.requests.min(at.requests);
            position.tokens = position.tokens.min(at.tokens);
        }
        self.reserve = self.reserve.take().and_then(|reserve| reserve.not_behind(at));
        for waiter in self.waiting.iter_mut().filter(|waiter| waiter.position.is_none()) {
            at = Amount { requests: at.requests + 1.0, tokens: at.tokens + waiter.tokens };
            waiter.position = Some(at);
        }
        if draw.needed != Amount::default() {
            self.reserve = Reserve::between(at, drawn.position);
        }
        (self.spare, self.spare_at) = (drawn.given, now);
        self.slots = drawn.slots.unwrap_or(i32::MAX);
        self.seen = Some(Seen { at: now, drawn });
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

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    fn join(line: &mut Line, prompt_tokens: u32) -> oneshot::Receiver<Permit> {
        let lease = Lease { job_id: Uuid::now_v7(), epoch: 1 };
        let wish = Wish { lease, prompt_tokens, configured: EndpointLimits::default(), is_current: true };
        let (reply, granted) = oneshot::channel();
        line.join(Waiter::new(wish, mpsc::unbounded_channel().0, reply));
        granted
    }

    /// 900 tokens a second.
    fn drawn(position: f64, released: f64) -> Drawn {
        Drawn {
            limits: EndpointLimits { tokens_per_minute: Some(60_000), ..EndpointLimits::default() },
            position: Amount { requests: position / 1000.0, tokens: position },
            released: Amount { requests: position / 1000.0, tokens: released },
            given: Amount::default(),
            refilled_in: Duration::ZERO,
            slots: None,
            contested: false,
        }
    }

    #[test]
    fn one_draw_is_for_all_and_they_go_in_their_order() {
        let now = Instant::now();
        let mut line = Line::new(now);
        let mut waiting = [400, 400, 400].map(|tokens| join(&mut line, tokens));
        assert_eq!(line.due(now), Due::Draw);
        let draw = line.draw(now);
        assert_eq!(draw.needed, Amount { requests: 3.0, tokens: 2_700.0 });
        line.drew(&draw, Some(drawn(2_700.0, 900.0)), now);
        let mut gone = |line: &mut Line, after: u64| {
            line.admit(now + Duration::from_millis(after));
            waiting.iter_mut().filter_map(|granted| granted.try_recv().ok()).count()
        };
        assert_eq!([0, 900, 1_100, 2_100].map(|after| gone(&mut line, after)), [1, 0, 1, 1]);
        assert_eq!(line.len(), 0);
    }

    #[test]
    fn a_block_and_a_change_are_waited_for_and_looked_at() {
        let now = Instant::now();
        let mut line = Line::new(now);
        let mut granted = join(&mut line, 100);
        let draw = line.draw(now);
        line.drew(&draw, Some(Drawn { refilled_in: Duration::from_secs(5), ..drawn(600.0, 900.0) }), now);
        line.admit(now + Duration::from_secs(4));
        assert!(granted.try_recv().is_err());
        assert_eq!(line.due(now), Due::At(now + Duration::from_secs(5)));
        line.forget_seen();
        let later = now + Duration::from_secs(6);
        line.admit(later);
        assert!(granted.try_recv().is_err(), "what was seen holds no longer");
        assert_eq!(line.due(later), Due::Draw);
        let draw = line.draw(later);
        assert_eq!(draw.needed, Amount::default(), "it stands in line already");
        line.drew(&draw, Some(drawn(600.0, 600.0)), later);
        line.admit(later);
        assert!(granted.try_recv().is_ok());
    }

    #[test]
    fn what_was_drawn_ahead_serves_without_a_draw_and_goes_back_unused() {
        let now = Instant::now();
        let mut line = Line::new(now);
        let first = join(&mut line, 500);
        let draw = line.draw(now);
        let given = Amount { requests: 8.0, tokens: 5_000.0 };
        line.drew(&draw, Some(Drawn { given, ..drawn(1_000.0, 8_000.0) }), now);
        line.admit(now);
        let mut second = join(&mut line, 500);
        line.admit(now + Duration::from_secs(3));
        assert!(second.try_recv().is_ok());
        drop(first);
        let draw = line.draw(now + Duration::from_secs(30));
        assert_eq!(draw.corrected, Amount { requests: -7.0, tokens: -4_000.0 });
    }

    #[test]
    fn a_slot_that_others_wait_for_is_not_used_again() {
        let now = Instant::now();
        let mut line = Line::new(now);
        let limits = EndpointLimits { parallel: Some(2), ..EndpointLimits::default() };
        let seen = |slots, contested| Drawn { limits, slots: Some(slots), contested, ..drawn(0.0, 0.0) };
        let mut waiting = [1, 1, 1].map(|tokens| join(&mut line, tokens));
        let draw = line.draw(now);
        assert_eq!((draw.slots_in_use, draw.slots_asked), (0, 3));
        line.drew(&draw, Some(seen(1, true)), now);
        line.admit(now);
        line.used(1.0, 1.0, 1.0);
        line.admit(now);
        assert_eq!(waiting.iter_mut().filter_map(|granted| granted.try_recv().ok()).count(), 1);
        let draw = line.draw(now);
        assert_eq!((draw.slots_in_use, draw.slots_asked), (0, 2));
        line.drew(&draw, Some(seen(1, false)), now);
        line.admit(now);
        line.used(1.0, 1.0, 1.0);
        line.admit(now);
        assert_eq!(line.len(), 0, "nobody else wants it: it serves twice");
    }

    #[test]
    fn who_gives_up_gives_back_what_was_drawn() {
        let now = Instant::now();
        let mut line = Line::new(now);
        let waiting = join(&mut line, 500);
        let draw = line.draw(now);
        line.drew(&draw, Some(drawn(1_000.0, 0.0)), now);
        drop(waiting);
        line.drop_gone();
        assert_eq!((line.len(), line.draw(now).corrected), (0, Amount { requests: -1.0, tokens: -1_000.0 }));
    }
}

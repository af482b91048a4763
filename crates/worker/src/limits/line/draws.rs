//! When a line draws, and what: enough for all that wait, something ahead, and what was used since.

use super::{FRESH, FRESH_SLOTS, Line, Seen, Waiter};
use crate::limits::reserve::Reserve;
use plumbline_store::{Amount, Draw, Drawn, EndpointLimits};
use std::time::{Duration, Instant};

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

/// What is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::limits) enum Due {
    Draw,
    At(Instant),
    Nothing,
}

impl Line {
    /// What is to be done next.
    pub(in crate::limits) fn due(&self, now: Instant) -> Due {
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
    pub(in crate::limits) fn draw(&mut self, now: Instant) -> Draw {
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
    pub(in crate::limits) fn drew(&mut self, draw: &Draw, drawn: Option<Drawn>, now: Instant) {
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
}

//! This process's slots of an endpoint with a limit on parallel requests.

use plumbline_store::Slots;
use std::time::{Duration, Instant};

/// Minimum time between two requests for slots.
const GAP: Duration = Duration::from_millis(100);
/// Time after which unavailable slots are requested again.
const AGAIN: Duration = Duration::from_millis(300);
/// How long an answer is considered valid: the granted slots, and that no other worker waits.
const FRESH: Duration = Duration::from_secs(1);

/// A request for slots: rows for this many requests, after this many have ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::limits) struct Hold {
    pub(in crate::limits) wanted: i32,
    pub(in crate::limits) ended: i32,
}

#[derive(Debug)]
pub(super) struct SlotsHeld {
    lease: Duration,
    /// Requests in flight.
    in_use: i32,
    /// Requests ended since the last answer while other workers waited: their slots belong to the others.
    ended: i32,
    /// Rows of this worker.
    rows: i32,
    seen: Option<Slots>,
    looked_at: Option<Instant>,
}

impl SlotsHeld {
    pub(super) fn new(lease: Duration) -> Self {
        Self { lease, in_use: 0, ended: 0, rows: 0, seen: None, looked_at: None }
    }

    /// Takes a slot for a request, if one is free; without a limit there always is.
    pub(super) fn take(&mut self, limit: Option<i32>, now: Instant) -> bool {
        let is_fresh = self.looked_at.is_some_and(|at| now.saturating_duration_since(at) <= FRESH);
        let granted = self.seen.map_or(0, |seen| seen.granted - self.ended);
        let is_free = limit.is_none() || is_fresh && self.in_use < granted;
        self.in_use += i32::from(is_free);
        is_free
    }

    /// A request has ended.
    pub(super) fn ended(&mut self) {
        self.in_use -= 1;
        if self.seen.is_some_and(|seen| seen.contested) {
            self.ended += 1;
        }
    }

    /// When to request slots, with this many requests that are ready to be sent.
    pub(super) fn due(&self, ripe: i32, now: Instant) -> Option<Instant> {
        let after = |pause: Duration| self.looked_at.map_or(now, |at| at + pause);
        let wanted = self.in_use + ripe;
        let pause = if self.ended > 0 || wanted > self.rows {
            GAP
        } else if ripe > 0 {
            AGAIN
        } else if self.rows > wanted {
            FRESH
        } else if self.rows > 0 {
            self.lease / 3
        } else {
            return None;
        };
        Some(after(pause))
    }

    pub(super) fn hold(&mut self, ripe: i32, now: Instant) -> Hold {
        self.looked_at = Some(now);
        Hold { wanted: self.in_use + ripe, ended: self.ended }
    }

    pub(super) fn held(&mut self, hold: Hold, slots: Slots) {
        self.ended -= hold.ended;
        self.rows = hold.wanted;
        self.seen = Some(slots);
    }
}

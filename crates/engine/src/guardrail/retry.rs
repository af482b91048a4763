//! Retries of model calls, decided only here. The job waits in place for a short backoff; a longer one parks it, which
//! frees the worker and survives a restart.

use crate::{Failure, FailureClass};
use chrono::{DateTime, TimeDelta, Utc};

/// The first park time.
const PARK_FIRST_S: f64 = 30.0;
/// The maximum park time.
const PARK_MOST_S: f64 = 3600.0;
/// The park time of a job whose key was rejected.
const KEY_S: f64 = 300.0;
/// After this time without an answer the job fails, unless the worker has another setting.
const MOST: TimeDelta = TimeDelta::hours(24);
/// A `Retry-After` of at most this many seconds is waited for in place.
const IN_PLACE_MOST_S: u64 = 15;
/// Retries in place of calls whose service is unavailable, before the job is parked.
pub(crate) const OUTAGE_IN_PLACE: u32 = 2;
/// Consecutive failures that waiting is unlikely to resolve, before the job fails: answers that cannot be decoded,
/// because waiting does not change a decoder, and refusals of requests although similar ones were answered. A model
/// that garbles every third answer reaches this limit about once in ten thousand answers.
const DOUBTFUL_MOST: u32 = 8;
/// Consecutive refusals of a request that cannot be changed (too long, or its content), before the job fails.
const REFUSALS_MOST: u32 = 8;

/// The reaction to a transient failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Wait until then, in place.
    Wait(DateTime<Utc>),
    /// Release the job until then.
    Park(DateTime<Utc>),
    /// Give up.
    GiveUp,
}

/// How long a job waits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Patience {
    /// The job's deadline: no wait extends beyond it, since there the job is paused with that reason.
    pub(crate) deadline: Option<DateTime<Utc>>,
    /// How long an effect may fail before the job fails.
    pub(crate) most: TimeDelta,
}

impl Patience {
    pub(crate) fn new(deadline: Option<DateTime<Utc>>) -> Self {
        Self { deadline, most: MOST }
    }

    /// The end of a wait until then.
    pub(crate) fn in_time(self, until: DateTime<Utc>) -> DateTime<Utc> {
        self.deadline.map_or(until, |deadline| until.min(deadline))
    }
}

/// Consecutive failures of the current effect.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Streak {
    /// How many, including this one.
    pub(crate) failures: u32,
    /// The time of the first.
    pub(crate) since: DateTime<Utc>,
    /// How long there may be no answer.
    pub(crate) patience: TimeDelta,
    /// How many of them are retried in place (for a model call `llm.max_retries`).
    pub(crate) in_place: u32,
}

/// Decides after a transient failure.
pub(crate) fn decide(failure: &Failure, streak: Streak, now: DateTime<Utc>) -> Verdict {
    let is_doubtful = matches!(failure.class, FailureClass::Malformed | FailureClass::Permanent);
    if is_doubtful && streak.failures >= DOUBTFUL_MOST {
        return Verdict::GiveUp;
    }
    wait_or_park(failure.retry_after_s.unwrap_or(0), spread(failure.jitter), streak, now)
}

/// Whether the provider itself names a retry time later than the job's maximum: the time until then is not an outage.
pub(crate) fn is_sent_away(failure: &Failure) -> bool {
    failure.retry_after_s.is_some_and(|wish| wish as f64 > PARK_MOST_S)
}

/// Decides while a service that tools need is unavailable.
pub(crate) fn decide_outage(jitter: f64, streak: Streak, now: DateTime<Utc>) -> Verdict {
    wait_or_park(0, spread(jitter), streak, now)
}

/// `wish`: the delay that the server requests, in seconds.
fn wait_or_park(wish: u64, spread: f64, streak: Streak, now: DateTime<Utc>) -> Verdict {
    let Streak { failures, since, patience, in_place } = streak;
    if now - since >= patience {
        return Verdict::GiveUp;
    }
    if failures <= in_place && wish <= IN_PLACE_MOST_S {
        let backoff = f64::from(1 << (failures - 1).min(4)) * spread;
        return Verdict::Wait(now + seconds(backoff.max(wish as f64)));
    }
    let doublings = i32::try_from(failures.saturating_sub(in_place + 1).min(16)).unwrap_or(16);
    let backoff = (PARK_FIRST_S * 2f64.powi(doublings)).min(PARK_MOST_S) * spread;
    Verdict::Park(now + seconds(backoff.max(wish as f64)))
}

/// Decides after the `failures`-th refusal of a request that cannot be changed: too long although it is minimal, or
/// refused for its content. A provider that is mistaken accepts it at the next attempt, one that is not refuses again.
pub(crate) fn decide_refused(failure: &Failure, failures: u32, now: DateTime<Utc>) -> Verdict {
    if failures >= REFUSALS_MOST { Verdict::GiveUp } else { Verdict::Wait(now + seconds(spread(failure.jitter))) }
}

/// When a rejected key is tried again. The job never gives up: workers started with another key try at once, and no
/// person is needed if the provider accepts the key again.
pub(crate) fn after_refused_key(failure: &Failure, now: DateTime<Utc>) -> DateTime<Utc> {
    let wish = failure.retry_after_s.unwrap_or(0) as f64;
    now + seconds((KEY_S * spread(failure.jitter)).max(wish))
}

/// Between half of the time and all of it, so that many jobs do not retry simultaneously.
fn spread(jitter: f64) -> f64 {
    0.5 + 0.5 * jitter.clamp(0.0, 1.0)
}

fn seconds(seconds: f64) -> TimeDelta {
    TimeDelta::milliseconds((seconds * 1000.0) as i64)
}

//! Retries of model calls, decided only here. The job waits in place for a short backoff; a longer one parks it, which
//! frees the worker and survives a restart.

use crate::{Failure, FailureClass};
use chrono::{DateTime, TimeDelta, Utc};

/// The first parking time.
const PARK_FIRST_S: f64 = 30.0;
/// The longest parking time.
const PARK_MOST_S: f64 = 3600.0;
/// The parking time of a job whose key was refused.
const KEY_S: f64 = 300.0;
/// After this long without an answer the job fails, unless the worker says otherwise.
pub(crate) const PATIENCE: TimeDelta = TimeDelta::hours(24);
/// A wish of the provider up to here is waited out in place.
const IN_PLACE_MOST_S: u64 = 15;
/// How often calls whose service is away are tried again in place, before the job is parked.
pub(crate) const OUTAGE_IN_PLACE: u32 = 2;
/// Failures in a row that waiting probably does not change, before the job fails: answers that cannot be decoded, for
/// waiting does not change a decoder, and refusals of requests whose like were answered. A model that garbles every third
/// answer gets this far once in some ten thousand answers.
const DOUBTFUL_MOST: u32 = 8;
/// Refusals in a row of a request that cannot be changed, as too long or for its content, before the job fails.
const REFUSALS_MOST: u32 = 8;

/// What to do after a failure that may pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Wait until then, in place.
    Wait(DateTime<Utc>),
    /// Release the job until then.
    Park(DateTime<Utc>),
    /// Give up.
    GiveUp,
}

/// Consecutive failures of the effect at hand.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Streak {
    /// How many, this one included.
    pub(crate) failures: u32,
    /// When the first of them was.
    pub(crate) since: DateTime<Utc>,
    /// How long there may be no answer.
    pub(crate) patience: TimeDelta,
    /// How many are answered by waiting in place (for a model call `llm.max_retries`).
    pub(crate) in_place: u32,
}

/// Decides after a failure that may pass.
pub(crate) fn decide(failure: &Failure, streak: Streak, now: DateTime<Utc>) -> Verdict {
    let is_doubtful = matches!(failure.class, FailureClass::Malformed | FailureClass::Permanent);
    if is_doubtful && streak.failures >= DOUBTFUL_MOST {
        return Verdict::GiveUp;
    }
    wait_or_park(failure.retry_after_s.unwrap_or(0), spread(failure.jitter), streak, now)
}

/// Whether the provider itself says when to come back, later than the job would by its own: the time until then is no outage.
pub(crate) fn is_sent_away(failure: &Failure) -> bool {
    failure.retry_after_s.is_some_and(|wish| wish as f64 > PARK_MOST_S)
}

/// Decides while a service that tools need is away.
pub(crate) fn decide_outage(jitter: f64, streak: Streak, now: DateTime<Utc>) -> Verdict {
    wait_or_park(0, spread(jitter), streak, now)
}

/// `wish`: what the other side asks for, in seconds.
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

/// Decides after the `failures`-th refusal of a request that cannot be changed: as too long though it is as small as it
/// gets, or for its content. A provider that is mistaken says otherwise the next time, one that is not goes on saying so.
pub(crate) fn decide_refused(failure: &Failure, failures: u32, now: DateTime<Utc>) -> Verdict {
    if failures >= REFUSALS_MOST { Verdict::GiveUp } else { Verdict::Wait(now + seconds(spread(failure.jitter))) }
}

/// When a key that was refused is tried again. It is never given up: workers that are started with another key try at once,
/// and one that the provider accepts again needs no person.
pub(crate) fn after_refused_key(failure: &Failure, now: DateTime<Utc>) -> DateTime<Utc> {
    let wish = failure.retry_after_s.unwrap_or(0) as f64;
    now + seconds((KEY_S * spread(failure.jitter)).max(wish))
}

/// Between half and the whole, so that many jobs do not come back at once.
fn spread(jitter: f64) -> f64 {
    0.5 + 0.5 * jitter.clamp(0.0, 1.0)
}

fn seconds(seconds: f64) -> TimeDelta {
    TimeDelta::milliseconds((seconds * 1000.0) as i64)
}

//! Retry, decided here and nowhere else. Short waits are served in place; longer ones park the job, which frees the
//! worker and survives a restart.

use crate::{Failure, FailureClass};
use chrono::{DateTime, TimeDelta, Utc};

/// Failures answered by waiting in place.
const IN_PLACE: u32 = 3;
/// The first parking time.
const PARK_FIRST_S: f64 = 30.0;
/// The longest parking time.
const PARK_MOST_S: f64 = 3600.0;
/// After this long without an answer the job fails.
const GIVE_UP_AFTER: TimeDelta = TimeDelta::hours(24);
/// A wish of the provider up to here is waited out in place.
const IN_PLACE_MOST_S: u64 = 15;
/// Answers in a row that could not be decoded before the job fails: waiting does not change a decoder.
const MALFORMED_MOST: u32 = 5;

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

/// Decides after the `failures`-th failure in a row (this one included), the first of which was at `since`.
pub(crate) fn decide(failure: &Failure, failures: u32, since: DateTime<Utc>, now: DateTime<Utc>) -> Verdict {
    let malformed = failure.class == FailureClass::Malformed;
    if now - since >= GIVE_UP_AFTER || (malformed && failures >= MALFORMED_MOST) {
        return Verdict::GiveUp;
    }
    let wish = failure.retry_after_s.unwrap_or(0);
    // Between half and the whole of the backoff, so that many jobs do not come back at once.
    let spread = 0.5 + 0.5 * failure.jitter.clamp(0.0, 1.0);
    if failures <= IN_PLACE && wish <= IN_PLACE_MOST_S {
        let backoff = f64::from(1 << (failures - 1).min(8)) * spread;
        return Verdict::Wait(now + seconds(backoff.max(wish as f64)));
    }
    let doublings = i32::try_from(failures.saturating_sub(IN_PLACE + 1).min(16)).unwrap_or(16);
    let backoff = (PARK_FIRST_S * 2f64.powi(doublings)).min(PARK_MOST_S) * spread;
    Verdict::Park(now + seconds(backoff.max(wish as f64)))
}

fn seconds(seconds: f64) -> TimeDelta {
    TimeDelta::milliseconds((seconds * 1000.0) as i64)
}

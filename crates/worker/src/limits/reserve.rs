//! Places in line for requests that will come: drawn with those of requests that wait, so that a request in a long line is not
//! a draw of its own.

use plumbline_store::Amount;
use std::time::{Duration, Instant};

/// Over how long the rate is told.
const OVER: Duration = Duration::from_secs(5);

/// A part of the bucket, by its positions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Reserve {
    start: Amount,
    end: Amount,
}

impl Reserve {
    /// None where there is nothing between them.
    pub(super) fn between(start: Amount, end: Amount) -> Option<Self> {
        (end.requests - start.requests >= 1.0).then_some(Self { start, end })
    }

    /// Takes a place for so much, if there is room; the position behind it.
    pub(super) fn take(&mut self, amount: Amount) -> Option<Amount> {
        let behind =
            Amount { requests: self.start.requests + amount.requests, tokens: self.start.tokens + amount.tokens };
        let fits = behind.requests <= self.end.requests && behind.tokens <= self.end.tokens;
        fits.then(|| {
            self.start = behind;
            behind
        })
    }

    /// Behind all of it.
    pub(super) fn end(&self) -> Amount {
        self.end
    }

    /// What nobody has taken.
    pub(super) fn left(&self) -> Amount {
        Amount { requests: self.end.requests - self.start.requests, tokens: self.end.tokens - self.start.tokens }
    }

    /// The same, moved so that it is not behind this.
    pub(super) fn not_behind(self, most: Amount) -> Option<Self> {
        let end = Amount { requests: self.end.requests.min(most.requests), tokens: self.end.tokens.min(most.tokens) };
        let left = self.left();
        let start = Amount {
            requests: self.start.requests.min(end.requests - left.requests),
            tokens: self.start.tokens.min(end.tokens - left.tokens),
        };
        Self::between(start, end)
    }
}

/// How many requests a process sends, of late.
#[derive(Clone, Copy, Debug)]
pub(super) struct SendingRate {
    /// A second, at that time.
    rate: f64,
    at: Instant,
}

impl SendingRate {
    pub(super) fn new(now: Instant) -> Self {
        Self { rate: 0.0, at: now }
    }

    /// One more.
    pub(super) fn sent(&mut self, now: Instant) {
        self.rate = self.faded(now) + 1.0 / OVER.as_secs_f64();
        self.at = now;
    }

    /// As many as are to be expected within a time.
    pub(super) fn within(&self, time: Duration, now: Instant) -> f64 {
        self.faded(now) * time.as_secs_f64()
    }

    fn faded(&self, now: Instant) -> f64 {
        self.rate * (-now.saturating_duration_since(self.at).as_secs_f64() / OVER.as_secs_f64()).exp()
    }
}

#[cfg(test)]
mod tests {
    use super::{Reserve, SendingRate};
    use plumbline_store::Amount;
    use std::time::{Duration, Instant};

    fn at(requests: f64, tokens: f64) -> Amount {
        Amount { requests, tokens }
    }

    #[test]
    fn places_are_taken_from_the_front_as_long_as_they_fit() {
        let mut reserve = Reserve::between(at(10.0, 1_000.0), at(13.0, 1_300.0)).unwrap();
        assert_eq!(reserve.take(at(1.0, 120.0)), Some(at(11.0, 1_120.0)));
        assert_eq!(reserve.take(at(1.0, 200.0)), None);
        assert_eq!(reserve.left(), at(2.0, 180.0));
        assert_eq!(
            reserve.not_behind(at(12.0, 1_200.0)).map(|moved| (moved.end(), moved.left())),
            Some((at(12.0, 1_200.0), at(2.0, 180.0)))
        );
        assert_eq!(Reserve::between(at(1.0, 1.0), at(1.0, 1.0)), None);
    }

    #[test]
    fn the_rate_is_that_of_the_last_seconds() {
        let begun = Instant::now();
        let mut rate = SendingRate::new(begun);
        for n in 1..=200 {
            rate.sent(begun + Duration::from_millis(100 * n));
        }
        let now = begun + Duration::from_secs(20);
        assert!((rate.within(Duration::from_secs(4), now) - 40.0).abs() < 2.0);
        assert!(rate.within(Duration::from_secs(4), now + Duration::from_secs(30)) < 0.2);
    }
}

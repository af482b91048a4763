//! A window of a rate: the result of one draw, consumed from its front, each request at its own time.

use plumbline_store::{Amount, Drawn};
use std::time::{Duration, Instant};

/// A time so distant that it means never, in seconds.
const FAR_S: f64 = 1e6;

/// The unused part of a draw.
#[derive(Clone, Copy, Debug)]
pub(super) struct Window {
    at: Instant,
    /// Its TATs advance with each request that is taken.
    drawn: Drawn,
    left: Amount,
}

impl Window {
    /// The window of a draw with this cost; an amount without a limit is never used up.
    pub(super) fn new(drawn: Drawn, cost: Amount, now: Instant) -> Self {
        let left = |limit: Option<i64>, cost: f64| if limit.is_some() { cost } else { f64::INFINITY };
        let left = Amount {
            requests: left(drawn.limits.requests_per_minute, cost.requests),
            tokens: left(drawn.limits.tokens_per_minute, cost.tokens),
        };
        Self { at: now, drawn, left }
    }

    /// Takes a request with this many tokens from the front; returns the time from which it may be sent. None: too
    /// little is left.
    pub(super) fn take(&mut self, tokens: f64) -> Option<Instant> {
        if self.left.requests < 1.0 || self.left.tokens < tokens {
            return None;
        }
        let ready = self.ready_at(Amount { requests: 1.0, tokens });
        self.left = Amount { requests: self.left.requests - 1.0, tokens: self.left.tokens - tokens };
        self.drawn.tat_s.requests += self.drawn.period_s.requests;
        self.drawn.tat_s.tokens += tokens * self.drawn.period_s.tokens;
        Some(ready)
    }

    /// When all of it may be used.
    pub(super) fn end(&self) -> Instant {
        self.ready_at(self.left())
    }

    /// The unused part of the limited amounts.
    pub(super) fn left(&self) -> Amount {
        let of = |left: f64| if left.is_finite() { left } else { 0.0 };
        Amount { requests: of(self.left.requests), tokens: of(self.left.tokens) }
    }

    /// GCRA: the TAT before a request is at most the burst in the future, with room for the request itself. A request
    /// larger than the burst is sent when the whole burst is available.
    fn ready_at(&self, amount: Amount) -> Instant {
        let Drawn { tat_s, period_s, burst_s, .. } = self.drawn;
        let wait = |tat: f64, cost: f64| tat + cost.min(burst_s) - burst_s;
        let of_requests = wait(tat_s.requests, amount.requests * period_s.requests);
        let of_tokens = wait(tat_s.tokens, amount.tokens * period_s.tokens);
        self.at + Duration::from_secs_f64(of_requests.max(of_tokens).clamp(0.0, FAR_S))
    }
}

#[cfg(test)]
mod tests {
    use super::Window;
    use plumbline_store::{Amount, Drawn, EndpointLimits};
    use std::time::{Duration, Instant};

    /// 100 tokens per second, with a burst of ten seconds.
    fn drawn(tat_s: f64) -> Drawn {
        Drawn {
            limits: EndpointLimits { tokens_per_minute: Some(6_000), ..EndpointLimits::default() },
            tat_s: Amount { requests: 0.0, tokens: tat_s },
            period_s: Amount { requests: 0.0, tokens: 0.01 },
            burst_s: 10.0,
        }
    }

    fn waits(window: &mut Window, at: Instant, tokens: f64) -> Option<Duration> {
        window.take(tokens).map(|ready| ready - at)
    }

    #[test]
    fn requests_go_at_once_within_the_burst_and_at_the_rate_beyond_it() {
        let at = Instant::now();
        let mut window = Window::new(drawn(0.0), Amount { requests: 4.0, tokens: 2_000.0 }, at);
        let taken = [500.0, 500.0, 500.0, 600.0, 500.0].map(|tokens| waits(&mut window, at, tokens));
        let seconds = |seconds| Some(Duration::from_secs(seconds));
        assert_eq!(taken, [seconds(0), seconds(0), seconds(5), None, seconds(10)], "the fourth is more than is left");
        assert_eq!(window.left(), Amount::default());
    }

    #[test]
    fn a_request_larger_than_the_burst_waits_for_the_burst_and_the_next_one_for_it() {
        let at = Instant::now();
        let mut window = Window::new(drawn(3.0), Amount { requests: 2.0, tokens: 3_100.0 }, at);
        assert_eq!(waits(&mut window, at, 3_000.0), Some(Duration::from_secs(3)));
        assert_eq!(window.end() - at, Duration::from_secs(24));
        assert_eq!(waits(&mut window, at, 100.0), Some(Duration::from_secs(24)));
    }
}

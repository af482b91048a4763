//! The permit for one request, and its result.

use parking_lot::Mutex;
use plumbline_engine::{Failure, FailureClass, Reply};
use plumbline_llm::StatedLimits;
use plumbline_store::Refusal;
use std::{
    fmt,
    time::{Duration, Instant},
};

/// The longest delay requested by a provider for which jobs wait in the queue. For a longer one they are parked, each
/// by its own refusal: a quota that resets tomorrow is not a rate.
const LONGEST_WAIT_S: u64 = 60;

/// Where a permit reports how its request ended.
type Report = Box<dyn FnOnce(Answered, StatedLimits) + Send>;

/// A request that may be sent; if dropped unsettled, it counts as sent.
pub(crate) struct Permit {
    sent: Instant,
    /// None once it is settled.
    report: Mutex<Option<Report>>,
}

/// How a request ended, for limits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Answered {
    /// It was answered, with this many tokens in total and in the answer.
    Used { tokens: f64, completion: f64 },
    /// The provider refused it because of a limit.
    Refused { wait: Option<Duration>, sent_ago: Duration },
    /// Any other end; whether the provider counted it is unknown.
    Unknown,
}

impl Answered {
    /// Converts the answer to a request that was sent this long ago.
    pub(crate) fn of(answer: &Result<Reply, Box<Failure>>, sent_ago: Duration) -> Self {
        match answer {
            Ok(reply) => {
                let usage = reply.record.usage();
                let completion = f64::from(usage.completion_tokens);
                Self::Used { tokens: f64::from(usage.prompt_tokens) + completion, completion }
            }
            Err(failure) if is_waited_for(failure) => {
                Self::Refused { wait: failure.retry_after_s.map(Duration::from_secs), sent_ago }
            }
            Err(_) => Self::Unknown,
        }
    }

    /// The refusal that all workers should know.
    pub(super) fn refusal(self, names_limits: bool) -> Option<Refusal> {
        match self {
            Self::Refused { wait, sent_ago } => Some(Refusal { wait, sent_ago, names_limits }),
            Self::Used { .. } | Self::Unknown => None,
        }
    }
}

/// Whether the failure is a rate limit for which jobs wait in the queue.
pub(crate) fn is_waited_for(failure: &Failure) -> bool {
    failure.class == FailureClass::RateLimited && failure.retry_after_s.is_none_or(|wait| wait <= LONGEST_WAIT_S)
}

impl fmt::Debug for Permit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Permit").field("sent", &self.sent).finish_non_exhaustive()
    }
}

impl Permit {
    /// A permit for a request that is sent now.
    pub(super) fn new(report: impl FnOnce(Answered, StatedLimits) + Send + 'static) -> Self {
        Self { sent: Instant::now(), report: Mutex::new(Some(Box::new(report))) }
    }

    /// Reports how the request ended.
    pub(crate) fn settle(&self, answer: &Result<Reply, Box<Failure>>, stated: StatedLimits) {
        self.close(Answered::of(answer, self.sent.elapsed()), stated);
    }

    /// Reports that it was not used.
    pub(super) fn cancel(&self) {
        self.take();
    }

    fn close(&self, answered: Answered, stated: StatedLimits) {
        if let Some(report) = self.take() {
            report(answered, stated);
        }
    }

    fn take(&self) -> Option<Report> {
        self.report.lock().take()
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        self.close(Answered::Unknown, StatedLimits::default());
    }
}

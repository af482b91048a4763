//! What the rows do not tell: why an answer ended, and of which class a failure was. Each leads to other changes, so
//! the guess under which the step comes out as recorded is the right one.

use plumbline_engine::{FailureClass, Finish};
use plumbline_store::RecordedStep;

/// One possibility.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Guess {
    /// The answer ended like this. For a summary, anything but `Done` means that it was of no use.
    Answered(Finish),
    /// The call failed like this.
    Failed(FailureClass),
}

/// The likeliest first.
const ANSWERED: [Guess; 3] =
    [Guess::Answered(Finish::Done), Guess::Answered(Finish::Truncated), Guess::Answered(Finish::Refused)];

/// The likeliest first.
const FAILED: [Guess; 9] = [
    Guess::Failed(FailureClass::Transient),
    Guess::Failed(FailureClass::ContextTooLong),
    Guess::Failed(FailureClass::Permanent),
    Guess::Failed(FailureClass::Malformed),
    Guess::Failed(FailureClass::RateLimited),
    Guess::Failed(FailureClass::Overloaded),
    Guess::Failed(FailureClass::Quota),
    Guess::Failed(FailureClass::Unauthorized),
    Guess::Failed(FailureClass::Refused),
];

impl Guess {
    /// What a step may have been.
    pub(super) fn all(step: &RecordedStep) -> &'static [Self] {
        match step.requests.first() {
            Some(request) if request.error.is_some() => &FAILED,
            Some(_) => &ANSWERED,
            None => &ANSWERED[..1],
        }
    }
}

//! Messages to the task of an endpoint.

use super::{permit::Answered, queue::Waiter};
use plumbline_llm::StatedLimits;

/// A message to the task.
#[derive(Debug)]
pub(super) enum Message {
    /// A request waits.
    Waits(Box<Waiter>),
    /// A request has ended.
    Ended { reserved: f64, answered: Answered, stated: StatedLimits },
}

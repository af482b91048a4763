//! The queue: jobs are enqueued, claimed under a lease, and released.

pub(crate) mod claim;
pub(crate) mod enqueue;
mod lease;
mod listen;
mod release;
mod sweep;
mod unknown_types;
mod workers;

pub use claim::ClaimedJob;
pub use enqueue::{NewDocument, NewJob};
pub use lease::Lease;
pub use listen::{JobNotice, Listener};
pub use release::ReleaseReason;
pub use sweep::Rescued;
pub use unknown_types::{Knowing, UnknownType};
pub use workers::NewWorker;

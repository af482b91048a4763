//! The right to run a job.

use uuid::Uuid;

/// A claim's fencing token: every write of the run contains it, and a later claim invalidates it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Lease {
    /// The job.
    pub job_id: Uuid,
    /// `jobs.lease_epoch` as set by the claim.
    pub epoch: i64,
}

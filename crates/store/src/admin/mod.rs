//! Operators' functions: migrations, health, steering commands, forks, retention, invariants.

mod approvals;
mod control;
mod fitness;
mod fork;
mod health;
mod invariants;
mod prune;
mod roles;
mod schema;

pub use approvals::{ApprovalRow, ApprovalTool, CallDecision, WaitingCalls};
pub use control::Command;
pub use health::{Health, QueueCounts};
pub use invariants::Violation;
pub use prune::{DeletedJob, KeptJobs, Prunable, PrunedJob, Retention};
pub use roles::ROLES;
pub use schema::MIGRATOR;

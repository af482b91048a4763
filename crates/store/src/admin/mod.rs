//! What operators do: migrations, health, steering commands, forks, retention, invariants.

mod control;
mod fork;
mod health;
mod invariants;
mod prune;
mod schema;

pub use control::Command;
pub use health::{Health, QueueCounts};
pub use invariants::Violation;
pub use prune::{DeletedJob, Prunable, PrunedJob, Retention};
pub use schema::MIGRATOR;

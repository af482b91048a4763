//! What ends a job or a phase that makes no progress: repeated calls, placeholders, budgets; and what is done when a model fails.

pub(crate) mod budget;
pub(crate) mod effects;
mod fallback;
pub(crate) mod fingerprint;
pub mod loop_detection;
mod placeholder;
pub(crate) mod repeat;
pub(crate) mod retry;

pub use effects::{PhaseEffects, Seen};
pub use fallback::Fallback;
pub use placeholder::is_placeholder;
pub use repeat::Repeat;

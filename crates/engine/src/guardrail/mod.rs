//! Guardrails that end a job or a phase without progress: repeated calls, placeholders, budgets; and the handling of
//! model failures.

pub(crate) mod budget;
pub(crate) mod effects;
mod fallback;
pub(crate) mod fingerprint;
pub mod loop_detection;
mod placeholder;
pub(crate) mod repeat;
pub(crate) mod retry;
pub(crate) mod rework;

pub use effects::{PhaseEffects, Seen};
pub use fallback::Fallback;
pub use placeholder::is_placeholder;
pub use repeat::Repeat;
pub use rework::{News, Rework};

//! A model that misbehaves on purpose: a proxy that corrupts some turns of the rehearsal model.
//!
//! Real models answer in prose, call unknown tools, send half of a JSON document, and their providers close the
//! connection within a character. A well-behaved model cannot test whether a job survives that, and a randomly
//! misbehaving one is not reproducible. So each way to misbehave is a [`Kind`]: a name, a family, and a function from
//! the healthy turn to the corrupted one. Its frequency is a [`Rate`], drawn from a seed, so that a run can be
//! repeated.
//!
//! ```text
//! POST /{kind}/{percent}/{seed}/v1/chat/completions
//!        │ [`server`]: bytes in, bytes out, also half of them
//!        ▼
//!   strikes?  ──no──▶ the rehearsal model's own answer
//!        └─────yes──▶ kind.spoil(turn) ──▶ Reaction
//! ```
//!
//! One server serves all kinds at once: kind, rate and seed are in the address, which a job's configuration names.

mod dice;
mod kinds;
mod reaction;
mod server;
mod turn;

pub use dice::Rate;
pub use kinds::{FATAL, find, kinds};
pub use reaction::{Delivery, Reaction};
pub use server::Misbehaving;
pub use turn::Turn;

/// One way to misbehave.
#[derive(Debug, Clone, Copy)]
pub struct Kind {
    /// Its name in addresses and tables.
    pub name: &'static str,
    /// The possible outcome of a job if every turn is corrupted.
    pub always: Always,
    /// The corrupted turn.
    pub spoil: fn(&Turn<'_>) -> Reaction,
}

impl Kind {
    /// Whether its answers never end, so that each runs into the timeout.
    pub fn never_ends(&self) -> bool {
        matches!(self.name, "stall" | "endless_drip")
    }
}

/// The permitted outcomes of a job if a kind strikes in every turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Always {
    /// Only the form is unusual: the job must succeed as with a healthy model.
    Done,
    /// Such answers are useless: the job must end, or pause, with a clear reason.
    Stopped,
}

/// A kind that changes only the form.
const fn odd(name: &'static str, spoil: fn(&Turn<'_>) -> Reaction) -> Kind {
    Kind { name, always: Always::Done, spoil }
}

/// A kind that makes its turn useless.
const fn bad(name: &'static str, spoil: fn(&Turn<'_>) -> Reaction) -> Kind {
    Kind { name, always: Always::Stopped, spoil }
}

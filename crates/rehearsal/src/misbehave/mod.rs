//! A model that misbehaves on purpose: the rehearsal model behind a door that spoils some of its turns.
//!
//! Real models answer in prose, call tools that do not exist, send half of a JSON document, and their providers hang up
//! in the middle of a character. Whether a job survives that cannot be seen with a model that always behaves, nor left
//! to chance with one that sometimes does not. So each way to misbehave is a [`Kind`]: a name, a family, and a function
//! from the healthy turn to the spoilt one. How often it strikes is a [`Rate`], drawn from a seed, so that a run can be
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
//! One server plays all kinds at once: kind, rate and seed stand in the address, which a job's configuration names.

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
    /// Its name, as it stands in addresses and tables.
    pub name: &'static str,
    /// What a job can make of it when every single turn is spoilt.
    pub always: Always,
    /// The spoilt turn in place of the healthy one.
    pub spoil: fn(&Turn<'_>) -> Reaction,
}

impl Kind {
    /// Whether its answers never end, so that each is only waited for.
    pub fn never_ends(&self) -> bool {
        matches!(self.name, "stall" | "endless_drip")
    }
}

/// What a job may come to when a kind strikes in every turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Always {
    /// Only the form is unusual, nothing is lost: the job must be done as by a healthy model.
    Done,
    /// Nothing can be done with such answers: the job must end, or pause, with a clear reason.
    Stopped,
}

/// A kind that loses nothing but form.
const fn odd(name: &'static str, spoil: fn(&Turn<'_>) -> Reaction) -> Kind {
    Kind { name, always: Always::Done, spoil }
}

/// A kind that makes its turn worthless.
const fn bad(name: &'static str, spoil: fn(&Turn<'_>) -> Reaction) -> Kind {
    Kind { name, always: Always::Stopped, spoil }
}

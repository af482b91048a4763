//! The scripted model: a separate process that answers each turn with one call of a file tool.
//!
//! It must never be the bottleneck, so it does not parse the conversation: the few facts that it needs (which phase,
//! which part was written last) are found by byte search, mostly from the end. Answers depend on no state; equal
//! requests have equal answers, so a killed job can continue.
//!
//! | question | file |
//! |---|---|
//! | what does a request ask for, and what is answered | [`script`] |
//! | where in the bytes does it say so | [`scan`] |
//! | what is measured in the model itself | [`ledger`] |
//! | HTTP | [`server`] |

mod ledger;
mod scan;
mod script;
mod server;

pub(crate) use ledger::Trace;
pub(crate) use scan::{Order, Tool};
pub(crate) use script::{ITEMS, PASSAGES, recording_turns};
pub(crate) use server::{Arguments, serve};

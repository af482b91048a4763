//! The scripted model: a separate process that answers each turn with one call of a file tool.
//!
//! It must never be the limit, so it does not parse the conversation: the few facts that it needs (which phase, which
//! part was written last) are found by searching the bytes, most of them from the end. It keeps no state about a job
//! that an answer depends on; equal requests have equal answers, so a job that is killed and run again goes on.
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
pub(crate) use scan::Order;
pub(crate) use server::{Arguments, serve};

//! The engine's tests: no mocks, no clock, all in milliseconds.
//!
//! - [`table`]: every stage × every outcome, as a snapshot that documents the state machine.
//! - [`dialogues`]: a script of what the model does, and the transcript of what comes of it.
//! - [`frame`]: requests and the active todo list, to the letter.
//! - [`walks`]: random legal outcomes, and what must hold after each.
//! - [`corpora`]: legitimate work, false ends and honest ones, by the dozen.
//! - [`conversations`]: a thousand random conversations, and what must survive their compactions.
//! - [`lessons`]: one test per production incident, named after it.
//! - [`order`]: a model of what becomes of the calls of an answer.
//! - [`plans`]: plans in the forms that models write them in, and the phases read of each.
//!
//! Whatever the test, [`kit::Dialogue`] commits each step's changes to toy rows, rebuilds the run from them and requires
//! the rebuilt run to be equal to the live one: changes are complete, and recovery is loading.

mod conversations;
mod corpora;
mod dialogues;
mod frame;
mod kit;
mod lessons;
mod order;
mod plans;
mod table;
mod walks;

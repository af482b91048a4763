//! The engine's tests: no mocks, no clock, all in milliseconds.
//!
//! - [`table`]: every stage × every outcome, as a snapshot that documents the state machine.
//! - [`dialogues`]: a script of the model's behaviour, and the transcript of the consequences.
//! - [`frame`]: requests and the active todo list, byte by byte.
//! - [`walks`]: random legal outcomes, and the invariants after each.
//! - [`corpora`]: dozens of cases of legitimate work, false ends and honest ends.
//! - [`conversations`]: a thousand random conversations, and what compactions must preserve.
//! - [`lessons`]: one test per production incident, named after it.
//! - [`order`]: a model of the fates of an answer's calls.
//! - [`plans`]: plans in the forms that models write, and the phases parsed from each.
//!
//! In every test, [`kit::Dialogue`] commits each step's changes to toy rows, rebuilds the run from them and requires
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

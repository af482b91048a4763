//! The private Postgres as its users meet it: the real binary, a real `initdb`, real signals.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail like tests")]

mod harness;
mod lasting;
mod leftovers;
mod password;
mod throw_away;

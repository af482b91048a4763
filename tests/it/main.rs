//! System tests: the real binary on a real Postgres, one module a subject.

mod bad_input;
mod checker;
mod commands;
mod control;
mod dev;
mod drain;
mod end_to_end;
mod history;
mod kill;
mod provider;
mod setup;
mod two_workers;

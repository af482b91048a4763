//! System tests: the real binary on a real Postgres, one module a subject.

mod bad_input;
mod checker;
mod clocks;
mod commands;
mod control;
mod counters;
mod crashes;
mod deploy;
mod dev;
mod doctor;
mod documentation;
mod drain;
mod end_to_end;
mod fault_table;
mod first_step;
mod handover;
mod handover_dev;
mod handover_graph;
mod history;
mod horizon;
mod interface_commands;
mod interface_places;
mod interface_sql;
mod interface_tools;
mod kill;
mod levels;
mod lost_answers;
mod migrations;
mod pooler;
mod postgres_trouble;
mod promises;
mod provider;
mod replay;
mod setup;
mod sizes;
mod starved;
mod terminal;
mod two_workers;
mod validator;
mod validator_outages;
mod validator_sql;
mod volumes;

/// The graph server of the client's own tests: one double, checked in one place.
#[path = "../../crates/effects/tests/graph/kit/mod.rs"]
mod graph_kit;

//! Tests of `deploy/` and `docker/`: the roles can do their work and nothing else, the metrics of alerts and dashboards
//! exist, and the program reads every variable named there.

mod attempts;
mod columns;
mod commands;
mod compose;
mod names;
mod probe;
mod questionnaire;
mod readers;
mod restore;
mod role_table;
mod roles;
mod statements;
mod switchover;
pub(crate) mod user;

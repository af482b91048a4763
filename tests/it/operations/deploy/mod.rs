//! What `deploy/` and `docker/` promise: that the roles can do their work and nothing else, that what alerts and
//! dashboards ask for exists, and that every variable named there is one that the program reads.

mod attempts;
mod columns;
mod commands;
mod compose;
mod names;
mod probe;
mod readers;
mod restore;
mod role_table;
mod roles;
mod statements;
mod user;

//! Setting up, upgrading, deploying, watching, deleting.

pub(crate) mod deploy;
mod dev;
mod doctor;
mod migrations;
mod operators;
mod pid_one;
mod pooler;
mod retention;
mod setup;

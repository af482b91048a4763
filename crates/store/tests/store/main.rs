//! The store against a real Postgres: a new database a test, made by `#[sqlx::test]`, which needs `DATABASE_URL` with
//! the right to create databases. Time is not faked: rows are aged.

#![expect(clippy::unwrap_used, reason = "a helper that fails fails its test")]

mod claim;
mod commands;
mod commit;
mod fence;
mod files;
mod findings;
mod leave;
mod listen;
mod lost_commit;
mod release;
mod schema;
mod status;
mod support;
mod sweep;
mod transitions;

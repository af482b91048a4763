//! The store against a real Postgres: a new database a test, made by `#[sqlx::test]`, which needs `DATABASE_URL` with
//! the right to create databases. Time is not faked: rows are aged.

#![expect(clippy::unwrap_used, reason = "a helper that fails fails its test")]

mod checkpoint_retention;
mod claim;
mod commands;
mod commit;
mod dashboard;
mod documents;
mod embeddings;
mod endpoint;
mod exit;
mod fence;
mod files;
mod fork;
mod group_commit;
mod growth;
mod invariants;
mod limits;
mod listen;
mod load;
mod lookup;
mod lost_commit;
mod proxy;
mod prune;
mod put_right;
mod release;
mod round_trips;
mod schema;
mod search;
mod shared_files;
mod status;
mod story;
mod support;
mod sweep;
mod trace;
mod transitions;
mod unknown;
mod upgrade;
mod validation;

//! The store against a real Postgres: a new database per test, made by `#[sqlx::test]`, which needs `DATABASE_URL` with
//! the right to create databases. Time is not faked: rows are aged.

#![expect(clippy::unwrap_used, reason = "a helper that fails fails its test")]

mod admin {
    mod commands;
    mod fitness;
    mod fork;
    mod invariants;
    mod prune;
    mod schema;
    mod upgrade;
}
mod commit {
    mod checkpoint_retention;
    mod exit;
    mod fence;
    mod group_commit;
    mod growth;
    mod lost_commit;
    mod round_trips;
    mod steps;
}
mod proxy;
mod queue {
    mod claim;
    mod documents;
    mod endpoint;
    mod limits;
    mod listen;
    mod release;
    mod sweep;
    mod transitions;
    mod unknown;
}
mod requirements {
    mod lookup;
    mod put_right;
    mod validation;
}
mod search {
    mod embeddings;
    mod full_text;
}
mod story;
mod support;
mod trust;
mod views {
    mod dashboard;
    mod status;
    mod trace;
}
mod workspace {
    mod files;
    mod load;
    mod shared_files;
}

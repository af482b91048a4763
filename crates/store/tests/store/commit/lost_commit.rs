//! A commit whose answer never arrives: the connection breaks before it.

use crate::{
    proxy::{Cut, Proxy},
    support::{column, commit, message, progress, running, state, store, value},
};
use plumbline_engine::{Change, MessageKind, Role};
use plumbline_store::{Commit, Committed, Error, Lease, Store, StoredSettings};
use serde_json::json;
use sqlx::PgPool;
use std::sync::{Arc, Mutex};

/// The way in which a step is committed.
#[derive(Clone, Copy)]
enum Kind {
    /// By its single statement.
    Statement,
    /// By COMMIT, because it has rare rows.
    Transaction,
}

/// The text of the interrupted step.
const SAID: &str = "the connection breaks here";

impl Kind {
    /// The bytes that the client sends to commit: COMMIT as a simple query (type, length, text, NUL), or the values of
    /// the statement, which include a message's text.
    fn sent(self) -> &'static [u8] {
        match self {
            Self::Statement => SAID.as_bytes(),
            Self::Transaction => b"Q\0\0\0\x0bCOMMIT\0",
        }
    }

    async fn step(self, store: &Store, lease: Lease, expected_step: i64) -> Result<Committed, Error> {
        let (state, progress, settings) = (state(), progress(), StoredSettings::from(&json!({})));
        let seq = expected_step + 1;
        let commit = Commit {
            lease,
            expected_step,
            changes: &[Change::Message(message(seq, Role::User, MessageKind::Opening, SAID))],
            state: &state,
            progress: &progress,
            settings: matches!(self, Self::Transaction).then_some(&settings),
            enqueue_next: None,
        };
        store.commit(&commit).await
    }
}

/// A store whose connection breaks at its first commit of this kind.
async fn behind_proxy(pool: &PgPool, kind: Kind, cut: Cut) -> Store {
    let proxy = Proxy { cut: Mutex::new(Some((kind.sent(), cut))), ..Proxy::default() };
    Arc::new(proxy).store(pool, 3).await
}

async fn is_found_by_reading_back(pool: PgPool, kind: Kind) {
    let job = running(&store(&pool)).await;
    let shaky = behind_proxy(&pool, kind, Cut::After).await;
    assert_eq!(kind.step(&shaky, job.lease(), 0).await.unwrap().step, 1);
    assert_eq!(column(&pool, job.id, "step").await.as_deref(), Some("1"));
    assert_eq!(value(&pool, "SELECT count(*) FROM messages").await.as_deref(), Some("1"));
    assert_eq!(kind.step(&shaky, job.lease(), 1).await.unwrap().step, 2, "the run goes on");
}

async fn is_a_transient_error(pool: PgPool, kind: Kind) {
    let job = running(&store(&pool)).await;
    let shaky = behind_proxy(&pool, kind, Cut::Before).await;
    let error = kind.step(&shaky, job.lease(), 0).await.unwrap_err();
    assert!(matches!(error, Error::Database { .. }) && error.is_transient(), "{error}");
    assert_eq!(column(&pool, job.id, "step").await.as_deref(), Some("0"));
    assert_eq!(value(&pool, "SELECT count(*) FROM messages").await.as_deref(), Some("0"));
    assert_eq!(kind.step(&shaky, job.lease(), 0).await.unwrap().step, 1, "the same step is tried again");
}

#[sqlx::test(migrations = "../../migrations")]
async fn a_statement_that_committed_is_found_by_reading_back(pool: PgPool) {
    is_found_by_reading_back(pool, Kind::Statement).await;
}

#[sqlx::test(migrations = "../../migrations")]
async fn a_transaction_that_committed_is_found_by_reading_back(pool: PgPool) {
    is_found_by_reading_back(pool, Kind::Transaction).await;
}

#[sqlx::test(migrations = "../../migrations")]
async fn a_statement_that_did_not_arrive_is_a_transient_error(pool: PgPool) {
    is_a_transient_error(pool, Kind::Statement).await;
}

#[sqlx::test(migrations = "../../migrations")]
async fn a_transaction_that_did_not_commit_is_a_transient_error(pool: PgPool) {
    is_a_transient_error(pool, Kind::Transaction).await;
}

#[sqlx::test(migrations = "../../migrations")]
async fn a_refused_statement_is_no_doubt_and_writes_nothing(pool: PgPool) {
    let store = store(&pool);
    let job = running(&store).await;
    Kind::Statement.step(&store, job.lease(), 0).await.unwrap();
    // The message's sequence number is taken.
    let twice = [message(1, Role::User, MessageKind::Opening, "again")].map(Change::Message);
    let error = commit(&store, job.lease(), 1, &twice).await.unwrap_err();
    assert!(matches!(error, Error::Database { .. }) && !error.is_transient(), "{error}");
    assert_eq!(column(&pool, job.id, "step").await.as_deref(), Some("1"));
}

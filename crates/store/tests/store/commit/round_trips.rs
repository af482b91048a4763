//! The round trips and connections of a step, counted between the store and the server.

use crate::{
    proxy::Proxy,
    support::{commit, message, progress, running, state, store},
};
use plumbline_engine::{Change, FileWrite, MessageKind, Product, Role, Todo, TodoStatus};
use plumbline_store::Commit;
use sqlx::PgPool;
use std::sync::{Arc, atomic::Ordering::SeqCst};

/// Steps that first prepare statements.
const WARM: i64 = 3;

/// The changes of a turn with a file tool: messages, a file, a todo with a new status.
fn turn(seq: i64) -> Vec<Change> {
    vec![
        Change::Message(message(seq, Role::Assistant, MessageKind::Reply, "I write the file")),
        Change::Message(message(seq + 1, Role::Tool, MessageKind::ToolResult, "written")),
        Change::Product(Product::WriteFile(FileWrite::text(format!("notes/{seq}.md"), format!("note {seq}")))),
        Change::TodoMoved { phase_number: 1, position: 1, status: TodoStatus::Completed, notes: None },
    ]
}

#[sqlx::test(migrations = "../../migrations")]
async fn an_ordinary_step_is_one_statement_and_its_connection_shows_that_it_is_alive(pool: PgPool) {
    let job = running(&store(&pool)).await;
    let proxy = Arc::new(Proxy::default());
    // With one connection, so that everything sent for a step is sent before the next one begins.
    let shop = proxy.store(&pool, 1).await;
    let list = [Change::TodosPut { phase_number: 1, todos: vec![Todo::pending(1, "write notes")] }];
    commit(&shop, job.lease(), 0, &list).await.unwrap();
    for step in 1..=WARM {
        commit(&shop, job.lease(), step, &turn(2 * step)).await.unwrap();
    }
    let (sent, opened) = (proxy.sent.load(SeqCst), proxy.opened.load(SeqCst));
    for step in WARM + 1..=WARM + 20 {
        assert_eq!(commit(&shop, job.lease(), step, &turn(2 * step)).await.unwrap().step, step + 1);
    }
    // Traffic after the last step may be counted or not, like that before the first.
    let a_step = (proxy.sent.load(SeqCst) - sent) as f64 / 20.0;
    assert!((2.8..=3.2).contains(&a_step), "a statement and two signs of life a step, not {a_step} round trips");
    assert_eq!(proxy.opened.load(SeqCst), opened, "steps that follow one another use one connection");
}

#[sqlx::test(migrations = "../../migrations")]
async fn steps_at_once_share_all_connections_there_are(pool: PgPool) {
    let base = store(&pool);
    let proxy = Arc::new(Proxy::default());
    let shop = proxy.store(&pool, 4).await;
    let mut steps = tokio::task::JoinSet::new();
    for _ in 0..12 {
        let (job, shop) = (running(&base).await, shop.clone());
        steps.spawn(async move {
            for step in 0..5 {
                let (state, progress) = (state(), progress());
                let changes = turn(2 * step + 1);
                let commit = Commit {
                    lease: job.lease(),
                    expected_step: step,
                    changes: &changes,
                    state: &state,
                    progress: &progress,
                    settings: None,
                    enqueue_next: None,
                };
                shop.commit(&commit).await.unwrap();
            }
        });
    }
    while let Some(done) = steps.join_next().await {
        done.unwrap();
    }
    // One more was opened and closed to test whether the server is reachable.
    assert!(proxy.opened.load(SeqCst) <= 5, "the limit holds");
    shop.close().await;
}

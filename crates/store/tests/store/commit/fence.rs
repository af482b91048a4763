//! Steps that the fence refuses.

use crate::support::{
    LEASE_SECS, column, commit, execute, message, running, store, until, until_blocked, value, worker,
};
use plumbline_engine::{Change, MessageKind, Role};
use plumbline_store::{Error, Lease, ReleaseReason};
use sqlx::PgPool;

fn something() -> [Change; 1] {
    [Change::Message(message(1, Role::System, MessageKind::System, "You are careful."))]
}

async fn assert_nothing_written(pool: &PgPool) {
    assert_eq!(value(pool, "SELECT count(*) FROM messages").await.as_deref(), Some("0"));
    assert_eq!(value(pool, "SELECT count(*) FROM checkpoints").await.as_deref(), Some("0"));
}

#[sqlx::test(migrations = "../../migrations")]
async fn an_older_epoch_cannot_write(pool: PgPool) {
    let store = store(&pool);
    let job = running(&store).await;
    store.release(&job.lease(), ReleaseReason::Drain).await.unwrap();
    let second = worker(&store).await;
    let again = store.claim(second, 1, None, LEASE_SECS).await.unwrap().remove(0);
    assert_eq!(again.lease_epoch, job.lease_epoch + 1);

    let refused = commit(&store, job.lease(), 0, &something()).await.unwrap_err();
    assert!(matches!(refused, Error::LeaseLost(id) if id == job.id), "{refused}");
    assert_nothing_written(&pool).await;
    assert!(matches!(store.load(&job.lease()).await.unwrap_err(), Error::LeaseLost(_)));
    assert_eq!(commit(&store, again.lease(), 0, &something()).await.unwrap().step, 1);
}

#[sqlx::test(migrations = "../../migrations")]
async fn the_same_step_cannot_be_written_twice(pool: PgPool) {
    let store = store(&pool);
    let job = running(&store).await;
    commit(&store, job.lease(), 0, &something()).await.unwrap();
    let refused = commit(&store, job.lease(), 0, &something()).await.unwrap_err();
    assert!(matches!(refused, Error::LeaseLost(_)), "{refused}");
    assert_eq!(column(&pool, job.id, "step").await.as_deref(), Some("1"));
    let ahead = Lease { epoch: job.lease_epoch + 1, ..job.lease() };
    assert!(matches!(commit(&store, ahead, 1, &[]).await.unwrap_err(), Error::LeaseLost(_)));
}

#[sqlx::test(migrations = "../../migrations")]
async fn a_user_takes_the_job_away_with_a_plain_update(pool: PgPool) {
    for status in ["cancelled", "paused", "pending"] {
        execute(&pool, "DELETE FROM jobs").await.unwrap();
        let store = store(&pool);
        let job = running(&store).await;
        execute(&pool, format!("UPDATE jobs SET status = '{status}'")).await.unwrap();
        let refused = commit(&store, job.lease(), 0, &something()).await.unwrap_err();
        assert!(matches!(refused, Error::LeaseLost(_)), "{status}: {refused}");
        assert_nothing_written(&pool).await;
    }
}

#[sqlx::test(migrations = "../../migrations")]
async fn a_step_that_breaks_a_rule_writes_nothing(pool: PgPool) {
    let store = store(&pool);
    let job = running(&store).await;
    let twice = [something()[0].clone(), something()[0].clone()];
    let refused = commit(&store, job.lease(), 0, &twice).await.unwrap_err();
    assert!(matches!(refused, Error::Database { .. }) && !refused.is_transient(), "{refused}");
    assert_nothing_written(&pool).await;
    assert_eq!(column(&pool, job.id, "step").await.as_deref(), Some("0"));
}

#[sqlx::test(migrations = "../../migrations")]
async fn a_commit_waits_for_the_row_and_then_sees_the_cancel(pool: PgPool) {
    let store = store(&pool);
    let job = running(&store).await;
    let mut user = pool.begin().await.unwrap();
    sqlx::query("SELECT cancel_job($1)").bind(job.id).execute(&mut *user).await.unwrap();
    let step = tokio::spawn({
        let (store, lease) = (store.clone(), job.lease());
        async move { commit(&store, lease, 0, &something()).await }
    });
    until_blocked(&pool).await;
    user.commit().await.unwrap();
    assert!(matches!(step.await.unwrap().unwrap_err(), Error::LeaseLost(_)));
    assert_nothing_written(&pool).await;
}

/// The number of this database's statements that wait for a lock.
fn waiting(count: u32) -> String {
    format!(
        "SELECT count(*) = {count} FROM pg_stat_activity
         WHERE datname = current_database() AND wait_event_type = 'Lock'"
    )
}

#[sqlx::test(migrations = "../../migrations")]
async fn a_step_after_a_delete_writes_nothing_and_one_before_it_leaves_nothing(pool: PgPool) {
    let store = store(&pool);
    for step_first in [false, true] {
        let job = running(&store).await;
        let mut holder = pool.begin().await.unwrap();
        sqlx::query("SELECT FROM jobs WHERE id = $1 FOR UPDATE").bind(job.id).execute(&mut *holder).await.unwrap();
        let step = || {
            let (store, lease) = (store.clone(), job.lease());
            tokio::spawn(async move { commit(&store, lease, 0, &something()).await })
        };
        let delete = || {
            let (pool, sql) = (pool.clone(), format!("DELETE FROM jobs WHERE id = '{}'", job.id));
            tokio::spawn(async move { execute(&pool, sql).await })
        };
        // The first to wait for the row lock gets it first.
        let (step, delete) = if step_first {
            let step = step();
            until(&pool, &waiting(1)).await;
            (step, delete())
        } else {
            let delete = delete();
            until(&pool, &waiting(1)).await;
            (step(), delete)
        };
        until(&pool, &waiting(2)).await;
        holder.rollback().await.unwrap();
        let committed = step.await.unwrap();
        assert_eq!(delete.await.unwrap().unwrap(), 1);
        assert_eq!(committed.is_ok(), step_first, "{committed:?}");
        assert_nothing_written(&pool).await;
        assert_eq!(value(&pool, "SELECT count(*) FROM attempts").await.as_deref(), Some("0"));
    }
}

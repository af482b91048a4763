//! Forks: the rows as of a step.

use crate::{
    story::{self, STEPS},
    support::{LEASE_SECS, column, commit, execute, running, store, value, worker},
};
use chrono::{TimeDelta, Utc};
use plumbline_engine::{Retry, Snapshot, Totals};
use plumbline_store::{ClaimedJob, Error, Store};
use serde_json::json;
use sqlx::PgPool;
use std::time::Duration;
use uuid::Uuid;

/// Claims the fork, whose type only the first claimer knows.
async fn take(store: &Store, job_type: &str) -> ClaimedJob {
    let worker = worker(store).await;
    store.claim(worker, 1, Some(&[job_type.to_owned()]), LEASE_SECS).await.unwrap().remove(0)
}

async fn assert_sound(store: &Store) {
    assert_eq!(store.invariants(Duration::from_secs(60)).await.unwrap(), []);
}

async fn refused(store: &Store, job: Uuid, step: i64) -> String {
    match store.fork(job, step).await.unwrap_err() {
        Error::Refused(sentence) => sentence,
        other => panic!("{other}"),
    }
}

#[sqlx::test(migrations = "../../migrations")]
async fn a_fork_at_any_step_loads_what_the_job_loaded_then(pool: PgPool) {
    let store = store(&pool);
    let source = running(&store).await;
    let then = story::tell(&store, source.lease()).await;
    for (step, then) in (1..).zip(&then) {
        let forked = Utc::now();
        let id = store.fork(source.id, step).await.unwrap();
        assert_eq!(id.get_version_num(), 7, "forks sort by their ids like other jobs");
        let fork = take(&store, &source.job_type).await;
        assert_eq!((fork.id, fork.step, fork.attempt, fork.lease_epoch), (id, step, 1, 1));
        assert!(fork.has_settings);
        let now = store.load(&fork.lease()).await.unwrap();
        let (state, before) = (now.state.clone().unwrap(), then.state.clone().unwrap());
        assert_eq!((state.totals, &state.retry), (Totals::default(), &Retry::default()), "counted anew");
        assert!((state.started_at - forked).abs() < TimeDelta::hours(1), "its time begins with it");
        let state = plumbline_engine::State {
            totals: before.totals,
            retry: before.retry.clone(),
            started_at: before.started_at,
            ..state
        };
        assert_eq!(Snapshot { job: then.job.clone(), state: Some(state), ..now }, *then, "step {step}");
        assert_sound(&store).await;
    }
    assert_eq!(column(&pool, source.id, "step || ' ' || status").await, Some(format!("{STEPS} running")));
}

#[sqlx::test(migrations = "../../migrations")]
async fn a_fork_is_a_new_pending_job_that_says_where_it_comes_from(pool: PgPool) {
    let store = store(&pool);
    let source = running(&store).await;
    story::tell(&store, source.lease()).await;
    execute(
        &pool,
        "UPDATE jobs SET priority = 7, context = '{\"a\": 1}', document_content = 'x', idempotency_key = 'k'",
    )
    .await
    .unwrap();
    let fork = store.job_detail(store.fork(source.id, 2).await.unwrap()).await.unwrap().unwrap();
    assert_eq!((fork.status.as_str(), fork.step, fork.parent_job_id), ("pending", 2, Some(source.id)));
    assert_eq!(fork.status_reason, Some(format!("forked from job {} at step 2", source.id)));
    assert_eq!((fork.priority, fork.context, fork.document_bytes), (7, json!({"a": 1}), Some(1)));
    assert_eq!((fork.idempotency_key, fork.started_at), (None, None));
    assert_eq!((fork.phase.as_deref(), fork.phase_name.as_deref()), (Some("strategic"), Some("Planning")));
    assert_eq!((fork.todos_done, fork.todos_total, fork.current_todo.as_deref()), (1, 2, Some("Plan")));
    assert_eq!((fork.total_requests, fork.total_tokens_used, fork.cost_usd), (0, 0, 0.0));
    assert_eq!(store.read_file(fork.id, "output/report.md").await.unwrap().as_deref(), Some(&b"first version"[..]));
}

#[sqlx::test(migrations = "../../migrations")]
async fn a_fork_goes_its_own_way_and_can_be_forked_again(pool: PgPool) {
    let store = store(&pool);
    let source = running(&store).await;
    story::tell(&store, source.lease()).await;
    let id = store.fork(source.id, 2).await.unwrap();
    let fork = take(&store, &source.job_type).await;
    let before = value(&pool, "SELECT count(*) FROM requirement_cache").await;
    // A step 3 other than the source's: the todos are as of step 2, so the list of step 2 is replaced here as well.
    commit(&store, fork.lease(), 2, &[]).await.unwrap();
    assert_eq!(column(&pool, id, "step").await.as_deref(), Some("3"));
    assert_eq!(value(&pool, "SELECT count(*) FROM requirement_cache").await, before);
    assert_eq!(refused(&store, id, 1).await, format!("job {id} has no checkpoint of step 1: its steps are 2 to 3"));
    let again = store.fork(id, 3).await.unwrap();
    assert_eq!(column(&pool, again, "parent_job_id").await, Some(id.to_string()));
}

#[sqlx::test(migrations = "../../migrations")]
async fn copied_requirements_are_rows_of_their_own_in_the_same_order(pool: PgPool) {
    let store = store(&pool);
    let source = running(&store).await;
    story::tell(&store, source.lease()).await;
    execute(&pool, "UPDATE requirement_cache SET status = 'rejected', rejection_reason = 'r', retry_count = 2")
        .await
        .unwrap();
    let fork = store.fork(source.id, 3).await.unwrap();
    let (old, new) = (store.requirements_of(source.id).await.unwrap(), store.requirements_of(fork).await.unwrap());
    let texts = |rows: &[plumbline_store::RequirementRow]| rows.iter().map(|row| row.text.clone()).collect::<Vec<_>>();
    assert_eq!(texts(&new), texts(&old));
    assert!(new.iter().all(|row| row.status == "pending" && row.rejection_reason.is_none() && row.retry_count == 0));
    assert!(new.iter().all(|row| old.iter().all(|other| other.id != row.id)), "ids are given once");
}

#[sqlx::test(migrations = "../../migrations")]
async fn a_refusal_says_what_can_be_forked(pool: PgPool) {
    let store = store(&pool);
    let nobody = Uuid::now_v7();
    assert_eq!(refused(&store, nobody, 1).await, format!("there is no job {nobody}"));
    let job = running(&store).await;
    let id = job.id;
    let said = refused(&store, id, 1).await;
    assert_eq!(said, format!("job {id} has no checkpoint yet: fork it once it has taken a step"));
    story::tell(&store, job.lease()).await;
    assert_eq!(refused(&store, id, 9).await, format!("job {id} has no checkpoint of step 9: its steps are 1 to 4"));
    execute(&pool, "UPDATE checkpoints SET state = NULL WHERE step IN (2, 3)").await.unwrap();
    let said = refused(&store, id, 2).await;
    assert_eq!(said, format!("job {id} keeps no state of step 2 any more: fork it at step 1 or 4"));
    assert_eq!(
        value(&pool, "SELECT count(*) FROM jobs").await.as_deref(),
        Some("1"),
        "a refusal leaves nothing behind"
    );
}

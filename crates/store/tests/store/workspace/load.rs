//! The inputs from which a run is rebuilt.

use crate::support::{LEASE_SECS, commit, execute, requirement, running, store, worker};
use plumbline_engine::{Change, Product};
use plumbline_store::{ClaimedJob, Lease};
use sqlx::PgPool;

#[sqlx::test(migrations = "../../migrations")]
async fn claim_and_row_of_a_new_job_say_all_that_loading_it_would(pool: PgPool) {
    let store = store(&pool);
    let job = running(&store).await;
    let input = store.job_input(job.id).await.unwrap().unwrap().unwrap();
    assert_eq!(job.unstarted(&input), Some(store.load(&job.lease()).await.unwrap()));
    assert_eq!(ClaimedJob { feedback_pending: true, ..job.clone() }.unstarted(&input), None);
    assert_eq!(ClaimedJob { step: 1, ..job }.unstarted(&input), None);
}

#[sqlx::test(migrations = "../../migrations")]
async fn rows_from_before_the_tags_are_compared_although_the_claim_that_numbers_them_is_killed(pool: PgPool) {
    let store = store(&pool);
    let job = running(&store).await;
    let adds = |key| Change::Product(Product::AddRequirement(Box::new(requirement(key, "Invoices must be kept."))));
    commit(&store, job.lease(), 0, &[adds(1)]).await.unwrap();
    commit(&store, job.lease(), 1, &[adds(2)]).await.unwrap();
    let compares = async |lease: Lease| store.load(&lease).await.unwrap().state.unwrap().compares_anew;
    assert!(!compares(job.lease()).await, "rows with numbers were compared as they were recorded");
    execute(&pool, "UPDATE requirement_cache SET number = NULL").await.unwrap();

    let first = store.load(&job.lease()).await.unwrap();
    assert_eq!((first.state.unwrap().compares_anew, first.last_number), (true, 2));
    // It is killed before its first commit; the next claim finds all rows numbered.
    let again = store.load(&job.lease()).await.unwrap();
    assert_eq!((again.state.unwrap().compares_anew, again.last_number), (true, 2));

    let fork = store.fork(job.id, 1).await.unwrap();
    let worker = worker(&store).await;
    let claimed =
        store.claim(worker, 1, Some(std::slice::from_ref(&job.job_type)), LEASE_SECS).await.unwrap().remove(0);
    assert_eq!(claimed.id, fork);
    assert!(compares(claimed.lease()).await, "a fork of a step before the numbering has these rows too");
}

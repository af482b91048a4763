//! What a run is rebuilt from.

use crate::support::{running, store};
use plumbline_store::{ClaimedJob, LoadedJob};
use sqlx::PgPool;

#[sqlx::test(migrations = "../../migrations")]
async fn the_claim_of_a_new_job_says_all_that_loading_it_would(pool: PgPool) {
    let store = store(&pool);
    let job = running(&store).await;
    assert_eq!(LoadedJob::new(&job), Some(store.load(&job.lease()).await.unwrap()));
    assert_eq!(LoadedJob::new(&ClaimedJob { feedback_pending: true, ..job.clone() }), None);
    assert_eq!(LoadedJob::new(&ClaimedJob { step: 1, ..job }), None);
}

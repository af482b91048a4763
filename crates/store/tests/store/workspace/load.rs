//! The inputs from which a run is rebuilt.

use crate::support::{running, store};
use plumbline_store::ClaimedJob;
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

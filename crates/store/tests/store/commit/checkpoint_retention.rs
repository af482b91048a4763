//! Old checkpoints lose their states.

use crate::support::{commit, execute, running, store, value};
use sqlx::PgPool;

#[sqlx::test(migrations = "../../migrations")]
async fn a_long_jobs_steps_give_up_the_states_that_left_the_window(pool: PgPool) {
    let store = store(&pool);
    let job = running(&store).await;
    commit(&store, job.lease(), 0, &[]).await.unwrap();
    // A thousand steps later, with a phase that began at step 3.
    for sql in [
        "INSERT INTO checkpoints (job_id, step, phase_number, phase, state, lease_epoch)
         SELECT job_id, n, phase_number, phase, state, lease_epoch FROM checkpoints, generate_series(2, 1048) n",
        "INSERT INTO phases (job_id, phase_number, kind, name, opened_step) SELECT id, 1, 'strategic', 'x', 3 FROM jobs",
        "UPDATE jobs SET step = 1048",
    ] {
        execute(&pool, sql).await.unwrap();
    }
    let kept =
        "SELECT string_agg(step::text, ' ' ORDER BY step) FROM checkpoints WHERE state IS NOT NULL AND step < 53";
    commit(&store, job.lease(), 1048, &[]).await.unwrap();
    assert_eq!(value(&pool, kept).await.map(|steps| steps.split(' ').count()), Some(52), "nothing is given up yet");
    commit(&store, job.lease(), 1049, &[]).await.unwrap();
    assert_eq!(
        value(&pool, kept).await.as_deref(),
        Some("3 50 51 52"),
        "the phase's, the fiftieth, and the window stay"
    );
    assert_eq!(
        value(&pool, "SELECT count(*) FROM checkpoints").await.as_deref(),
        Some("1050"),
        "every step has its row"
    );
    assert!(store.load(&job.lease()).await.unwrap().state.is_some());
}

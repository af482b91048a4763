//! Old checkpoints give up their states.

use crate::support::{commit, execute, running, store, value};
use sqlx::PgPool;

#[sqlx::test(migrations = "../../migrations")]
async fn a_step_gives_up_the_state_that_leaves_the_window(pool: PgPool) {
    let store = store(&pool);
    let job = running(&store).await;
    commit(&store, job.lease(), 0, &[]).await.unwrap();
    // A thousand steps later, with a phase that began at step 3.
    for sql in [
        "INSERT INTO checkpoints (job_id, step, phase_number, phase, state, lease_epoch)
         SELECT job_id, n, phase_number, phase, state, lease_epoch FROM checkpoints, generate_series(2, 1048) n",
        "INSERT INTO phases (job_id, phase_number, kind, name, opened_step) SELECT id, 1, 'strategic', 'x', 3 FROM jobs",
        "UPDATE jobs SET step = 1000",
        "DELETE FROM checkpoints WHERE step > 1000",
    ] {
        execute(&pool, sql).await.unwrap();
    }
    for step in 1000..1052 {
        commit(&store, job.lease(), step, &[]).await.unwrap();
    }
    let kept =
        "SELECT string_agg(step::text, ' ' ORDER BY step) FROM checkpoints WHERE state IS NOT NULL AND step <= 53";
    assert_eq!(value(&pool, kept).await.as_deref(), Some("3 50 53"), "the phase's, the fiftieth, and the window");
    assert_eq!(
        value(&pool, "SELECT count(*) FROM checkpoints").await.as_deref(),
        Some("1052"),
        "every step has its row"
    );
    assert!(store.load(&job.lease()).await.unwrap().state.is_some());
}

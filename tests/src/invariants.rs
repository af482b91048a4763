//! The check at the end of every test.

use crate::{
    mirror,
    wait::{CEILING, LOOK},
};
use sqlx::{PgExecutor, PgPool};
use std::{path::Path, time::Instant};
use uuid::Uuid;

/// How long a running job may be without a live worker, in seconds.
const GRACE_SECS: f64 = 10.0;

/// The findings of the store's `invariants.sql`, the statement behind `plumbline doctor --invariants`: one line per
/// violation.
///
/// # Panics
/// When the rows cannot be read.
pub async fn violations(rows: impl PgExecutor<'_>) -> Vec<String> {
    let found: Vec<(String, Uuid, String)> =
        sqlx::query_as(include_str!("../../crates/store/queries/admin/invariants.sql"))
            .bind(GRACE_SECS)
            .fetch_all(rows)
            .await
            .expect("the invariants can be read");
    found.iter().map(|(rule, job, found)| format!("{rule} (job {job}): {found}")).collect()
}

/// Asserts that no invariant is broken.
///
/// # Panics
/// When one is broken; all violations are listed.
pub async fn check_invariants(pool: &PgPool) {
    let lines = violations(pool).await;
    assert!(lines.is_empty(), "invariants are broken:\n{}", lines.join("\n"));
}

/// I6: the mirrored folder of each job that a worker ended equals its rows. The mirror follows the commit, so it may
/// lag briefly. (A job failed by a sweep has no worker that could repair its folder.)
///
/// # Panics
/// When a folder does not become equal.
pub async fn check_mirrors(pool: &PgPool, workspace: &Path) {
    let ended: Vec<(Uuid,)> = sqlx::query_as(
        "SELECT id FROM jobs JOIN attempts a ON (a.job_id, a.lease_epoch) = (id, jobs.lease_epoch)
         WHERE status IN ('completed', 'failed') AND step > 0 AND outcome = 'ended'",
    )
    .fetch_all(pool)
    .await
    .expect("the jobs can be read");
    for (job,) in ended {
        let folder = workspace.join(format!("job_{job}"));
        let rows = mirror::rows(pool, job).await;
        let begun = Instant::now();
        while mirror::folder(&folder) != rows {
            if begun.elapsed() > CEILING {
                assert_eq!(mirror::folder(&folder), rows, "{} does not equal its rows", folder.display());
            }
            tokio::time::sleep(LOOK).await;
        }
    }
}

//! The checker that every test ends with.

use crate::{mirror, wait::eventually};
use sqlx::PgPool;
use std::path::Path;
use uuid::Uuid;

/// Runs `invariants.sql`.
///
/// # Panics
/// When a rule is broken; all violations are listed.
pub async fn check_invariants(pool: &PgPool) {
    let found: Vec<(String, Uuid, String)> =
        sqlx::query_as(include_str!("invariants.sql")).fetch_all(pool).await.expect("the invariants can be read");
    let lines: Vec<String> = found.iter().map(|(rule, job, found)| format!("{rule} (job {job}): {found}")).collect();
    assert!(lines.is_empty(), "invariants are broken:\n{}", lines.join("\n"));
}

/// I6: the mirrored folder of each ended job equals its rows. The mirror follows the commit, so it may come a moment
/// later.
///
/// # Panics
/// When a folder does not become equal.
pub async fn check_mirrors(pool: &PgPool, workspace: &Path) {
    let ended: Vec<(Uuid,)> = sqlx::query_as("SELECT id FROM jobs WHERE status IN ('completed', 'failed') AND step > 0")
        .fetch_all(pool)
        .await
        .expect("the jobs can be read");
    for (job,) in ended {
        let folder = workspace.join(format!("job_{job}"));
        let rows = mirror::rows(pool, job).await;
        eventually(&format!("{} to equal its rows", folder.display()), async || {
            (mirror::folder(&folder) == rows).then_some(())
        })
        .await;
    }
}

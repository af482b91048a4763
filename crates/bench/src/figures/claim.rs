//! P10: claiming pending jobs in batches; alone in the table, beside many others, and under an old snapshot.

use super::commit::{claimer, connect};
use crate::{
    error::{During, Error},
    report::{Figure, Target, median},
    site::{Bench, Site},
};
use plumbline_store::Store;
use std::time::{Duration, Instant};
use uuid::Uuid;

/// Jobs a claim: as many as a worker takes at most, and ten times that, which is what the statement itself can do.
const BATCHES: [i64; 2] = [100, 1000];

pub(super) async fn measure(bench: &Bench) -> Result<Vec<Figure>, Error> {
    let mut figures = Vec::new();
    for batch in BATCHES {
        figures.extend(of_batch(bench, batch).await?);
    }
    Ok(figures)
}

async fn of_batch(bench: &Bench, batch: i64) -> Result<Vec<Figure>, Error> {
    let sizes = &bench.sizes;
    let (mut alone, mut crowded, mut held) = (Vec::new(), Vec::new(), Vec::new());
    let site = bench.site("claim", Duration::ZERO).await?;
    let store = connect(&site, 2).await?;
    let worker = claimer(&store).await?;
    for _ in 0..sizes.runs {
        alone.push(per_second(&site, &store, worker, batch, sizes.jobs).await?);
    }
    fill(&site, "ended", sizes.other_ended).await?;
    fill(&site, "waiting", sizes.other_pending).await?;
    for _ in 0..sizes.runs {
        crowded.push(per_second(&site, &store, worker, batch, sizes.jobs).await?);
    }
    let mut snapshot = site.database.pool.begin().await?;
    sqlx::query("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ").execute(&mut *snapshot).await?;
    sqlx::query("SELECT count(*) FROM workers").execute(&mut *snapshot).await?;
    churn(&site, &store, worker, batch, sizes.jobs, sizes.snapshot).await?;
    for _ in 0..sizes.runs {
        held.push(per_second(&site, &store, worker, batch, sizes.jobs).await?);
    }
    snapshot.rollback().await?;
    bench.close(site).await?;
    let base = [median(&alone)];
    let named = |name: String, values| Figure::new("P10", name, "/s", values);
    Ok(vec![
        named(format!("claiming {}, {batch} a claim", sizes.jobs), alone).target(Target::AtLeast(40_000.0)),
        named(format!("with {} ended and {} pending", sizes.other_ended, sizes.other_pending), crowded)
            .floor("alone", &base)
            .target(Target::RatioAtLeast(1.0 / 1.2)),
        named(format!("and a snapshot held open for {} s", sizes.snapshot.as_secs()), held)
            .floor("alone", &base)
            .target(Target::RatioAtLeast(1.0 / 1.2)),
    ])
}

/// Inserts jobs that go before all others, and claims them.
async fn per_second(site: &Site, store: &Store, worker: Uuid, batch: i64, jobs: usize) -> Result<f64, Error> {
    let insert = "INSERT INTO jobs (prompt, priority) SELECT 'claim ' || n, 9 FROM generate_series(1, $1) AS n";
    sqlx::query(insert).bind(i64::try_from(jobs)?).execute(&site.database.pool).await.during("insert jobs")?;
    sqlx::query("ANALYZE jobs").execute(&site.database.pool).await?;
    let started = Instant::now();
    let mut claimed = 0;
    while claimed < jobs {
        let limit = batch.min(i64::try_from(jobs - claimed)?);
        let taken = store.claim(worker, limit, None).await.during("claim jobs")?.len();
        if taken == 0 {
            return Err(Error::new(format!("only {claimed} of {jobs} jobs could be claimed")));
        }
        claimed += taken;
    }
    Ok(jobs as f64 / started.elapsed().as_secs_f64())
}

/// Jobs come and go for a while, so that dead rows collect which an open snapshot keeps.
async fn churn(site: &Site, store: &Store, worker: Uuid, batch: i64, jobs: usize, time: Duration) -> Result<(), Error> {
    let started = Instant::now();
    while started.elapsed() < time {
        per_second(site, store, worker, batch, jobs.min(2000)).await?;
    }
    Ok(())
}

/// Other jobs: ended ones, or pending ones of a lower priority. Written without triggers and in one statement, or a
/// million of them would take minutes.
async fn fill(site: &Site, kind: &str, jobs: usize) -> Result<(), Error> {
    let mut tx = site.database.pool.begin().await?;
    sqlx::query("SET LOCAL session_replication_role = replica").execute(&mut *tx).await?;
    let insert = match kind {
        "ended" => {
            "INSERT INTO jobs (prompt, status, completed_at)
             SELECT 'ended ' || n, 'completed', now() FROM generate_series(1, $1) AS n"
        }
        _ => "INSERT INTO jobs (prompt) SELECT 'waiting ' || n FROM generate_series(1, $1) AS n",
    };
    sqlx::query(insert).bind(i64::try_from(jobs)?).execute(&mut *tx).await.during("fill the table of jobs")?;
    tx.commit().await?;
    Ok(())
}

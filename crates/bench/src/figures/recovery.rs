//! P16: how soon another worker goes on with a job whose worker was killed, or was asked to stop.

use crate::{
    error::{During, Error},
    model::Order,
    process::Program,
    report::{Figure, Target},
    site::{Bench, Site, many_turns},
};
use std::time::{Duration, Instant};

/// Time between looks.
const LOOK_EVERY: Duration = Duration::from_millis(5);

/// A successor that has taken no step after this many times the bound never will.
const PATIENCE: u32 = 3;

pub(super) async fn measure(bench: &Bench) -> Result<Vec<Figure>, Error> {
    let lease = bench.sizes.lease_secs;
    // The sweep runs with the heartbeat; by default a lease of 45 s and a sweep every 10 s.
    let beat = (lease / 4).clamp(1, 10);
    let bound = Duration::from_secs(lease + beat + lease.min(5));
    let (mut killed, mut stopped) = (Vec::new(), Vec::new());
    for _ in 0..bench.sizes.runs {
        killed.push(succession(bench, lease, beat, bound, Program::kill).await?);
        stopped.push(succession(bench, lease, beat, bound, |worker| worker.stop().map(drop)).await?);
    }
    let name = format!("after kill -9, successor's first step (lease {lease} s, sweep every {beat} s)");
    Ok(vec![
        Figure::new("P16", name, "s", killed).target(Target::AtMost(bound.as_secs_f64())),
        Figure::new("P16", "after SIGTERM, successor's first step", "s", stopped).target(Target::AtMost(2.0)),
    ])
}

/// One worker takes the job, another waits idle; the first one ends. Seconds until the next step.
async fn succession(
    bench: &Bench,
    lease: u64,
    beat: u64,
    bound: Duration,
    end: fn(Program) -> Result<(), Error>,
) -> Result<f64, Error> {
    let site = bench.site("recovery", Duration::from_millis(200)).await?;
    let (lease, beat) = (lease.to_string(), beat.to_string());
    let env = [("PLUMBLINE_LEASE_SECS", lease.as_str()), ("PLUMBLINE_HEARTBEAT_SECS", beat.as_str())];
    let first = site.worker_on(&site.database.url, 1, &env)?;
    let order = Order { tag: "recovery".into(), turns: 100_000, bytes: 200, reads: false, trace: false };
    site.insert(&[order], &many_turns()).await?;
    look(&site, "step >= 3", bound * PATIENCE).await.during("wait for the first worker's steps")?;
    let second = site.worker_on(&site.database.url, 1, &env)?;
    look(&site, "(SELECT count(*) FROM workers) = 2", bound * PATIENCE).await.during("wait for the second worker")?;
    let started = Instant::now();
    end(first)?;
    // A step of the second claim: its checkpoint is younger than its attempt.
    let resumed = "EXISTS (SELECT FROM checkpoints c JOIN attempts a USING (job_id)
                           WHERE a.lease_epoch = 2 AND c.created_at > a.started_at)";
    look(&site, resumed, bound * PATIENCE).await.during("wait for the second worker's first step")?;
    let taken = started.elapsed().as_secs_f64();
    second.kill()?;
    bench.close(site).await?;
    Ok(taken)
}

/// Waits until this holds of the one job.
async fn look(site: &Site, condition: &str, within: Duration) -> Result<(), Error> {
    let statement = format!("SELECT {condition} FROM jobs");
    let started = Instant::now();
    while started.elapsed() < within {
        // The conditions are those above.
        let query = sqlx::query_scalar::<_, Option<bool>>(sqlx::AssertSqlSafe(statement.clone()));
        if query.fetch_one(&site.database.pool).await? == Some(true) {
            return Ok(());
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
    Err(Error::new(format!("it did not happen within {within:?}")))
}

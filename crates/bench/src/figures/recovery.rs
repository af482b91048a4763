//! P16: how soon another worker resumes a job whose worker was killed or stopped.

use crate::{
    child::Program,
    error::{During, Error},
    fixture::{Bench, Fixture, many_turns},
    model::{Order, Tool},
    report::{Figure, Target, percentile},
};
use futures_util::future::try_join_all;
use std::time::{Duration, Instant};

/// Time between looks.
const LOOK_EVERY: Duration = Duration::from_millis(5);

/// A successor that has taken no step after this many times the bound never will.
const LIMIT_FACTOR: u32 = 3;

/// The workers' lease settings.
#[derive(Clone, Copy)]
struct Terms {
    lease_secs: u64,
    beat_secs: u64,
}

impl Terms {
    /// The lease and the sweep, which runs with the heartbeat, and the time of the step itself.
    fn bound(self) -> Duration {
        Duration::from_secs(self.lease_secs + self.beat_secs + self.lease_secs.min(5))
    }
}

pub(super) async fn measure(bench: &Bench) -> Result<Vec<Figure>, Error> {
    let lease_secs = bench.sizes.lease_secs;
    // By default a lease of 45 s and a sweep every 10 s.
    let terms = Terms { lease_secs, beat_secs: (lease_secs / 4).clamp(1, 10) };
    let killed = kills(bench, terms).await?;
    let mut stopped = Vec::new();
    for _ in 0..bench.sizes.runs {
        stopped.push(succession(bench, "stopped", terms, Duration::ZERO, |worker| worker.stop().map(drop)).await?);
    }
    let Terms { lease_secs, beat_secs } = terms;
    let name = |what: &str| format!("after kill -9, successor's first step, {what} of {} kills", killed.len());
    let bound = Target::AtMost(terms.bound().as_secs_f64());
    let lease = format!("lease, sweep every {beat_secs} s");
    Ok(vec![
        Figure::new("P16", name("median"), "s", killed.clone()).floor(&lease, &[lease_secs as f64]).target(bound),
        Figure::new("P16", name("longest"), "s", vec![percentile(&killed, 1.0)]).target(bound),
        Figure::new("P16", "after SIGTERM, successor's first step", "s", stopped).target(Target::AtMost(2.0)),
    ])
}

/// Kills several workers at about the same time, each with its own successor and database: most of the time is waiting.
/// They die at different times after a heartbeat, on which the result depends.
async fn kills(bench: &Bench, terms: Terms) -> Result<Vec<f64>, Error> {
    let kills = u32::try_from(bench.sizes.kills)?;
    let places = (0..kills).map(|place| async move {
        let after = Duration::from_secs(terms.beat_secs) * place / kills;
        succession(bench, &format!("killed_{place}"), terms, after, Program::kill).await
    });
    try_join_all(places).await
}

/// One worker claims the job, another is idle; after a while, the first one ends. Returns the seconds until the next
/// step.
async fn succession(
    bench: &Bench,
    name: &str,
    terms: Terms,
    after: Duration,
    end: fn(Program) -> Result<(), Error>,
) -> Result<f64, Error> {
    let fixture = bench.fixture(name, Duration::from_millis(200)).await?;
    let limit = terms.bound() * LIMIT_FACTOR;
    let (lease, beat) = (terms.lease_secs.to_string(), terms.beat_secs.to_string());
    let env = [("PLUMBLINE_LEASE_SECS", lease.as_str()), ("PLUMBLINE_HEARTBEAT_SECS", beat.as_str())];
    let first = fixture.worker_on(&fixture.database.url, 1, &env)?;
    let order = Order { tag: "recovery".into(), turns: 100_000, bytes: 200, tool: Tool::Write, trace: false };
    fixture.insert(&[order], &many_turns()).await?;
    look(&fixture, "step >= 3", limit).await.during("wait for the first worker's steps")?;
    let second = fixture.worker_on(&fixture.database.url, 1, &env)?;
    look(&fixture, "(SELECT count(*) FROM workers) = 2", limit).await.during("wait for the second worker")?;
    tokio::time::sleep(after).await;
    let started = Instant::now();
    end(first)?;
    // A step of the second claim: its checkpoint is younger than its attempt.
    let resumed = "EXISTS (SELECT FROM checkpoints c JOIN attempts a USING (job_id)
                           WHERE a.lease_epoch = 2 AND c.created_at > a.started_at)";
    look(&fixture, resumed, limit).await.during("wait for the second worker's first step")?;
    let taken = started.elapsed().as_secs_f64();
    second.kill()?;
    bench.close(fixture).await?;
    Ok(taken)
}

/// Waits until this holds of the one job.
async fn look(fixture: &Fixture, condition: &str, within: Duration) -> Result<(), Error> {
    let statement = format!("SELECT {condition} FROM jobs");
    let started = Instant::now();
    while started.elapsed() < within {
        // The conditions are those above.
        let query = sqlx::query_scalar::<_, Option<bool>>(sqlx::AssertSqlSafe(statement.clone()));
        if query.fetch_one(&fixture.database.pool).await? == Some(true) {
            return Ok(());
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
    Err(Error::new(format!("it did not happen within {within:?}")))
}

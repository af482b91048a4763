//! P10: claiming pending jobs in batches; alone in the table, among many others, and with an old snapshot open. The
//! floor is a plain table with a key, updated by its key in the same batches.
//!
//! Between the three, millions of rows are written and minutes pass, in which the load of a shared machine changes. So
//! the floor is measured with each of them, and a claim's speed is compared with its speed alone, scaled by the floor
//! of that minute.

use super::commit::{claimer, connect};
use crate::{
    database::Database,
    error::{During, Error},
    fixture::{Bench, Fixture},
    report::{Figure, Target, median},
    sizes::Sizes,
};
use plumbline_bench::ENDLESS_LEASE_SECS;
use plumbline_store::Store;
use std::time::{Duration, Instant};
use uuid::Uuid;

/// Jobs per claim: a worker's request, and the maximum of one claim.
const BATCHES: [i64; 2] = [TYPICAL, 1000];
const TYPICAL: i64 = 100;

/// Rows of the plain table per job: they take about as long, so that a wait for the disk has the same weight.
const PLAIN: usize = 5;

/// Milliseconds of a typical claim while other jobs run.
const A_CLAIM: f64 = 10.0;

/// Jobs a second, of one size of batches.
#[derive(Default)]
struct Speeds {
    alone: Pace,
    crowded: Pace,
    held: Pace,
}

/// Jobs a second, and rows of the plain table a second in between.
#[derive(Default)]
struct Pace {
    claims: Vec<f64>,
    plain: Vec<f64>,
}

impl Pace {
    /// The speed of claims of another minute, scaled to this one.
    fn of_this_minute(&self, other: &Self) -> f64 {
        median(&other.claims) * median(&self.plain) / median(&other.plain)
    }
}

/// Who claims, and where.
struct Setup {
    fixture: Fixture,
    store: Store,
    worker: Uuid,
}

pub(super) async fn measure(bench: &Bench) -> Result<Vec<Figure>, Error> {
    let sizes = &bench.sizes;
    let fixture = bench.fixture("claim", Duration::ZERO).await?;
    let store = connect(&fixture, 2).await?;
    let setup = Setup { worker: claimer(&store).await?, store, fixture };
    let mut speeds = BATCHES.map(|batch| (batch, Speeds::default()));
    create_plain(&setup.fixture.database).await?;
    for (batch, speeds) in &mut speeds {
        speeds.alone = setup.pace(*batch, sizes).await?;
    }
    fill(&setup.fixture.database, sizes.other_ended, sizes.other_pending).await?;
    for (batch, speeds) in &mut speeds {
        speeds.crowded = setup.pace(*batch, sizes).await?;
    }
    let mut snapshot = setup.fixture.database.pool.begin().await?;
    sqlx::query("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ").execute(&mut *snapshot).await?;
    sqlx::query("SELECT count(*) FROM workers").execute(&mut *snapshot).await?;
    setup.churn(sizes.jobs.min(2000), sizes.snapshot).await?;
    for (batch, speeds) in &mut speeds {
        speeds.held = setup.pace(*batch, sizes).await?;
    }
    snapshot.rollback().await?;
    bench.close(setup.fixture).await?;
    Ok(speeds.into_iter().flat_map(|(batch, speeds)| figures(bench, batch, speeds)).collect())
}

fn figures(bench: &Bench, batch: i64, speeds: Speeds) -> [Figure; 3] {
    let sizes = &bench.sizes;
    let Speeds { alone, crowded, held } = speeds;
    let named = |name: String, values| Figure::new("P10", name, "/s", values);
    let kept = |name: String, pace: Pace| {
        let base = [pace.of_this_minute(&alone)];
        named(name, pace.claims).floor("alone, in the same minute", &base)
    };
    let beside = format!("with {} ended and {} pending, {batch} a claim", sizes.other_ended, sizes.other_pending);
    let old = format!("and a snapshot held open for {} s, {batch} a claim", sizes.snapshot.as_secs());
    let (mut crowded, held) = (kept(beside, crowded), kept(old, held));
    let alone =
        named(format!("claiming {}, {batch} a claim", sizes.jobs), alone.claims).floor("UPDATE by key", &alone.plain);
    if batch == TYPICAL {
        crowded = crowded.target(Target::AtLeast(TYPICAL as f64 / A_CLAIM * 1e3));
    }
    [alone, crowded, held]
}

impl Setup {
    /// More often than configured, because a run takes less than a second, each time after the floor.
    async fn pace(&self, batch: i64, sizes: &Sizes) -> Result<Pace, Error> {
        let mut pace = Pace::default();
        for _ in 0..2 * sizes.runs + 1 {
            pace.plain.push(plain_per_second(&self.fixture.database, batch, PLAIN * sizes.jobs).await?);
            pace.claims.push(self.per_second(batch, sizes.jobs).await?);
        }
        Ok(pace)
    }

    /// Inserts jobs with precedence over all others, and claims them. Without ANALYZE: a queue must not need it.
    async fn per_second(&self, batch: i64, jobs: usize) -> Result<f64, Error> {
        let insert = "INSERT INTO jobs (prompt, priority) SELECT 'claim ' || n, 9 FROM generate_series(1, $1) AS n";
        sqlx::query(insert)
            .bind(i64::try_from(jobs)?)
            .execute(&self.fixture.database.pool)
            .await
            .during("insert jobs")?;
        let started = Instant::now();
        let mut claimed = 0;
        while claimed < jobs {
            let limit = batch.min(i64::try_from(jobs - claimed)?);
            let taken =
                self.store.claim(self.worker, limit, None, ENDLESS_LEASE_SECS).await.during("claim jobs")?.len();
            if taken == 0 {
                return Err(Error::new(format!("only {claimed} of {jobs} jobs could be claimed")));
            }
            claimed += taken;
        }
        Ok(jobs as f64 / started.elapsed().as_secs_f64())
    }

    /// Jobs come and go for a while, so that dead rows accumulate, which an open snapshot keeps.
    async fn churn(&self, jobs: usize, time: Duration) -> Result<(), Error> {
        let started = Instant::now();
        while started.elapsed() < time {
            self.per_second(BATCHES[0], jobs).await?;
        }
        Ok(())
    }
}

async fn create_plain(database: &Database) -> Result<(), Error> {
    let create = "CREATE TABLE plain_queue (id bigint PRIMARY KEY, prompt text, worker_id uuid)";
    sqlx::query(create).execute(&database.pool).await?;
    Ok(())
}

/// The simplest claim: a row is marked as claimed, and the client knows the rows.
async fn plain_per_second(database: &Database, batch: i64, jobs: usize) -> Result<f64, Error> {
    let jobs = i64::try_from(jobs)?;
    sqlx::query("TRUNCATE plain_queue").execute(&database.pool).await?;
    let insert = "INSERT INTO plain_queue (id, prompt) SELECT n, 'claim ' || n FROM generate_series(1, $1) AS n";
    sqlx::query(insert).bind(jobs).execute(&database.pool).await?;
    // Otherwise it would be scanned completely each time, until autovacuum runs a minute later.
    sqlx::query("ANALYZE plain_queue").execute(&database.pool).await?;
    let (mut connection, worker, mut claimed) = (database.pool.acquire().await?, Uuid::now_v7(), 0);
    let started = Instant::now();
    while claimed < jobs {
        let update = "UPDATE plain_queue SET worker_id = $1 WHERE id > $2 AND id <= $3 RETURNING id, prompt";
        let query = sqlx::query_as::<_, (i64, String)>(update).bind(worker).bind(claimed).bind(claimed + batch);
        claimed += i64::try_from(query.fetch_all(&mut *connection).await?.len())?;
    }
    Ok(jobs as f64 / started.elapsed().as_secs_f64())
}

/// Other jobs: ended ones, and pending ones with a lower priority. Written without triggers and in one statement each,
/// because millions of them would take an hour; then vacuumed.
async fn fill(database: &Database, ended: usize, pending: usize) -> Result<(), Error> {
    let mut tx = database.pool.begin().await?;
    sqlx::query("SET LOCAL session_replication_role = replica").execute(&mut *tx).await?;
    // Ascending ids, as the worker makes them: with random ones, the index takes most of the time.
    let insert = "INSERT INTO jobs (id, prompt, status, completed_at)
                  SELECT lpad(to_hex(n), 32, '0')::uuid, 'ended ' || n, 'completed', now()
                  FROM generate_series(1, $1) AS n";
    sqlx::query(insert).bind(i64::try_from(ended)?).execute(&mut *tx).await.during("insert ended jobs")?;
    let insert = "INSERT INTO jobs (prompt) SELECT 'waiting ' || n FROM generate_series(1, $1) AS n";
    sqlx::query(insert).bind(i64::try_from(pending)?).execute(&mut *tx).await.during("insert pending jobs")?;
    tx.commit().await?;
    sqlx::query("VACUUM (ANALYZE) jobs").execute(&database.pool).await.during("vacuum the table of jobs")?;
    Ok(())
}

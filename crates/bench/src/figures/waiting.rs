//! P23: jobs that wait for people's decisions cost the others nothing. Two databases, one of them with jobs in review that
//! each wait for a call, are measured in turn.

use super::commit::{claimer, connect};
use crate::{
    database::Database,
    error::{During, Error},
    fixture::{Bench, Fixture},
    procfs,
    proxy::Proxy,
    report::{Figure, Target, percentile},
    sizes::Sizes,
};
use plumbline_bench::ENDLESS_LEASE_SECS;
use plumbline_store::Store;
use std::time::{Duration, Instant};
use uuid::Uuid;

/// Jobs in review, each with one pending call.
const WAITING: i64 = 50_000;
/// Runs of each, in turn.
const RUNS: usize = 5;
/// Claims of a run.
const CLAIMS: usize = 1_000;
/// Jobs per claim.
const BATCH: i64 = 10;
/// Settling time of an idle worker: threads without work end after ten seconds, and take their CPU time out of the sum.
const SETTLES: Duration = Duration::from_secs(13);

struct Setup {
    fixture: Fixture,
    store: Store,
    worker: Uuid,
    seen: Seen,
}

/// One value a run.
#[derive(Default)]
struct Seen {
    /// 99th percentile of a claim, in milliseconds.
    claim: Vec<f64>,
    /// Statements per second of an idle worker.
    statements: Vec<f64>,
    /// CPU time of an idle worker, in percent of a core.
    cpu: Vec<f64>,
}

pub(super) async fn measure(bench: &Bench) -> Result<Vec<Figure>, Error> {
    let (mut empty, mut waiting) = (Setup::new(bench, "empty").await?, Setup::new(bench, "waiting").await?);
    fill(&waiting.fixture.database).await?;
    for _ in 0..RUNS {
        for setup in [&mut empty, &mut waiting] {
            setup.run(bench).await?;
        }
    }
    let figures = figures(&empty.seen, &waiting.seen);
    bench.close(empty.fixture).await?;
    bench.close(waiting.fixture).await?;
    Ok(figures)
}

fn figures(empty: &Seen, waiting: &Seen) -> Vec<Figure> {
    let with = format!("with {WAITING} calls that wait");
    let named = |name: &str, unit, values: &[f64]| Figure::new("P23", format!("{name}, {with}"), unit, values.to_vec());
    let more = waiting.cpu.iter().zip(&empty.cpu).map(|(waiting, empty)| waiting - empty).collect::<Vec<_>>();
    vec![
        named("p99 of a claim", "ms", &waiting.claim)
            .floor("without them", &empty.claim)
            .target(Target::RatioAtMost(1.2)),
        named("statements per second, idle", "/s", &waiting.statements)
            .floor("without them", &empty.statements)
            // One statement more or less, by when a window begins.
            .target(Target::RatioAtMost(1.1)),
        named("more CPU of a worker, idle", "% of a core", &more).target(Target::AtMost(1.0)),
    ]
}

impl Setup {
    async fn new(bench: &Bench, name: &str) -> Result<Self, Error> {
        let fixture = bench.fixture(name, Duration::ZERO).await?;
        let store = connect(&fixture, 2).await?;
        Ok(Self { worker: claimer(&store).await?, store, fixture, seen: Seen::default() })
    }

    async fn run(&mut self, bench: &Bench) -> Result<(), Error> {
        self.seen.claim.push(self.claims().await?);
        // The worker must find nothing to do.
        sqlx::query("DELETE FROM jobs WHERE status = 'running'").execute(&self.fixture.database.pool).await?;
        sqlx::query("VACUUM (ANALYZE) jobs").execute(&self.fixture.database.pool).await?;
        let (statements, cpu) = self.idle(bench, &bench.sizes).await?;
        self.seen.statements.push(statements);
        self.seen.cpu.push(cpu);
        Ok(())
    }

    async fn claims(&self) -> Result<f64, Error> {
        let insert = "INSERT INTO jobs (prompt) SELECT 'claim ' || n FROM generate_series(1, $1) AS n";
        let jobs = BATCH * i64::try_from(CLAIMS)?;
        sqlx::query(insert).bind(jobs).execute(&self.fixture.database.pool).await.during("insert jobs")?;
        let mut times = Vec::with_capacity(CLAIMS);
        for _ in 0..CLAIMS {
            let began = Instant::now();
            let claimed = self.store.claim(self.worker, BATCH, None, ENDLESS_LEASE_SECS).await.during("claim jobs")?;
            times.push(began.elapsed().as_secs_f64() * 1e3);
            if claimed.is_empty() {
                return Err(Error::new("there was no job to claim"));
            }
        }
        Ok(percentile(&times, 0.99))
    }

    async fn idle(&self, bench: &Bench, sizes: &Sizes) -> Result<(f64, f64), Error> {
        let proxy = Proxy::start(bench.server.address()).await?;
        let url = self.fixture.database.url_through(proxy.port());
        let worker = self.fixture.worker_on(&url, 50, &[])?;
        tokio::time::sleep(SETTLES).await;
        let (statements, cpu) = (proxy.counts().statements(), procfs::cpu(worker.pid())?);
        tokio::time::sleep(sizes.idle).await;
        let statements = (proxy.counts().statements() - statements) as f64 / sizes.idle.as_secs_f64();
        let cpu = procfs::cpu(worker.pid())?.saturating_sub(cpu).as_secs_f64() / sizes.idle.as_secs_f64() * 100.0;
        worker.stop()?;
        Ok((statements, cpu))
    }
}

/// Written without triggers and in one statement each, then vacuumed.
async fn fill(database: &Database) -> Result<(), Error> {
    let mut tx = database.pool.begin().await?;
    sqlx::query("SET LOCAL session_replication_role = replica").execute(&mut *tx).await?;
    let jobs = "INSERT INTO jobs (id, prompt, status, status_reason, waits_since, started_at)
                SELECT lpad(to_hex(n), 32, '0')::uuid, 'waits ' || n, 'review', 'waits for approval of http_pay (call c)', now(), now()
                FROM generate_series(1, $1) AS n";
    sqlx::query(jobs).bind(WAITING).execute(&mut *tx).await.during("insert jobs in review")?;
    let calls = "INSERT INTO approvals (job_id, step, call_id, tool, tool_sha256, arguments, arguments_sha256, shown, expires_at)
                 SELECT id, 1, 'c', 'http_pay', sha256('t'), '{\"amount\": 1}', sha256('a'), '{\"amount\": 1}', now() + interval '1 day'
                 FROM jobs WHERE status = 'review'";
    sqlx::query(calls).execute(&mut *tx).await.during("insert pending calls")?;
    tx.commit().await?;
    sqlx::query("VACUUM (ANALYZE) jobs").execute(&database.pool).await.during("vacuum the table of jobs")?;
    sqlx::query("VACUUM (ANALYZE) approvals").execute(&database.pool).await.during("vacuum the table of calls")?;
    Ok(())
}

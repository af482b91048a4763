//! Two faults, the second at the moment when another worker takes over: a rescue must survive its own interruption.

use crate::{baseline::Baseline, fixture, kills::all_ended, latency, size::Size};
use plumbline_system_tests::{Answer, PgPool, Program, Signal, Uuid, World, cluster::Cluster, eventually, seed::Seed};

/// The fault of the worker that holds the jobs.
#[derive(Clone, Copy, Debug)]
enum First {
    Kill,
    Freeze,
    Stop,
}

/// The fault while its successor takes over.
#[derive(Clone, Copy, Debug)]
enum Second {
    Kill,
    Freeze,
    Stop,
    EndSessions,
    RestartFast,
    RestartImmediate,
}

const FIRST: [First; 3] = [First::Kill, First::Freeze, First::Stop];
const SECOND: [Second; 6] =
    [Second::Kill, Second::Freeze, Second::Stop, Second::EndSessions, Second::RestartFast, Second::RestartImmediate];

/// Jobs in each pair.
const JOBS: usize = 4;

/// Plays the scene.
pub(crate) async fn play(size: &Size, mut seed: Seed) -> String {
    let cluster = Cluster::start();
    let world = World::new(cluster.database().await).await;
    latency::keep_worker_names(&world.pool).await;
    let baseline = Baseline::measure(&world, None).await;
    let mut pairs: Vec<(First, Second)> =
        FIRST.iter().flat_map(|first| SECOND.iter().map(|second| (*first, *second))).collect();
    let mut jobs = Vec::new();
    let wanted = size.pairs.unwrap_or(pairs.len());
    for number in 0..wanted {
        let pair = pairs.swap_remove(seed.below(pairs.len() as u64) as usize);
        // No job can end before so many calls are made: however late the test looks, they are still there.
        let calls = 1 + seed.below(baseline.requests - 1);
        world.model.hold_from(world.model.requests() + calls);
        let ended = suffer(&cluster, &world, &baseline, pair, number).await;
        for &job in &ended {
            assert_eq!(world.job(job).await.status, "completed", "{pair:?}");
        }
        jobs.extend(ended);
    }
    let repeated = baseline.assert_same(&world, &jobs).await;
    world.finish_repaired().await;
    format!("{wanted} pairs over {} jobs: 0 failed, all the same; {repeated}", jobs.len())
}

/// One pair; gives the jobs that went through it.
async fn suffer(
    cluster: &Cluster,
    world: &World,
    baseline: &Baseline,
    (first, second): (First, Second),
    n: usize,
) -> Vec<Uuid> {
    let (holder, successor) = (start(world, "holder", n), start(world, "successor", n));
    eventually("the successor to be there", async || is_there(&world.pool, &successor.0).await.then_some(())).await;
    successor.1.signal(Signal::STOP);
    let mut jobs = Vec::new();
    for _ in 0..JOBS {
        jobs.push(baseline.insert(world).await);
    }
    eventually("the holder to hold them", async || (held(&world.pool, &holder.0).await == JOBS as i64).then_some(()))
        .await;
    successor.1.signal(Signal::CONT);
    match first {
        First::Kill => holder.1.signal(Signal::KILL),
        First::Freeze => holder.1.signal(Signal::STOP),
        First::Stop => holder.1.signal(Signal::TERM),
    }
    eventually("the successor to take over", async || {
        if !matches!(first, First::Stop) {
            world.age_worker(&holder.0).await;
        }
        (held(&world.pool, &successor.0).await > 0).then_some(())
    })
    .await;
    match second {
        Second::Kill => successor.1.signal(Signal::KILL),
        Second::Freeze => successor.1.signal(Signal::STOP),
        Second::Stop => successor.1.signal(Signal::TERM),
        Second::EndSessions => end_sessions(&world.pool).await,
        Second::RestartFast => cluster.restart("fast").await,
        Second::RestartImmediate => cluster.restart("immediate").await,
    }
    if matches!(second, Second::Kill | Second::Freeze) {
        world.age_worker(&successor.0).await;
    }
    world.model.answers(Answer::Work);
    let mut third = vec![start(world, "third", n)];
    all_ended(world, &mut third).await;
    for (program, frozen) in
        [(&holder.1, matches!(first, First::Freeze)), (&successor.1, matches!(second, Second::Freeze))]
    {
        if frozen {
            // Zombies to the end: all their writes are refused.
            program.signal(Signal::CONT);
        }
    }
    jobs
}

/// A worker that does not wait for calls in flight when it is stopped.
fn start(world: &World, role: &str, n: usize) -> (String, Program) {
    let name = format!("{role}-{n}");
    let mut command = fixture::worker(world, &name);
    command.env("PLUMBLINE_DRAIN_SECS", "1");
    (name, world.start(command))
}

async fn is_there(pool: &PgPool, name: &str) -> bool {
    let there = "SELECT EXISTS (SELECT FROM worker_names WHERE hostname = $1)";
    sqlx::query_scalar(there).bind(name).fetch_one(pool).await.expect("workers can be read")
}

async fn held(pool: &PgPool, name: &str) -> i64 {
    sqlx::query_scalar(
        "SELECT count(*) FROM jobs JOIN worker_names n ON n.id = jobs.worker_id
         WHERE status = 'running' AND hostname = $1",
    )
    .bind(name)
    .fetch_one(pool)
    .await
    .expect("jobs can be counted")
}

/// All sessions but this one.
async fn end_sessions(pool: &PgPool) {
    let end = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
               WHERE datname = current_database() AND pid <> pg_backend_pid() AND application_name LIKE 'plumbline%'";
    sqlx::query(end).execute(pool).await.expect("the owner may end sessions");
}

//! A reachable database that prevents work: the worker waits, reports it, retries rarely, and continues by itself. (The
//! fault suite has more faults, with more jobs; this tests the view of a supervisor and an operator.)

use plumbline_system_tests::{
    Answer, Uuid, World, cluster::Cluster, documents, eventually, jobs::NewJob, probe::Probed, volume::Volume,
};
use sqlx::{AssertSqlSafe, Executor as _, PgPool};
use std::{
    fs,
    time::{Duration, Instant},
};

/// For how long it is watched whether a worker that can do nothing does little.
const WINDOW: Duration = Duration::from_secs(3);
/// Maximum log lines and transactions in that time: the backoff soon grows to five seconds. (Without backoff there
/// would be thousands. A server reports transactions up to ten seconds late, which the bound allows for.)
const MOST_LINES: usize = 15;
const MOST_TRANSACTIONS: i64 = 150;

/// A world on a separate cluster.
async fn world_on(cluster: &Cluster) -> World {
    World::new(cluster.database().await).await
}

fn name(world: &World) -> String {
    world.pool.connect_options().get_database().expect("a database has a name").to_owned()
}

/// A worker, and some jobs whose model calls are held in their middle.
async fn in_the_middle(world: &World) -> (Probed, Vec<Uuid>) {
    let policy = documents::policy(2);
    world.model.hold_from(12);
    let mut jobs = Vec::new();
    for _ in 0..3 {
        jobs.push(world.insert(&NewJob::with_content("policy.md", policy.markdown.as_bytes())).await);
    }
    // A clockwork as in production, but for the sweep, and for a lease that outlasts the trouble.
    let mut command = world.command(&["worker"]);
    command.env("PLUMBLINE_LEASE_SECS", "600").env("PLUMBLINE_HEARTBEAT_SECS", "5").env("PLUMBLINE_POLL_MS", "1000");
    let worker = Probed::start(world, command).await;
    world.model.arrived(14).await;
    (worker, jobs)
}

/// The worker reports that it cannot work, and does not retry all the time.
async fn is_waited_for(worker: &Probed, transactions: impl AsyncFn() -> Option<i64>) {
    let said = eventually("the worker to be not ready", async || {
        let (status, said) = worker.ask("/readyz").await;
        (status == 503).then_some(said)
    })
    .await;
    assert!(said["reason"].as_str().is_some_and(|reason| reason.contains("database")), "{said}");
    assert_eq!(worker.ask("/healthz").await.0, 200, "a restart would not help");
    // The server's statistics come late: the queries above must not count.
    tokio::time::sleep(WINDOW).await;
    let lines = || worker.program.stderr().lines().count();
    let (begun, before) = (Instant::now(), (lines(), transactions().await));
    // Measures activity in a time span, which may be longer on a busy machine.
    tokio::time::sleep(WINDOW).await;
    let (said, after) = (lines() - before.0, transactions().await);
    let windows = begun.elapsed().as_secs_f64() / WINDOW.as_secs_f64();
    assert!(said as f64 <= MOST_LINES as f64 * windows, "{said} lines:\n{}", worker.program.stderr());
    if let (Some(before), Some(after)) = (before.1, after) {
        assert!((after - before) as f64 <= MOST_TRANSACTIONS as f64 * windows, "{} transactions", after - before);
    }
}

/// The jobs continue by themselves and lose nothing.
async fn go_on(world: &World, worker: Probed, jobs: &[Uuid]) {
    for &job in jobs {
        let row = world.becomes(job, "completed").await;
        assert_eq!((row.attempt, row.claims), (1, 1), "the trouble cost an attempt");
    }
    eventually("the worker to be ready", async || (worker.ask("/readyz").await.0 == 200).then_some(())).await;
    let asked: i64 = sqlx::query_scalar("SELECT sum(total_requests)::bigint FROM jobs")
        .fetch_one(&world.pool)
        .await
        .expect("jobs can be read");
    assert_eq!(world.model.requests(), asked as u64, "an answer that was paid for was thrown away");
    worker.program.stop().await;
}

/// The number of transactions in the world's database, from its statistics, which lag a little.
async fn transactions(admin: &PgPool, name: &str) -> Option<i64> {
    sqlx::query_scalar("SELECT xact_commit + xact_rollback FROM pg_stat_database WHERE datname = $1")
        .bind(name)
        .fetch_one(admin)
        .await
        .ok()
}

#[tokio::test]
async fn a_read_only_database_is_waited_for() {
    if !Cluster::is_installed() {
        return;
    }
    let cluster = Cluster::start();
    let world = world_on(&cluster).await;
    let admin = cluster.admin("postgres");
    let (worker, jobs) = in_the_middle(&world).await;
    let name = name(&world);
    let read_only = |on: bool| AssertSqlSafe(format!("ALTER DATABASE {name} SET default_transaction_read_only = {on}"));
    let end_sessions = || {
        let end = format!("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'");
        AssertSqlSafe(end)
    };
    admin.execute(read_only(true)).await.expect("the owner may");
    admin.execute(end_sessions()).await.expect("the owner may");
    world.model.answers(Answer::Work);
    is_waited_for(&worker, async || transactions(&admin, &name).await).await;
    admin.execute(read_only(false)).await.expect("the owner may");
    admin.execute(end_sessions()).await.expect("the owner may");
    go_on(&world, worker, &jobs).await;
    world.finish().await;
}

#[tokio::test]
async fn a_full_disk_is_waited_for() {
    if !Cluster::is_installed() {
        return;
    }
    let place = tempfile::Builder::new().prefix("plumbline-disk-").tempdir_in("/tmp").expect("a folder can be made");
    let Some(volume) = Volume::small(place.path(), "48m") else { return };
    let cluster = Cluster::start();
    cluster.own(place.path());
    let admin = cluster.admin("postgres");
    let space = format!("CREATE TABLESPACE small LOCATION '{}'", place.path().display());
    admin.execute(AssertSqlSafe(space)).await.expect("the owner may");
    admin.execute("ALTER DATABASE postgres SET default_tablespace = small").await.expect("the owner may");
    let pool = cluster.database().await;
    let database = pool.connect_options().get_database().expect("it has a name").to_owned();
    let moved = AssertSqlSafe(format!("ALTER DATABASE {database} SET TABLESPACE small"));
    admin.execute(moved).await.expect("an empty database that nobody uses can be moved");
    let world = World::new(pool).await;
    let (worker, jobs) = in_the_middle(&world).await;
    let filler = volume.fill();
    world.model.answers(Answer::Work);
    is_waited_for(&worker, async || transactions(&admin, &database).await).await;
    assert!(worker.program.stderr().contains("No space left on device"), "{}", worker.program.stderr());
    fs::remove_file(filler).expect("the filler can be removed");
    go_on(&world, worker, &jobs).await;
    world.finish().await;
    drop((cluster, volume));
}

#[tokio::test]
async fn a_server_that_goes_down_for_want_of_space_is_waited_for() {
    if !Cluster::is_installed() {
        return;
    }
    let place = tempfile::Builder::new().prefix("plumbline-disk-").tempdir_in("/tmp").expect("a folder can be made");
    let Some(volume) = Volume::small(place.path(), "200m") else { return };
    let data = place.path().join("data");
    let cluster = Cluster::start_in(&data, &["wal_recycle=off", "min_wal_size=32MB"]);
    let world = world_on(&cluster).await;
    let (worker, jobs) = in_the_middle(&world).await;
    let filler = volume.fill();
    // Fill the disk with write-ahead log until the server stops.
    let admin = cluster.admin("postgres");
    while admin.execute("SELECT pg_logical_emit_message(false, 'x', repeat('x', 1000000))").await.is_ok() {}
    world.model.answers(Answer::Work);
    is_waited_for(&worker, async || None).await;
    fs::remove_file(filler).expect("the filler can be removed");
    cluster.restart("immediate").await;
    go_on(&world, worker, &jobs).await;
    world.finish().await;
    drop((cluster, volume));
}

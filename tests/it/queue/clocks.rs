//! Workers whose machines have wrong clocks: an hour fast, an hour slow, and one that jumps forth and back. Leases,
//! deadlines and timestamps in rows use only the database's clock.

use plumbline_system_tests::{Command, PgPool, Program, World, documents, eventually, jobs::NewJob};
use serde_json::json;
use sqlx::Row as _;
use std::path::{Path, PathBuf};

/// Tolerance in seconds for timestamps in rows: longer than any wait of this test.
const EXACT: f64 = 60.0;
/// Seconds that a job is not to be run before.
const LATER: f64 = 4.0;

/// Compiles the library that makes a clock wrong; the C compiler is the one that the binary was linked with.
fn wrong_clock(folder: &Path) -> PathBuf {
    let library = folder.join("shift.so");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("it/queue/clocks/shift.c");
    let compiled = std::process::Command::new("cc")
        .args(["-shared", "-fPIC", "-o"])
        .arg(&library)
        .arg(source)
        .output()
        .expect("a C compiler is installed, Rust links with it");
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    library
}

fn with_clock(mut command: Command, library: &Path, shift: &str, jumps: bool) -> Command {
    command.env("LD_PRELOAD", library).env("CLOCK_SHIFT", shift);
    if jumps {
        command.env("CLOCK_JUMPS", "yes");
    }
    command
}

fn worker(world: &World, library: &Path, (shift, jumps): (&str, bool)) -> Program {
    world.start(with_clock(world.command(&["worker", "--concurrency", "3"]), library, shift, jumps))
}

async fn now(pool: &PgPool) -> f64 {
    sqlx::query_scalar("SELECT extract(epoch FROM clock_timestamp())::float8").fetch_one(pool).await.expect("a clock")
}

/// Every timestamp in every row: table, column, the earliest and the latest in seconds since 1970. A file's time comes
/// from a person's machine and is excluded.
async fn times(pool: &PgPool) -> Vec<(String, f64, f64)> {
    let columns = "SELECT table_name::text, column_name::text FROM information_schema.columns
                   JOIN information_schema.tables USING (table_schema, table_name)
                   WHERE table_schema = 'public' AND table_type = 'BASE TABLE' AND data_type LIKE 'timestamp%'
                     AND table_name <> '_sqlx_migrations'";
    let columns: Vec<(String, String)> = sqlx::query_as(columns).fetch_all(pool).await.expect("a catalogue");
    let mut times = Vec::new();
    for (table, column) in columns {
        let ends = format!(
            "SELECT extract(epoch FROM min({column}))::float8 AS first, extract(epoch FROM max({column}))::float8 AS last
             FROM {table}"
        );
        let row = sqlx::query(sqlx::AssertSqlSafe(ends)).fetch_one(pool).await.expect("a column can be read");
        if let (Some(first), Some(last)) = (row.get("first"), row.get("last")) {
            times.push((format!("{table}.{column}"), first, last));
        }
    }
    times
}

#[sqlx::test(migrations = false)]
async fn workers_with_wrong_clocks_take_nothing_from_each_other_and_write_the_right_time(pool: PgPool) {
    let world = World::new(pool).await;
    let library = wrong_clock(world.folder());
    let told = world.start(with_clock(world.command(&["doctor"]), &library, "3600", false)).ended().await;
    assert!(told.stdout.contains("clock"), "the library makes no clock wrong: {}", told.stdout);
    let begun = now(&world.pool).await;
    let workers = [("3600", false), ("-3600", false), ("3600", true)].map(|clock| worker(&world, &library, clock));
    eventually("all workers", async || {
        let there: i64 =
            sqlx::query_scalar("SELECT count(*) FROM workers").fetch_one(&world.pool).await.expect("workers");
        (there == 3).then_some(())
    })
    .await;
    let policy = documents::policy(2);
    // Half an hour is neither over nor has it begun an hour ago.
    let config = json!({"limits": {"deadline_s": 1800}});
    let new = NewJob { config: Some(config), ..NewJob::with_content("policy.md", policy.markdown.as_bytes()) };
    let later = NewJob { in_seconds: LATER, ..new.clone() };
    let mut jobs = Vec::new();
    for number in 0..9 {
        jobs.push(world.insert(if number % 3 == 0 { &later } else { &new }).await);
    }
    for &job in &jobs {
        let row = world.becomes(job, "completed").await;
        assert_eq!((row.attempt, row.claims), (1, 1), "a wrong clock took job {job} from its worker");
    }
    let early = "SELECT count(*) FROM attempts a JOIN jobs j ON j.id = a.job_id WHERE a.started_at < j.run_at";
    let early: i64 = sqlx::query_scalar(early).fetch_one(&world.pool).await.expect("attempts can be read");
    assert_eq!(early, 0, "a job was begun before its time");
    let (from, to) = (begun - EXACT, now(&world.pool).await + EXACT);
    let times = times(&world.pool).await;
    assert!(times.len() > 10, "{times:?}");
    for (column, first, last) in times {
        assert!(first >= from && last <= to, "{column} is from {:.0} s to {:.0} s off", first - begun, last - begun);
    }
    for worker in workers {
        worker.stop().await;
    }
    world.finish().await;
}

#[sqlx::test(migrations = false)]
async fn a_job_that_waits_for_its_model_is_parked_by_the_databases_clock(pool: PgPool) {
    let world = World::new(pool).await;
    let library = wrong_clock(world.folder());
    let worker = worker(&world, &library, ("3600", false));
    world.model.answers(plumbline_system_tests::Answer::Fail(503, Some(120)));
    let job = world.insert(&NewJob { prompt: "Say what records are", ..NewJob::default() }).await;
    world.until(job, "is parked", |job| job.status == "pending" && job.reason.is_some()).await;
    let wait = "SELECT extract(epoch FROM run_at - now())::float8 FROM jobs WHERE id = $1";
    let wait: f64 = sqlx::query_scalar(wait).bind(job).fetch_one(&world.pool).await.expect("a job can be read");
    assert!((0.0..600.0).contains(&wait), "it is parked for {wait:.0} s");
    worker.stop().await;
    world.finish().await;
}

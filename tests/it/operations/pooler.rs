//! PgBouncer between the worker and Postgres, in each of its modes.

use plumbline_system_tests::{World, cluster::Cluster, documents, jobs::NewJob, pgbouncer::PgBouncer};
use sqlx::ConnectOptions as _;

/// A world on a separate cluster, and the address of its database behind a PgBouncer in this mode.
async fn behind(mode: &str) -> Option<(Cluster, PgBouncer, World, String)> {
    if !PgBouncer::is_installed() {
        plumbline_system_tests::skipped("pgbouncer is not installed", ".ci/prepare programs");
        return None;
    }
    if !Cluster::is_installed() {
        return None;
    }
    let cluster = Cluster::start();
    let bouncer = PgBouncer::start(&cluster, mode).await;
    let world = World::new(cluster.database().await).await;
    let address = world.pool.connect_options().as_ref().clone().port(bouncer.port()).to_url_lossy().to_string();
    Some((cluster, bouncer, world, address))
}

#[tokio::test]
async fn in_session_mode_everything_works() {
    let Some((_cluster, _bouncer, world, address)) = behind("session").await else { return };
    let through = |arguments: &[&str]| {
        let mut command = world.command(arguments);
        command.env("DATABASE_URL", &address);
        world.start(command)
    };
    let migrated = through(&["migrate"]).ended().await;
    assert_eq!(migrated.code, Some(0), "{}", migrated.stderr);
    let workers = [through(&["worker", "--concurrency", "4"]), through(&["worker", "--concurrency", "4"])];
    let policy = documents::policy(1);
    let mut jobs = Vec::new();
    for _ in 0..8 {
        jobs.push(world.insert(&NewJob::with_content("policy.md", policy.markdown.as_bytes())).await);
    }
    for &job in &jobs {
        let row = world.becomes(job, "completed").await;
        assert_eq!((row.attempt, row.claims), (1, 1));
    }
    let doctor = through(&["doctor"]).ended().await;
    assert_eq!(doctor.code, Some(0), "{}{}", doctor.stdout, doctor.stderr);
    for worker in workers {
        // That something took long is the machine's matter.
        let late = ["slow", "heartbeat timed out"];
        let log = worker.stderr();
        let warned = log.lines().find(|line| line.contains("WARN") && !late.iter().any(|words| line.contains(words)));
        assert_eq!(warned, None, "{log}");
        worker.stop().await;
    }
    world.finish().await;
}

#[tokio::test]
async fn what_cannot_work_is_refused_at_the_start_with_the_reason() {
    for (mode, words) in [("transaction", "in transaction mode"), ("statement", "in statement mode")] {
        let Some((_cluster, _bouncer, world, address)) = behind(mode).await else { return };
        for arguments in [["worker", "--until-idle"].as_slice(), &["migrate"]] {
            let mut command = world.command(arguments);
            command.env("DATABASE_URL", &address);
            let ended = world.start(command).ended().await;
            let said = ended.stderr.trim();
            assert_eq!(ended.code, Some(1), "{arguments:?}: {said}");
            assert!(said.contains(words) && said.contains("pool_mode"), "{arguments:?}: {said}");
            // The log is on the same stream, and may note that a connection was slow to give back.
            let sentences = said.lines().filter(|line| !line.starts_with('{')).count();
            assert_eq!(sentences, 1, "one sentence: {said}");
        }
        world.finish().await;
    }
}

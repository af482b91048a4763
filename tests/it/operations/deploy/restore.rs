//! Backup and restore as in `deploy/README.md`: Postgres contains everything.

use plumbline_system_tests::{Answer, PgPool, Uuid, World, cluster::Cluster, documents, jobs, jobs::NewJob, mirror};
use sqlx::{AssertSqlSafe, ConnectOptions as _, Executor as _};
use std::{path::Path, process::Command};

/// The address without options of our driver.
fn plain(url: &str) -> &str {
    url.split('?').next().unwrap_or(url)
}

/// Runs one of Postgres's programs; nothing to test where they are not installed.
fn run(program: &str, arguments: &[&str]) -> bool {
    match Command::new(program).args(arguments).output() {
        Err(_) => false,
        Ok(ended) => {
            let said = String::from_utf8_lossy(&ended.stderr);
            assert!(ended.status.success(), "{program}: {said}");
            true
        }
    }
}

/// A dump taken while a worker is in the middle of a job is restored elsewhere, and another worker with an empty
/// workspace continues: the folder is rebuilt from rows, and the result is that of an uninterrupted job.
#[sqlx::test(migrations = false)]
async fn a_dump_of_a_running_job_is_enough_to_finish_it_elsewhere(pool: PgPool) {
    let world = World::new(pool).await;
    let policy = documents::policy(2);
    let job = world.insert(&NewJob::with_content("policy.md", policy.markdown.as_bytes())).await;
    world.model.hold_from(12);
    let worker = world.worker();
    world.model.arrived(12).await;
    let dump = world.folder().join("plumbline.dump");
    if !run("pg_dump", &["--format", "custom", "--file", &dump.display().to_string(), plain(&world.url())]) {
        plumbline_system_tests::skipped("pg_dump is not installed", "apt-get install postgresql-client");
        worker.kill().await;
        return world.finish().await;
    }
    world.model.answers(Answer::Work);
    let original = world.becomes(job, "completed").await;
    worker.stop().await;

    let name = format!("restored_{}", Uuid::now_v7().simple());
    world
        .pool
        .execute(AssertSqlSafe(format!("CREATE DATABASE {name} TEMPLATE template0")))
        .await
        .expect("a database can be created");
    let options = world.pool.connect_options().as_ref().clone().database(&name);
    let url = options.to_url_lossy().to_string();
    run("pg_restore", &["--no-owner", "--exit-on-error", "--dbname", plain(&url), &dump.display().to_string()]);
    let restored = PgPool::connect_with(options).await.expect("the restored database can be reached");
    let found = jobs::read(&restored, job).await;
    assert_eq!(found.status, "running", "the dump is of a job at work");
    assert!(0 < found.step && found.step < original.step, "{found:?}");

    // A dump is usually older than a lease when it is restored.
    restored
        .execute("UPDATE workers SET heartbeat_at = heartbeat_at - interval '1 hour'")
        .await
        .expect("workers can be aged");
    let workspace = world.folder().join("elsewhere");
    finish_elsewhere(&world, &url, &workspace).await;
    let finished = jobs::becomes(&restored, job, "completed").await;
    assert_eq!(finished.result, original.result, "the same result as without the restore");
    let rows = mirror::rows(&restored, job).await;
    assert!(rows.contains_key("main_plan.md"));
    assert_eq!(mirror::folder(&workspace.join(format!("job_{job}"))), rows);
    plumbline_system_tests::invariants::check_invariants(&restored).await;
    restored.close().await;
    world.pool.execute(AssertSqlSafe(format!("DROP DATABASE {name}"))).await.expect("a database can be dropped");
    world.finish().await;
}

/// A worker on the restored database, until nothing is left to do. The worker of the dump is dead there.
pub(super) async fn finish_elsewhere(world: &World, url: &str, workspace: &Path) {
    let mut command = world.command(&["worker", "--until-idle"]);
    command.env("DATABASE_URL", url).env("PLUMBLINE_WORKSPACE_DIR", workspace);
    let ended = world.start(command).ended().await;
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
}

/// Another server has none of the roles that the dump names.
#[sqlx::test(migrations = false)]
async fn a_dump_is_restored_on_another_server_with_its_roles(pool: PgPool) {
    if !Cluster::is_installed() {
        return;
    }
    let world = super::user::world(pool).await;
    let policy = documents::policy(1);
    let job = world.insert(&NewJob::with_content("policy.md", policy.markdown.as_bytes())).await;
    world.work_until_idle().await;
    let original = world.becomes(job, "completed").await;
    let dump = world.folder().join("plumbline.dump");
    if !run("pg_dump", &["--format", "custom", "--file", &dump.display().to_string(), plain(&world.url())]) {
        plumbline_system_tests::skipped("pg_dump is not installed", "apt-get install postgresql-client");
        return world.finish().await;
    }
    let other = Cluster::start();
    let restored = other.database().await;
    let url = restored.connect_options().to_url_lossy().to_string();
    let roles = async || world.run(&["roles", "--database", &url]).await;
    let before = roles().await;
    assert_eq!(before.code, Some(0), "{}", before.stderr);
    assert!(before.stdout.contains("run this again"), "{}", before.stdout);
    run("pg_restore", &["--no-owner", "--exit-on-error", "--dbname", plain(&url), &dump.display().to_string()]);
    for _ in 0..2 {
        let after = roles().await;
        assert_eq!((after.code, after.stdout.lines().count()), (Some(0), 1), "{}", after.stderr);
        assert!(!after.stdout.contains("again"), "{}", after.stdout);
    }
    let found = jobs::read(&restored, job).await;
    assert_eq!((found.status.as_str(), found.result), ("completed", original.result));
    let next = world.insert(&NewJob { prompt: "Say what records are", ..NewJob::default() }).await;
    assert_ne!(next, job);
    let again = NewJob { prompt: "Say what records are", ..NewJob::default() }.insert(&restored).await;
    finish_elsewhere(&world, &url, &world.folder().join("there")).await;
    jobs::becomes(&restored, again, "completed").await;
    let policies = "SELECT count(*) FROM pg_policies WHERE tablename IN ('jobs', 'requirement_cache')";
    let policies: i64 = sqlx::query_scalar(policies).fetch_one(&restored).await.expect("policies can be counted");
    assert_eq!(policies, 7);
    plumbline_system_tests::invariants::check_invariants(&restored).await;
    restored.close().await;
    world.work_until_idle().await;
    world.finish().await;
}

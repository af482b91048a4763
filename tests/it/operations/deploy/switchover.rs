//! A switchover as blue/green upgrades do it: all tables are published, another server subscribes, and workers go on
//! there. Logical replication copies rows, not sequences, and fires no triggers.

use super::restore::finish_elsewhere;
use plumbline_system_tests::{PgPool, World, cluster::Cluster, documents, eventually, invariants, jobs, jobs::NewJob};
use sqlx::{AssertSqlSafe, ConnectOptions as _, Executor as _};

/// A new database with the schema on a server, and its address.
async fn migrated(world: &World, cluster: &Cluster) -> (PgPool, String) {
    let pool = cluster.database().await;
    let url = pool.connect_options().to_url_lossy().to_string();
    let mut command = world.command(&["migrate"]);
    command.env("DATABASE_URL", &url);
    let ended = world.start(command).ended().await;
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    (pool, url)
}

async fn tables(pool: &PgPool) -> Vec<String> {
    let tables = "SELECT format('%I', relname) FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace ORDER BY 1";
    sqlx::query_scalar(tables).fetch_all(pool).await.expect("tables can be listed")
}

/// A fingerprint of each table's rows.
async fn rows(pool: &PgPool) -> Vec<(String, String)> {
    let mut rows = Vec::new();
    for table in tables(pool).await {
        let print =
            format!("SELECT count(*) || coalesce(md5(string_agg(t::text, '|' ORDER BY t::text)), '') FROM {table} t");
        let print = sqlx::query_scalar(AssertSqlSafe(print)).fetch_one(pool).await.expect("rows can be read");
        rows.push((table, print));
    }
    rows
}

#[sqlx::test(migrations = false)]
async fn published_tables_are_continued_on_another_server(pool: PgPool) {
    if !Cluster::is_installed() {
        return;
    }
    let world = World::new(pool).await;
    let (before, after) = (Cluster::start(), Cluster::start());
    before.admin("postgres").execute("ALTER SYSTEM SET wal_level = logical").await.expect("the owner may");
    before.restart("fast").await;
    let (old, old_url) = migrated(&world, &before).await;
    let (new, new_url) = migrated(&world, &after).await;
    old.execute("CREATE PUBLICATION everything FOR ALL TABLES").await.expect("the owner may");
    // The schema alone is wanted; what a migration wrote is copied as well.
    for (table, _) in rows(&new).await.into_iter().filter(|(_, print)| !print.starts_with('0')) {
        new.execute(AssertSqlSafe(format!("DELETE FROM {table}"))).await.expect("the owner may");
    }
    let subscribe = format!(
        "CREATE SUBSCRIPTION everything CONNECTION 'host=127.0.0.1 port={} user=plumbline password={} dbname={}' PUBLICATION everything",
        before.port(),
        before.password(),
        old.connect_options().get_database().unwrap_or_default()
    );
    new.execute(AssertSqlSafe(subscribe)).await.expect("the owner may");

    // Each kind of statement on published tables: a job that ran, a prune, and a job in the middle of its work.
    let policy = documents::policy(2);
    let done = NewJob::with_content("policy.md", policy.markdown.as_bytes()).insert(&old).await;
    finish_elsewhere(&world, &old_url, &world.folder().join("old")).await;
    let pruned = NewJob { prompt: "Wait", in_seconds: 1e6, ..NewJob::default() }.insert(&old).await;
    sqlx::query("DELETE FROM jobs WHERE id = $1")
        .bind(pruned)
        .execute(&old)
        .await
        .expect("published rows can be deleted");
    let job = NewJob::with_content("policy.md", policy.markdown.as_bytes()).insert(&old).await;
    let asked = world.model.requests();
    world.model.hold_from(asked + 4);
    let mut command = world.command(&["worker"]);
    command.env("DATABASE_URL", &old_url).env("PLUMBLINE_WORKSPACE_DIR", world.folder().join("old"));
    let worker = world.start(command);
    world.model.arrived(asked + 4).await;
    sqlx::query("SELECT send_feedback($1, 'Look at the archive, too.')")
        .bind(job)
        .execute(&old)
        .await
        .expect("feedback");
    worker.kill().await;
    world.model.answers(plumbline_system_tests::Answer::Work);

    eventually("the other server to have every row", async || (rows(&old).await == rows(&new).await).then_some(()))
        .await;
    new.execute("DROP SUBSCRIPTION everything").await.expect("the owner may");
    new.execute("UPDATE workers SET heartbeat_at = heartbeat_at - interval '1 hour'")
        .await
        .expect("workers can be aged");
    finish_elsewhere(&world, &new_url, &world.folder().join("new")).await;
    jobs::becomes(&new, job, "completed").await;
    assert_eq!(jobs::read(&new, done).await.status, "completed");

    // New rows take no key that a copied row has.
    let next = NewJob::with_content("policy.md", policy.markdown.as_bytes()).insert(&new).await;
    sqlx::query("SELECT send_feedback($1, 'Again.')")
        .bind(next)
        .execute(&new)
        .await
        .expect("feedback after the switchover");
    finish_elsewhere(&world, &new_url, &world.folder().join("new")).await;
    jobs::becomes(&new, next, "completed").await;
    invariants::check_invariants(&new).await;
    for pool in [old, new] {
        pool.close().await;
    }
    world.finish().await;
}

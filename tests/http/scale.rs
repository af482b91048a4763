//! The dashboard with 100,000 jobs and a job of 10,000 turns: each statement reads a page's worth and each page is one.
//! Asserts blocks read and bytes sent, which are the same on a busy machine, not times.

use crate::client::{get, serving};
use plumbline_system_tests::{PgPool, Uuid, World};
use serde_json::Value;
use sqlx::{Connection, PgConnection, Row};

/// A statement of the dashboard, its arguments, and the blocks (8 KiB) that it may touch.
const STATEMENTS: [(&str, &str, i64); 21] = [
    ("attempts", "md5('job7')::uuid, 20", 40),
    // Every request of the job: 10,000 short rows.
    ("cost", "md5('job7')::uuid, 120", 800),
    // Every job, from the index alone.
    ("counts", "1000000", 2000),
    ("file_part", "md5('job7')::uuid, 'workspace.md', 0, 65536", 40),
    ("files", "md5('job7')::uuid, '', 200", 1600),
    ("files", "md5('job7')::uuid, 'chunks/chunk_5', 200", 1600),
    // Every requirement of the job: 5,000 rows.
    ("findings", "md5('job7')::uuid", 5500),
    // At most fifty jobs of each of six shelves, of which fifty are shown.
    ("jobs", "50, NULL, NULL, NULL, NULL, NULL", 1200),
    ("jobs", "50, now() - interval '12 days', md5('x')::uuid, NULL, NULL, NULL", 1200),
    ("jobs", "50, now() - interval '12 days', md5('x')::uuid, 'failed', NULL, NULL", 800),
    ("jobs", "50, now() - interval '12 days', md5('x')::uuid, NULL, 'reviewer', NULL", 800),
    ("jobs", "50, NULL, NULL, 'completed', 'reviewer', NULL", 800),
    ("phases", "md5('job7')::uuid, 60", 2500),
    ("pulse", "", 300),
    ("requirements", "md5('job7')::uuid, '80000000-0000-0000-0000-000000000000', 25", 120),
    ("source", "md5('job7')::uuid, 'input/policy.pdf'", 20),
    ("steps", "md5('job7')::uuid, NULL, 25, 1500", 600),
    ("steps", "md5('job7')::uuid, 5000, 25, 1500", 600),
    ("todos", "md5('job7')::uuid, 200", 65),
    ("todos", "md5('job7')::uuid, 141", 1200),
    // The types of running jobs, too, a row each.
    ("types", "50", 200),
];

/// The largest answer of a page, in bytes.
const PAGE: usize = 400_000;

async fn fill(pool: &PgPool) {
    let mut connection = PgConnection::connect_with(&pool.connect_options()).await.expect("the database answers");
    for statement in include_str!("scale.sql").split(";\n").filter(|statement| !statement.trim().is_empty()) {
        sqlx::raw_sql(sqlx::AssertSqlSafe(statement.to_owned()))
            .execute(&mut connection)
            .await
            .unwrap_or_else(|error| panic!("{error}: {statement}"));
    }
    until_all_visible(&mut connection).await;
}

/// Vacuums until each page of the large tables is marked as visible to all: where a transaction of the server's own
/// (an ANALYZE of autovacuum) was open in this database, VACUUM marks nothing, and counts from an index read the table. The
/// few rows that were updated are cleared out of the indexes, too, or their page would never be marked.
async fn until_all_visible(connection: &mut PgConnection) {
    loop {
        let left: i64 = sqlx::query_scalar(
            "SELECT coalesce(sum(relpages - relallvisible), 0) FROM pg_class
             WHERE oid IN ('jobs'::regclass, 'requirement_cache'::regclass)",
        )
        .fetch_one(&mut *connection)
        .await
        .expect("the catalog can be read");
        if left == 0 {
            return;
        }
        sqlx::raw_sql("VACUUM (INDEX_CLEANUP ON) jobs, requirement_cache")
            .execute(&mut *connection)
            .await
            .expect("tables are vacuumed");
    }
}

fn statement(name: &str) -> String {
    let path = format!("{}/../crates/store/queries/views/dashboard/{name}.sql", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path} could not be read: {error}"))
}

async fn explain(pool: &PgPool, name: &str, arguments: &str) -> Value {
    let mut connection = PgConnection::connect_with(&pool.connect_options()).await.expect("the database answers");
    let arguments = if arguments.is_empty() { String::new() } else { format!("({arguments})") };
    // The final plan of a connection's statement cache.
    let script = format!(
        "SET plan_cache_mode = force_generic_plan; PREPARE asked AS {};
         EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) EXECUTE asked{arguments}",
        statement(name)
    );
    let rows = sqlx::raw_sql(sqlx::AssertSqlSafe(script))
        .fetch_all(&mut connection)
        .await
        .unwrap_or_else(|error| panic!("{name}: {error}"));
    let mut plan: Value = rows.last().and_then(|row| row.try_get(0).ok()).expect("EXPLAIN gives a plan");
    plan[0]["Plan"].take()
}

fn scans_the_jobs(node: &Value) -> bool {
    let here = node["Node Type"] == "Seq Scan" && node["Relation Name"] == "jobs";
    here || node["Plans"].as_array().is_some_and(|below| below.iter().any(scans_the_jobs))
}

/// Names of the dashboard's statements, from their folder.
fn known() -> Vec<String> {
    let folder = format!("{}/../crates/store/queries/views/dashboard", env!("CARGO_MANIFEST_DIR"));
    let files = std::fs::read_dir(folder).expect("the statements have a folder");
    let names = files.filter_map(|file| file.expect("a folder can be listed").file_name().into_string().ok());
    names.filter_map(|name| Some(name.strip_suffix(".sql")?.to_owned())).collect()
}

#[sqlx::test(migrations = "../migrations")]
async fn a_busy_year_makes_no_page_slow(pool: PgPool) {
    let world = World::new(pool).await;
    fill(&world.pool).await;
    for name in known() {
        assert!(STATEMENTS.iter().any(|(known, ..)| *known == name), "{name}.sql is not tried here: add it");
    }
    for (name, arguments, most) in STATEMENTS {
        let plan = explain(&world.pool, name, arguments).await;
        let blocks = |key: &str| plan[key].as_i64().unwrap_or(0);
        let read = blocks("Shared Hit Blocks") + blocks("Shared Read Blocks");
        println!("{name}({arguments}): {read} blocks of {most}");
        assert!(read <= most, "{name}({arguments}) touches {read} blocks: {plan:#}");
        assert!(!scans_the_jobs(&plan), "{name}({arguments}) reads all jobs: {plan:#}");
    }
    let job: Uuid = sqlx::query_scalar("SELECT md5('job7')::uuid").fetch_one(&world.pool).await.expect("an id");
    let (program, address) =
        serving(world.start(world.command(&["worker", "--http", "127.0.0.1:0", "--job-types", "none-of-them"]))).await;
    for path in
        ["/", "/?status=failed", "/?type=reviewer", "/api/jobs", "/metrics"].map(str::to_owned).into_iter().chain(
            ["", "/timeline", "/timeline?before=5000", "/plan", "/files", "/requirements"]
                .map(|view| format!("/jobs/{job}{view}")),
        )
    {
        let answer = get(address, &path).await;
        assert_eq!(answer.status, 200, "{path}: {}", answer.body);
        assert!(answer.body.len() < PAGE, "{path} is {} bytes", answer.body.len());
    }
    program.stop().await;
    // These rows were never a job's, and no invariant holds of them.
    sqlx::query("TRUNCATE jobs, workers CASCADE").execute(&world.pool).await.expect("tables can be emptied");
    world.finish().await;
}

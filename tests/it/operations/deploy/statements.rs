//! The store's statements against the roles: every granted right is used, and a statement that no role may run is
//! detected.

use super::user::{REFUSED, world};
use plumbline_system_tests::PgPool;
use sqlx::{AssertSqlSafe, ConnectOptions as _, Connection as _, Executor as _, PgConnection};
use std::{collections::BTreeSet, fs, path::Path};

/// Statements that no worker runs: deleting jobs, removing a fork's settings, and the decisions of people.
const NO_WORKERS: [&str; 4] = ["admin/decide_call", "admin/forget_settings", "admin/grant_calls", "admin/prune"];

/// Signs of a writing statement: SQL keywords, or a function that runs with its owner's rights.
const WRITES: [&str; 16] = [
    "INSERT ",
    "UPDATE ",
    "DELETE ",
    "FOR SHARE",
    "FOR NO KEY UPDATE",
    "index_embeddings(",
    "cancel_job(",
    "pause_job(",
    "resume_job(",
    "retry_job(",
    "approve_job(",
    "send_feedback(",
    "decide_call(",
    "grant_calls(",
    "use_grants(",
    "expire_calls(",
];

/// The statements that a role may run are listed, so that a new statement fails here: it belongs to the worker, so
/// grant its rights to the worker's role.
#[sqlx::test(migrations = false)]
async fn every_statement_of_the_store_is_in_somebodys_rights(pool: PgPool) {
    let world = world(pool).await;
    let all: BTreeSet<String> = statements().into_iter().map(|(name, _)| name).collect();
    let workers = allowed(&world.pool, "work").await;
    let others = NO_WORKERS.map(str::to_owned).into();
    assert_eq!(&all - &workers, others, "statements that plumbline_work must not run");
    let enqueue = allowed(&world.pool, "enqueue").await;
    for needed in ["queue/enqueue", "queue/job_by_key", "admin/schema_version"] {
        assert!(enqueue.contains(needed), "{needed} in {enqueue:?}");
    }
    let readable = allowed(&world.pool, "watch").await;
    for (name, text) in statements() {
        let writes = WRITES.iter().any(|word| text.contains(word));
        assert_eq!(readable.contains(&name), !writes, "plumbline_watch and {name}");
    }
    for role in ["enqueue", "validate", "steer"] {
        let found = allowed(&world.pool, role).await;
        let workers =
            ["queue/claim", "commit/commit_steps", "run/load_messages", "workspace/read_file", "run/settings"];
        assert!(workers.iter().all(|statement| all.contains(*statement)), "a statement has another name");
        assert!(found.is_disjoint(&workers.map(str::to_owned).into()), "{role} may do the worker's work");
    }
    world.finish().await;
}

/// The store's statements without their comments, by their path in `queries/`.
fn statements() -> Vec<(String, String)> {
    let mut found = Vec::new();
    collect(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/store/queries"), "", &mut found);
    found.sort();
    found
}

fn collect(folder: &Path, prefix: &str, found: &mut Vec<(String, String)>) {
    for entry in fs::read_dir(folder).expect("the statements can be listed") {
        let path = entry.expect("an entry can be read").path();
        let stem = path.file_stem().expect("a file has a name").to_string_lossy();
        if path.is_dir() {
            collect(&path, &format!("{prefix}{stem}/"), found);
        } else {
            let text = fs::read_to_string(&path).expect("a statement can be read");
            let bare: Vec<_> = text.lines().map(|line| line.split("--").next().unwrap_or_default()).collect();
            found.push((format!("{prefix}{stem}"), bare.join("\n")));
        }
    }
}

/// The statements that the role may run. They are planned and not run: rights are checked when a plan is made ready.
async fn allowed(pool: &PgPool, role: &str) -> BTreeSet<String> {
    let mut connection = pool.connect_options().connect().await.expect("the owner can connect");
    connection.execute(AssertSqlSafe(format!("SET ROLE plumbline_{role}"))).await.expect("the role can be taken on");
    let mut allowed = BTreeSet::new();
    for (name, text) in statements() {
        if may_run(&mut connection, &name, &text).await {
            allowed.insert(name);
        }
    }
    connection.close().await.expect("a connection can be closed");
    allowed
}

async fn may_run(connection: &mut PgConnection, name: &str, text: &str) -> bool {
    let arguments = (1..100).take_while(|number| text.contains(&format!("${number}"))).map(|_| "NULL");
    let arguments = arguments.collect::<Vec<_>>().join(", ");
    let arguments = if arguments.is_empty() { arguments } else { format!("({arguments})") };
    let plan = format!("PREPARE \"{name}\" AS {text}; EXPLAIN EXECUTE \"{name}\"{arguments}");
    match sqlx::raw_sql(AssertSqlSafe(plan)).execute(connection).await {
        Ok(_) => true,
        Err(error) => {
            let code = error.as_database_error().and_then(|error| error.code());
            assert_eq!(code.as_deref(), Some(REFUSED), "{name}: {error}");
            false
        }
    }
}

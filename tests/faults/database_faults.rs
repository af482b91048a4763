//! A database that is there and will not: each fault lasts long enough that no step can be committed, and passes.

use crate::{baseline::Baseline, size::Size};
use plumbline_system_tests::{
    Answer, PgPool, Uuid, World,
    cluster::{Cluster, PASSWORD, WORKER, create_database},
};
use sqlx::{AssertSqlSafe, Executor as _, Row as _};
use std::time::Duration;

/// One fault: statements that begin it and end it, said by the cluster's owner.
struct DatabaseFault {
    name: &'static str,
    begin: &'static [&'static str],
    end: &'static [&'static str],
}

/// Sessions that are open notice nothing of a changed password or limit: they are ended.
const END_SESSIONS: &str = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'worker'";

const FAULTS: [DatabaseFault; 6] = [
    DatabaseFault {
        name: "read-only",
        // Sessions would hear of a setting of the server a moment later.
        begin: &["ALTER ROLE worker SET default_transaction_read_only = on", END_SESSIONS],
        end: &["ALTER ROLE worker RESET default_transaction_read_only", END_SESSIONS],
    },
    DatabaseFault {
        name: "too many connections",
        begin: &["ALTER ROLE worker CONNECTION LIMIT 0", END_SESSIONS],
        end: &["ALTER ROLE worker CONNECTION LIMIT -1"],
    },
    DatabaseFault {
        name: "changed password",
        begin: &["ALTER ROLE worker PASSWORD 'second'", END_SESSIONS],
        end: &["ALTER ROLE worker PASSWORD 'first'"],
    },
    DatabaseFault {
        name: "right taken away",
        begin: &["REVOKE INSERT ON checkpoints FROM worker"],
        end: &["GRANT INSERT ON checkpoints TO worker"],
    },
    DatabaseFault {
        name: "locked table",
        begin: &["BEGIN", "LOCK TABLE checkpoints IN ACCESS EXCLUSIVE MODE"],
        end: &["ROLLBACK"],
    },
    DatabaseFault {
        name: "deadlock and serialization failures",
        begin: &[
            "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
             BEGIN RAISE EXCEPTION 'a test' USING ERRCODE = (ARRAY['40001', '40P01'])[1 + (random() > 0.5)::int]; END $$",
            "CREATE TRIGGER refuse BEFORE INSERT ON checkpoints FOR EACH ROW EXECUTE FUNCTION refuse()",
        ],
        end: &["DROP TRIGGER refuse ON checkpoints", "DROP FUNCTION refuse"],
    },
];

/// Plays the scene.
pub(crate) async fn play(_size: &Size) -> String {
    let cluster = Cluster::start();
    let owner = cluster.admin("postgres");
    let role = format!("CREATE ROLE {WORKER} LOGIN PASSWORD '{PASSWORD}' CREATEDB");
    owner.execute(AssertSqlSafe(role)).await.expect("a role can be created");
    let as_worker = cluster.owner().username(WORKER).password(PASSWORD);
    let world = World::new(create_database(&as_worker).await).await;
    let database = world.pool.connect_options().get_database().expect("it has a name").to_owned();
    let admin = cluster.admin(&database);
    let baseline = Baseline::measure(&world, None).await;
    let mut jobs = Vec::new();
    for fault in &FAULTS {
        jobs.push(suffer(&world, &baseline, &admin, fault).await);
    }
    baseline.assert_same(&world, &jobs).await;
    world.finish().await;
    let names: Vec<&str> = FAULTS.iter().map(|fault| fault.name).collect();
    format!("{}: no step lost, no job failed", names.join(", "))
}

/// A job whose model answers only once the fault is there, so that the next commit meets it.
async fn suffer(world: &World, baseline: &Baseline, admin: &PgPool, fault: &DatabaseFault) -> Uuid {
    let job = baseline.insert(world).await;
    let in_the_middle = world.model.requests() + baseline.requests / 2;
    world.model.hold_from(in_the_middle);
    let mut worker = world.worker();
    world.model.arrived(in_the_middle).await;
    // One session says all, because some of it is the session's own.
    let mut session = admin.acquire().await.expect("the owner can connect");
    for statement in fault.begin {
        session.execute(*statement).await.unwrap_or_else(|error| panic!("{}: {error}", fault.name));
    }
    let before = steps(&mut session, job).await;
    world.model.answers(Answer::Work);
    world.model.answered(in_the_middle).await;
    tokio::time::sleep(LASTS).await;
    assert_eq!(steps(&mut session, job).await, before, "{}: a step was committed in it", fault.name);
    assert!(worker.runs(), "{} ended the worker: {}", fault.name, worker.stderr());
    for statement in fault.end {
        session.execute(*statement).await.unwrap_or_else(|error| panic!("{}: {error}", fault.name));
    }
    drop(session);
    world.becomes(job, "completed").await;
    worker.stop().await;
    job
}

/// Longer than a worker tries only once.
const LASTS: Duration = Duration::from_millis(1_500);

async fn steps(session: &mut sqlx::PgConnection, job: Uuid) -> i64 {
    let steps = sqlx::query("SELECT step FROM jobs WHERE id = $1").bind(job).fetch_one(session).await;
    steps.expect("a job can be read").get("step")
}

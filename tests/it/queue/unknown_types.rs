//! Jobs of a type that no live worker knows wait with a reason, and fail only after a time.

use plumbline_system_tests::{Answer, PgPool, Program, Uuid, World, eventually, jobs::NewJob};
use std::fs;

const TYPE: &str = "comparison";

/// A worker that knows one type more than the others.
fn knowing_worker(world: &World) -> Program {
    let folder = world.folder().join("more").join(TYPE);
    fs::create_dir_all(&folder).expect("the world's folder can be written");
    fs::write(folder.join("config.json"), r#"{"$extends": "creator", "job_type": "comparison"}"#).expect("a file");
    fs::write(folder.join("instructions.md"), "Compare the documents.\n").expect("a file");
    let mut command = world.command(&["worker"]);
    command.env("PLUMBLINE_CONFIG_DIR", world.folder().join("more"));
    world.start(command)
}

async fn told(world: &World, job: Uuid) -> String {
    let row = world.until(job, "the reason why it waits", |job| {
        job.reason.as_deref().is_some_and(|reason| reason.starts_with("no live worker knows"))
    });
    let row = row.await;
    assert_eq!((row.status.as_str(), row.attempt), ("pending", 0), "{row:?}");
    let list = world.run(&["status", "--status", "pending"]).await.stdout;
    assert!(list.contains("no live worker knows"), "the list says why: {list}");
    row.reason.unwrap_or_default()
}

/// Draining the only worker that knows a type leaves its queue, and the job that ran, to the next one.
#[sqlx::test(migrations = false)]
async fn draining_the_only_worker_of_a_type_fails_nothing(pool: PgPool) {
    let world = World::new(pool).await;
    world.model.hold_from(3);
    let knowing = knowing_worker(&world);
    let job = || NewJob { job_type: TYPE, prompt: "Say what records are", ..NewJob::default() };
    let (first, second) = (world.insert(&job()).await, world.insert(&job()).await);
    world.model.arrived(3).await;
    let other = world.worker();
    knowing.stop().await;
    let third = world.insert(&job()).await;
    for waiting in [first, second, third] {
        let reason = told(&world, waiting).await;
        assert!(reason.contains(&format!("`{TYPE}`")), "{reason}");
    }
    // The other one continues with its known types meanwhile.
    world.model.answers(Answer::Work);
    let known = world.insert(&NewJob { prompt: "Say what records are", ..NewJob::default() }).await;
    world.becomes(known, "completed").await;
    assert_eq!(world.job(third).await.claims, 0, "nobody takes what he does not know");
    let knowing = knowing_worker(&world);
    for job in [first, second, third] {
        let row = world.becomes(job, "completed").await;
        assert_eq!(row.reason, None);
    }
    knowing.stop().await;
    other.stop().await;
    world.finish().await;
}

#[sqlx::test(migrations = false)]
async fn it_fails_after_its_time_with_what_could_be_meant(pool: PgPool) {
    let world = World::new(pool).await;
    let bad = world.insert(&NewJob { job_type: "craetor", prompt: "Say what records are", ..NewJob::default() }).await;
    let patient = world.worker();
    told(&world, bad).await;
    patient.stop().await;
    let mut command = world.command(&["worker"]);
    command.env("PLUMBLINE_UNKNOWN_TYPE_SECS", "1");
    let worker = world.start(command);
    let row = world.becomes(bad, "failed").await;
    let sentence = row.error.unwrap_or_default();
    for word in ["`craetor`", "creator", "PLUMBLINE_UNKNOWN_TYPE_SECS"] {
        assert!(sentence.contains(word), "`{word}` is not in: {sentence}");
    }
    assert_eq!(row.details.unwrap_or_default()["kind"], "configuration");
    assert_eq!(world.model.requests(), 0);
    worker.stop().await;
    world.finish().await;
}

/// A worker that is to end when nothing can run does not wait for a type that it does not know.
#[sqlx::test(migrations = false)]
async fn enqueue_warns_of_an_unknown_type_and_idle_is_idle(pool: PgPool) {
    let world = World::new(pool).await;
    let enqueue = async |job_type: &str| world.run(&["enqueue", "--prompt", "Say it", "--type", job_type]).await;
    let silent = enqueue("creator").await;
    assert_eq!((silent.code, silent.stderr.as_str()), (Some(0), ""));
    let worker = world.worker();
    eventually("the worker to be known", async || {
        let live: i64 = sqlx::query_scalar("SELECT count(*) FROM workers").fetch_one(&world.pool).await.ok()?;
        (live == 1).then_some(())
    })
    .await;
    let warned = enqueue("comparison").await;
    assert_eq!(warned.code, Some(0));
    let id: Uuid = warned.stdout.trim().parse().expect("the id alone");
    assert!(warned.stderr.contains("no live worker knows the job type `comparison`"), "{}", warned.stderr);
    assert_eq!(warned.stderr.lines().count(), 1, "{}", warned.stderr);
    worker.stop().await;
    world.work_until_idle().await;
    assert_eq!(world.job(id).await.status, "pending");
    world.finish().await;
}

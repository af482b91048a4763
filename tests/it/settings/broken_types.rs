//! A mistake in the files of a job type blocks no queue: its jobs wait with a reason, and the others run.

use super::own_types::{job, job_types, run};
use plumbline_system_tests::{PgPool, Uuid, World, eventually, jobs::NewJob, probe::Probed};
use serde_json::json;
use std::{fs, path::PathBuf};

/// The output of `plumbline config check` for the only error.
async fn sentence(world: &World, dir: &PathBuf) -> String {
    let check = run(world, dir, &["config", "check"]).await;
    assert_eq!((check.code, check.stdout.lines().count()), (Some(1), 1), "{}", check.stdout);
    let same = run(world, dir, &["config", "check", &dir.display().to_string()]).await;
    assert_eq!(same.stdout, check.stdout, "the folder by its name");
    check.stdout.trim_end().to_owned()
}

async fn waits(world: &World, id: Uuid, reason: &str) {
    let row = world.until(id, "the reason why it waits", |job| job.reason.as_deref() == Some(reason)).await;
    assert_eq!((row.status.as_str(), row.attempt, row.claims), ("pending", 0, 0), "{row:?}");
}

#[sqlx::test(migrations = false)]
async fn a_type_that_does_not_resolve_waits_with_the_sentence_of_the_check(pool: PgPool) {
    let world = World::new(pool).await;
    let dir = job_types(&world, &[("broken", json!({"autonomie": "review"})), ("sound", json!({}))]);
    let reason = sentence(&world, &dir).await;
    assert!(reason.contains("broken/config.json:3: unknown key `autonomie`; did you mean `autonomy`?"), "{reason}");
    let (broken, sound) = (world.insert(&job("broken", None)).await, world.insert(&job("sound", None)).await);
    let mut command = world.command(&["worker"]);
    // A type that no worker knows would fail at once.
    command.env("PLUMBLINE_UNKNOWN_TYPE_SECS", "1");
    command.env("PLUMBLINE_CONFIG_DIR", &dir);
    let worker = Probed::start(&world, command).await;
    world.becomes(sound, "completed").await;
    waits(&world, broken, &reason).await;
    let (status, ready) = worker.ask("/readyz").await;
    assert_eq!((status, ready["note"].as_str()), (200, Some(reason.as_str())), "{ready}");
    let doctor = run(&world, &dir, &["doctor"]).await;
    let line = format!("FAIL  job type: broken: {reason}");
    assert!(doctor.code == Some(1) && doctor.stdout.lines().any(|said| said == line), "{}", doctor.stdout);
    let warned = run(&world, &dir, &["enqueue", "--prompt", "Say it", "--type", "broken"]).await;
    assert!(warned.code == Some(0) && warned.stderr.contains(&reason), "{}", warned.stderr);

    job_types(&world, &[("broken", json!({"autonomy": "full"}))]);
    let row = world.becomes(broken, "completed").await;
    assert_eq!(row.reason, None);
    eventually("the note to go", async || worker.ask("/readyz").await.1["note"].is_null().then_some(())).await;
    worker.program.stop().await;
    world.finish().await;
}

/// Prompts are every type's: nothing resolves, and a worker that could claim nothing is not ready.
#[sqlx::test(migrations = false)]
async fn a_mistake_in_the_prompts_makes_a_worker_not_ready(pool: PgPool) {
    let world = World::new(pool).await;
    let prompts = world.folder().join("prompts");
    fs::create_dir(&prompts).expect("the world's folder can be written");
    fs::write(prompts.join("todos.yaml"), "initial:\n  - [1\n").expect("the world's folder can be written");
    let with_prompts = |arguments: &[&str]| {
        let mut command = world.command(arguments);
        command.env("PLUMBLINE_PROMPTS_DIR", &prompts);
        command
    };
    let id = world.insert(&NewJob { prompt: "Say what records are", ..NewJob::default() }).await;
    let check = world.start(with_prompts(&["config", "check"])).ended().await;
    assert_eq!((check.code, check.stdout.lines().count()), (Some(1), 1), "{}", check.stdout);
    let reason = check.stdout.trim_end();
    let worker = Probed::start(&world, with_prompts(&["worker"])).await;
    waits(&world, id, reason).await;
    let (status, ready) = worker.ask("/readyz").await;
    assert!(status == 503 && ready["reason"].as_str().is_some_and(|why| why.contains(reason)), "{ready}");
    let doctor = world.start(with_prompts(&["doctor"])).ended().await;
    assert!(doctor.code == Some(1) && doctor.stdout.contains(reason), "{}", doctor.stdout);
    fs::remove_file(prompts.join("todos.yaml")).expect("it is there");
    world.becomes(id, "completed").await;
    assert_eq!(worker.ask("/readyz").await.0, 200);
    worker.program.stop().await;
    world.finish().await;
}

/// A model that is missing may come with the next worker.
#[sqlx::test(migrations = false)]
async fn a_job_without_a_model_waits_for_one(pool: PgPool) {
    let world = World::new(pool).await;
    let id = world.insert(&NewJob { prompt: "Say what records are", ..NewJob::default() }).await;
    let mut command = world.command(&["worker", "--until-idle"]);
    command.env_remove("PLUMBLINE_MODEL");
    assert_eq!(world.start(command).ended().await.code, Some(0));
    let row = world.job(id).await;
    assert_eq!((row.status.as_str(), row.attempt), ("pending", 0), "{row:?}");
    let reason = row.reason.unwrap_or_default();
    assert!(reason.contains("no model is configured for job type `creator`; set PLUMBLINE_MODEL"), "{reason}");
    let mut command = world.command(&["doctor"]);
    command.env_remove("PLUMBLINE_MODEL");
    let doctor = world.start(command).ended().await;
    let said = doctor.stdout.lines().find(|line| line.starts_with("FAIL  job type: creator")).unwrap_or_default();
    assert!(doctor.code == Some(1) && said.contains(&reason), "{}", doctor.stdout);
    assert!(doctor.stdout.contains("note  job type: validator: "), "{}", doctor.stdout);
    world.work_until_idle().await;
    world.becomes(id, "completed").await;
    world.finish().await;
}

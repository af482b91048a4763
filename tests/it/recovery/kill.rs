//! `kill -9` at every kind of moment. The successor always continues from the last step, and the job ends with the same
//! rows and files as an undisturbed one.

use plumbline_system_tests::{
    Answer, PgPool, Uuid, World, documents, eventually,
    jobs::NewJob,
    record::{self, Record},
    seed::Seed,
};
use serde_json::json;
use std::time::{Duration, Instant};

/// An undisturbed job, for comparison.
struct Undisturbed {
    record: Record,
    /// Model calls it took.
    requests: u64,
    took: Duration,
}

async fn undisturbed(world: &World, job: &NewJob<'_>) -> Undisturbed {
    let (id, begun) = (world.insert(job).await, Instant::now());
    world.work_until_idle().await;
    let row = world.becomes(id, "completed").await;
    let requests = world.model.requests();
    assert_eq!(row.requests, requests as i64, "every model call is a row");
    Undisturbed { record: record::read(&world.pool, id).await, requests, took: begun.elapsed() }
}

impl Undisturbed {
    /// Asserts that a disturbed job has the same result, with at most one additional model call per kill.
    async fn assert_same(&self, world: &World, job: Uuid, asked_before: u64, kills: u64, what: &str) {
        let row = world.becomes(job, "completed").await;
        record::assert_same(&record::read(&world.pool, job).await, &self.record, what);
        assert_eq!(row.requests, self.requests as i64, "{what}: a call that was recorded was made again");
        let asked = world.model.requests() - asked_before;
        assert!(asked <= self.requests + kills, "{what}: {asked} model calls, {} undisturbed", self.requests);
    }
}

#[sqlx::test(migrations = false)]
async fn killed_while_a_model_call_is_in_flight(pool: PgPool) {
    let world = World::new(pool).await;
    let policy = documents::policy(5);
    let new = NewJob::with_content("policy.md", policy.markdown.as_bytes());
    let calm = undisturbed(&world, &new).await;
    let mut seed = Seed::of_run(1);
    // The first call, the last one, and some in every stretch between.
    let stretch = calm.requests / 8;
    let mut points: Vec<u64> = (0..8).map(|n| 1 + n * stretch + seed.below(stretch)).collect();
    points[0] = 1;
    points.push(calm.requests);
    for point in points {
        let before = world.model.requests();
        world.model.hold_from(before + point);
        let job = world.insert(&new).await;
        let worker = world.worker();
        world.model.arrived(before + point).await;
        worker.kill().await;
        world.model.answers(Answer::Work);
        world.age_workers().await;
        world.work_until_idle().await;
        calm.assert_same(&world, job, before, 1, &format!("killed in call {point}")).await;
    }
    world.finish().await;
}

#[sqlx::test(migrations = false)]
async fn killed_while_tools_run_or_a_step_commits(pool: PgPool) {
    let world = World::new(pool).await;
    let policy = documents::policy(5);
    let new = NewJob::with_content("policy.md", policy.markdown.as_bytes());
    let calm = undisturbed(&world, &new).await;
    let mut seed = Seed::of_run(2);
    for _ in 0..8 {
        let (point, later) = (1 + seed.below(calm.requests), Duration::from_micros(seed.below(12_000)));
        let before = world.model.requests();
        let job = world.insert(&new).await;
        let worker = world.worker();
        world.model.answered(before + point).await;
        // Not a wait for a condition: varies the moment of the kill.
        tokio::time::sleep(later).await;
        worker.kill().await;
        world.age_workers().await;
        world.work_until_idle().await;
        let what = format!("killed {later:?} after answer {point}");
        calm.assert_same(&world, job, before, 1, &what).await;
    }
    world.finish_repaired().await;
}

/// Is a job claimed? It may be past its intake when the test gets to look: the kill comes later then.
const IN_INTAKE: &str = "SELECT status <> 'pending' FROM jobs WHERE id = $1";
/// Has the system begun to prepare its documents?
const IN_PREPARATION: &str = "SELECT EXISTS (SELECT FROM workspace_files WHERE job_id = $1 AND path LIKE 'chunks/%')";
/// Has the model?
const IN_EXTRACTION: &str =
    "SELECT EXISTS (SELECT FROM messages WHERE job_id = $1 AND tool_calls::text LIKE '%extract_document_text%')";

#[sqlx::test(migrations = false)]
async fn killed_in_intake_and_preparation_with_a_live_successor(pool: PgPool) {
    let world = World::new(pool).await;
    let pdf = documents::fixture("small.pdf");
    let new = NewJob::with_content("small.pdf", &pdf);
    let calm = undisturbed(&world, &new).await;
    killed_with_a_live_successor(&world, &new, &calm, IN_INTAKE).await;
    killed_with_a_live_successor(&world, &new, &calm, IN_PREPARATION).await;
    world.finish_repaired().await;
}

#[sqlx::test(migrations = false)]
async fn killed_while_the_model_prepares_with_a_live_successor(pool: PgPool) {
    let world = World::new(pool).await;
    world.let_rows_set(&["documents.prepare"], &[]);
    let pdf = documents::fixture("small.pdf");
    let config = Some(json!({"documents": {"prepare": "model"}}));
    let new = NewJob { config, ..NewJob::with_content("small.pdf", &pdf) };
    let calm = undisturbed(&world, &new).await;
    killed_with_a_live_successor(&world, &new, &calm, IN_EXTRACTION).await;
    world.finish_repaired().await;
}

/// A job whose worker is killed as soon as `reached` returns true.
async fn killed_with_a_live_successor(world: &World, new: &NewJob<'_>, calm: &Undisturbed, reached: &'static str) {
    let before = world.model.requests();
    let job = world.insert(new).await;
    let worker = world.worker();
    eventually(reached, async || {
        let reached: bool = sqlx::query_scalar(reached).bind(job).fetch_one(&world.pool).await.expect("rows");
        reached.then_some(())
    })
    .await;
    // The successor is there before its predecessor dies and sweeps while the lease ends.
    let successor = world.worker();
    worker.kill().await;
    world.age_holder(job).await;
    calm.assert_same(world, job, before, 1, reached).await;
    successor.stop().await;
}

#[sqlx::test(migrations = false)]
async fn killed_three_times_at_random(pool: PgPool) {
    let world = World::new(pool).await;
    let markdown = documents::sample("md");
    let new = NewJob::with_content("policy.md", &markdown);
    let calm = undisturbed(&world, &new).await;
    let mut seed = Seed::of_run(3);
    let before = world.model.requests();
    let job = world.insert(&new).await;
    let third = u64::try_from(calm.took.as_millis()).expect("a run takes minutes at most") / 3;
    let mut moments = Vec::new();
    for _ in 0..3 {
        let step = world.job(job).await.step;
        let worker = world.worker();
        // A job that dies three times at one step is another test.
        world.until(job, "makes a step", |job| job.step > step || job.ended).await;
        let moment = Duration::from_millis(seed.below(third.max(1)));
        tokio::time::sleep(moment).await;
        worker.kill().await;
        world.age_workers().await;
        moments.push((moment, world.job(job).await.step));
    }
    world.work_until_idle().await;
    calm.assert_same(&world, job, before, 3, &format!("killed (after, at step) {moments:?}")).await;
    world.finish_repaired().await;
}

#[sqlx::test(migrations = false)]
async fn a_job_that_kills_its_worker_at_the_same_step_three_times_fails(pool: PgPool) {
    let world = World::new(pool).await;
    let job = world.insert(&NewJob { prompt: "Say what records are", ..NewJob::default() }).await;
    world.model.hold_from(1);
    for death in 1..=3 {
        let worker = world.worker();
        world.until(job, "is claimed", |job| job.status == "running" && job.claims == death).await;
        world.until(job, "has its first step", |job| job.step >= 1).await;
        world.model.arrived(death as u64).await;
        worker.kill().await;
        world.age_workers().await;
    }
    world.work_until_idle().await;
    let row = world.becomes(job, "failed").await;
    let error = row.error.expect("a failed job says why");
    assert!(error.contains("killed its worker three times"), "{error}");
    world.model.answers(Answer::Work);
    world.finish().await;
}

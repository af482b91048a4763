//! `kill -9` at random moments over many jobs, several workers at all times.

use crate::{
    baseline::{Baseline, Repeated},
    fixture,
    latency::{self, Times},
    size::Size,
};
use plumbline_system_tests::{PgPool, Program, Signal, Uuid, World, seed::Seed, wait::CEILING};
use std::time::{Duration, Instant};

/// Workers at any time. Each holds one job, so that a kill cuts off one run.
const WORKERS: usize = 10;
const SLOTS: &str = "1";
/// Milliseconds between two kills, at most.
const MOST_PAUSE: u64 = 400;
/// Number of unfinished jobs at any time. Some of them wait for the sweep after their worker's death; the others are at
/// most as many as the workers, so that a job that is taken back waits for nothing else.
const OPEN: i64 = 16;

/// Plays the scene.
pub(crate) async fn play(size: &Size, mut seed: Seed) -> String {
    let world = World::open().await;
    latency::keep_worker_names(&world.pool).await;
    let baseline = Baseline::measure(&world, None).await;
    let mut workers: Vec<(String, Program)> = (0..WORKERS).map(|n| start(&world, n)).collect();
    let (mut jobs, mut moments, mut started) = (Vec::new(), Vec::new(), WORKERS);
    let begun = Instant::now();
    while moments.len() < size.kills || jobs.len() < size.jobs {
        fill_to(OPEN.min(size.jobs as i64), &world, &baseline, &mut jobs).await;
        tokio::time::sleep(Duration::from_millis(seed.below(MOST_PAUSE))).await;
        let busy = busy(&world.pool).await;
        let chosen: Vec<usize> = (0..WORKERS).filter(|n| busy.contains(&workers[*n].0)).collect();
        if chosen.is_empty() {
            continue;
        }
        let victim = chosen[seed.below(chosen.len() as u64) as usize];
        // It must not claim a job of the kind that would be failed between the look and the kill.
        workers[victim].1.signal(Signal::STOP);
        if !may_be_taken_away(&world.pool, &workers[victim].0).await {
            workers[victim].1.signal(Signal::CONT);
            continue;
        }
        let (name, program) = std::mem::replace(&mut workers[victim], start(&world, started));
        started += 1;
        let at = latency::now(&world.pool).await;
        program.kill().await;
        world.age_worker(&name).await;
        moments.push((name, at));
    }
    let rate = moments.len() as f64 / begun.elapsed().as_secs_f64();
    all_ended(&world, &mut workers).await;
    let times = Times::to_the_next_step(&world.pool, &moments).await;
    let repeated = baseline.assert_same(&world, &jobs).await;
    drop(workers);
    world.close().await;
    format!(
        "{} kills ({rate:.1} a second) over {} jobs: 0 lost, 0 doubled, all the same; {repeated}; \
         from a lease that ends with kill -9 to the next step {times} (sweep every 1 s)",
        moments.len(),
        jobs.len()
    )
}

fn start(world: &World, n: usize) -> (String, Program) {
    let name = format!("killed-{n}");
    let mut command = fixture::worker(world, &name);
    command.env("PLUMBLINE_CONCURRENCY", SLOTS);
    (name, world.start(command))
}

/// Whether a stopped worker neither holds nor claims a job that lost its worker twice at one step: after a third time
/// the job counts as a poison pill, correctly.
pub(crate) async fn may_be_taken_away(pool: &PgPool, name: &str) -> bool {
    sqlx::query_scalar(
        "SELECT NOT EXISTS (
             SELECT FROM jobs LEFT JOIN worker_names n ON n.id = worker_id
             WHERE crash_count >= 2 AND (status = 'pending' OR (status = 'running' AND hostname = $1)))",
    )
    .bind(name)
    .fetch_one(pool)
    .await
    .expect("jobs can be read")
}

/// Names of the workers that hold jobs: killing another one, which perhaps is just starting, shows nothing.
pub(crate) async fn busy(pool: &PgPool) -> Vec<String> {
    sqlx::query_scalar(
        "SELECT DISTINCT hostname FROM jobs JOIN worker_names n ON n.id = worker_id WHERE status = 'running'",
    )
    .fetch_all(pool)
    .await
    .expect("jobs can be read")
}

/// Keeps the queue full for a few workers.
pub(crate) async fn fill(world: &World, baseline: &Baseline, jobs: &mut Vec<Uuid>) {
    fill_to(8, world, baseline, jobs).await;
}

pub(crate) async fn fill_to(most: i64, world: &World, baseline: &Baseline, jobs: &mut Vec<Uuid>) {
    let open: i64 = sqlx::query_scalar("SELECT count(*) FROM jobs WHERE status IN ('pending', 'running')")
        .fetch_one(&world.pool)
        .await
        .expect("jobs can be counted");
    for _ in open..most {
        jobs.push(baseline.insert(world).await);
    }
}

/// The end of a scene on a separate server: the workers finish all jobs, with the same result as the undisturbed one.
pub(crate) async fn end(
    world: World,
    baseline: &Baseline,
    mut workers: Vec<(String, Program)>,
    jobs: &[Uuid],
) -> Repeated {
    all_ended(&world, &mut workers).await;
    let repeated = baseline.assert_same(&world, jobs).await;
    drop(workers);
    world.finish_repaired().await;
    repeated
}

/// Waits until the workers have ended all jobs.
pub(crate) async fn all_ended(world: &World, workers: &mut [(String, Program)]) {
    let begun = Instant::now();
    loop {
        let open = "SELECT count(*) FROM jobs WHERE status IN ('pending', 'running')";
        let open: i64 = sqlx::query_scalar(open).fetch_one(&world.pool).await.expect("jobs can be counted");
        if open == 0 {
            return;
        }
        for (name, program) in workers.iter_mut() {
            assert!(program.runs(), "{name} ended by itself:\n{}", program.stderr());
        }
        assert!(begun.elapsed() < CEILING, "{open} jobs do not come to an end");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

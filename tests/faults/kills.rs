//! `kill -9` at random moments over many jobs, several workers at all times.

use crate::{
    calm::Calm,
    latency::{self, Times},
    size::Size,
    worlds,
};
use plumbline_system_tests::{PgPool, Program, Uuid, World, seed::Seed};
use std::time::{Duration, Instant};

/// Workers at any time.
const WORKERS: usize = 3;
/// Milliseconds between two kills, at most.
const MOST_PAUSE: u64 = 400;
/// Jobs that are not ended, at any time: never more than there are slots, so that a job waits for nothing but the
/// lease of the dead.
const OPEN: i64 = 8;
/// The longest that the last jobs may take once nobody kills any more.
const LONGEST: Duration = Duration::from_secs(180);

/// Plays the scene.
pub(crate) async fn play(size: &Size, mut seed: Seed) -> String {
    let world = worlds::open().await;
    latency::keep_worker_names(&world.pool).await;
    let calm = Calm::measure(&world, None).await;
    let mut workers: Vec<(String, Program)> = (0..WORKERS).map(|n| start(&world, n)).collect();
    let (mut jobs, mut moments, mut started) = (Vec::new(), Vec::new(), WORKERS);
    while moments.len() < size.kills || jobs.len() < size.jobs {
        fill(&world, &calm, &mut jobs).await;
        tokio::time::sleep(Duration::from_millis(seed.below(MOST_PAUSE))).await;
        if poison_is_near(&world.pool).await {
            continue;
        }
        let busy = busy(&world.pool).await;
        let chosen: Vec<usize> = (0..WORKERS).filter(|n| busy.contains(&workers[*n].0)).collect();
        if chosen.is_empty() {
            continue;
        }
        let victim = chosen[seed.below(chosen.len() as u64) as usize];
        let (name, program) = std::mem::replace(&mut workers[victim], start(&world, started));
        started += 1;
        let at = latency::now(&world.pool).await;
        program.kill().await;
        moments.push((name, at));
    }
    all_ended(&world, &mut workers).await;
    let times = Times::to_the_next_step(&world.pool, &moments).await;
    calm.assert_same(&world, &jobs).await;
    drop(workers);
    worlds::close(world).await;
    format!(
        "{} kills over {} jobs: 0 lost, 0 doubled, all the same; from kill to next step {times}",
        moments.len(),
        jobs.len()
    )
}

fn start(world: &World, n: usize) -> (String, Program) {
    let name = format!("killed-{n}");
    let program = world.start(worlds::worker(world, &name));
    (name, program)
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

/// Keeps the queue full.
pub(crate) async fn fill(world: &World, calm: &Calm, jobs: &mut Vec<Uuid>) {
    let open: i64 = sqlx::query_scalar("SELECT count(*) FROM jobs WHERE status IN ('pending', 'running')")
        .fetch_one(&world.pool)
        .await
        .expect("jobs can be counted");
    for _ in open..OPEN {
        jobs.push(calm.insert(world).await);
    }
}

/// A job that loses its worker three times at one step is taken for one that kills its workers, and rightly: so nobody
/// is killed while a job stands before its third time.
pub(crate) async fn poison_is_near(pool: &PgPool) -> bool {
    sqlx::query_scalar("SELECT EXISTS (SELECT FROM jobs WHERE crash_count >= 2 AND status IN ('pending', 'running'))")
        .fetch_one(pool)
        .await
        .expect("jobs can be read")
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
        assert!(begun.elapsed() < LONGEST, "{open} jobs do not come to an end");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

//! `SIGTERM` at random moments: jobs change hands without a lease running out.

use crate::{
    baseline::Baseline,
    fixture,
    kills::{all_ended, fill},
    latency::{self, Times},
    size::Size,
};
use plumbline_system_tests::{Program, Signal, World, seed::Seed};
use std::time::Duration;

/// Plays the scene.
pub(crate) async fn play(size: &Size, mut seed: Seed) -> String {
    let world = World::open().await;
    latency::keep_worker_names(&world.pool).await;
    let baseline = Baseline::measure(&world, None).await;
    let mut workers = vec![start(&world, 0), start(&world, 1)];
    let (mut jobs, mut moments) = (Vec::new(), Vec::new());
    for number in 2..2 + size.drains {
        fill(&world, &baseline, &mut jobs).await;
        tokio::time::sleep(Duration::from_millis(200 + seed.below(800))).await;
        let oldest = workers.remove(0);
        workers.push(start(&world, number));
        let (name, program) = oldest;
        let at = latency::now(&world.pool).await;
        program.signal(Signal::TERM);
        let ended = program.ended().await;
        assert_eq!(ended.code, Some(0), "{name} failed when it was asked to stop: {}", ended.stderr);
        moments.push((name, at));
    }
    all_ended(&world, &mut workers).await;
    let times = Times::to_the_next_step(&world.pool, &moments).await;
    let crashed = "SELECT count(*) FROM attempts WHERE outcome = 'crashed' OR attempt > 1";
    let crashed: i64 = sqlx::query_scalar(crashed).fetch_one(&world.pool).await.expect("attempts can be counted");
    assert_eq!(crashed, 0, "a worker that stops in order gives its jobs back, and the attempt with them");
    let repeated = baseline.assert_same(&world, &jobs).await;
    drop(workers);
    world.close().await;
    format!(
        "{} drains over {} jobs: all the same; {repeated}; from SIGTERM to the next step {times}",
        moments.len(),
        jobs.len()
    )
}

fn start(world: &World, n: usize) -> (String, Program) {
    let name = format!("drained-{n}");
    // No lease expires here: the test shows that none has to.
    let command = fixture::worker(world, &name);
    (name, world.start(command))
}

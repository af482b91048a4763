//! Workers frozen for longer than their lease, then thawed: whatever they still want to write is refused, by the rows
//! and by the mirror.

use crate::{
    calm::Calm,
    kills::{all_ended, busy, fill, poison_is_near},
    size::Size,
    worlds,
};
use plumbline_system_tests::{PgPool, Program, Signal, World, eventually, seed::Seed};
use std::time::Duration;

/// Workers at any time, and how many of them are frozen at once.
const WORKERS: usize = 6;
const FROZEN: usize = 4;

/// What a worker says when it finds that a job is no longer its own.
const DROPPED: &str = "job dropped: it is no longer this worker's";

/// Plays the scene.
pub(crate) async fn play(size: &Size, mut seed: Seed) -> String {
    let world = worlds::open().await;
    crate::latency::keep_worker_names(&world.pool).await;
    let calm = Calm::measure(&world, None).await;
    let mut workers: Vec<(String, Program)> = (0..WORKERS).map(|n| start(&world, n)).collect();
    let (mut jobs, mut rounds) = (Vec::new(), 0);
    while rounds < size.zombies {
        fill(&world, &calm, &mut jobs).await;
        tokio::time::sleep(Duration::from_millis(seed.below(400))).await;
        if poison_is_near(&world.pool).await {
            continue;
        }
        let busy = busy(&world.pool).await;
        let mut chosen: Vec<usize> = (0..WORKERS).filter(|n| busy.contains(&workers[*n].0)).collect();
        while chosen.len() > FROZEN.min(size.zombies - rounds) {
            chosen.swap_remove(seed.below(chosen.len() as u64) as usize);
        }
        for &n in &chosen {
            workers[n].1.signal(Signal::STOP);
        }
        for &n in &chosen {
            taken_over(&world.pool, &workers[n].0).await;
        }
        for &n in &chosen {
            workers[n].1.signal(Signal::CONT);
        }
        rounds += chosen.len();
    }
    all_ended(&world, &mut workers).await;
    let lost = "SELECT count(*) FROM attempts WHERE outcome = 'crashed'";
    let lost: i64 = sqlx::query_scalar(lost).fetch_one(&world.pool).await.expect("attempts can be counted");
    calm.assert_same(&world, &jobs).await;
    let dropped: usize = workers.iter().map(|(_, worker)| worker.stderr().matches(DROPPED).count()).sum();
    assert!(dropped > 0, "no worker noticed that it had lost a job");
    drop(workers);
    worlds::close(world).await;
    format!(
        "{rounds} zombies over {} jobs, {lost} leases lost, {dropped} runs dropped for it: every stale write refused",
        jobs.len()
    )
}

fn start(world: &World, n: usize) -> (String, Program) {
    let name = format!("frozen-{n}");
    let program = world.start(worlds::worker(world, &name));
    (name, program)
}

/// Jobs that the rows count as this worker's.
async fn held(pool: &PgPool, name: &str) -> i64 {
    sqlx::query_scalar(
        "SELECT count(*) FROM jobs JOIN worker_names n ON n.id = jobs.worker_id
         WHERE status = 'running' AND hostname = $1",
    )
    .bind(name)
    .fetch_one(pool)
    .await
    .expect("jobs can be counted")
}

/// Waits until others have taken everything away from this worker, by the lease alone.
async fn taken_over(pool: &PgPool, name: &str) {
    eventually(&format!("the jobs of {name} to be taken over"), async || (held(pool, name).await == 0).then_some(()))
        .await;
}

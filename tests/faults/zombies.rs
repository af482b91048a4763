//! Workers frozen until their lease has expired, then thawed: all their writes are refused, by the rows and by the
//! mirror.

use crate::{
    baseline::Baseline,
    fixture,
    kills::{all_ended, busy, fill_to, may_be_taken_away},
    size::Size,
};
use plumbline_system_tests::{PgPool, Program, Signal, Uuid, World, eventually, seed::Seed};
use std::time::Duration;

/// Workers at any time, and how many of them are frozen at once.
const WORKERS: usize = 7;
const FROZEN: usize = 5;
/// Most zombies beyond the size's.
const MORE: usize = 60;
/// Jobs that a worker may hold, and those that are not ended: enough to keep all workers busy.
const SLOTS: &str = "2";
const OPEN: i64 = 14;

/// The log lines of a worker that finds that it lost a job, and a folder.
const DROPPED: &str = "job dropped: this worker no longer holds its lease";
const FOLDER_LEFT: &str = "the folder belongs to a later worker";

/// Plays the scene.
pub(crate) async fn play(size: &Size, mut seed: Seed) -> String {
    let world = World::open().await;
    crate::latency::keep_worker_names(&world.pool).await;
    let baseline = Baseline::measure(&world, None).await;
    let mut workers: Vec<(String, Program)> = (0..WORKERS).map(|n| start(&world, n)).collect();
    let (mut jobs, mut rounds) = (Vec::new(), 0);
    // Which of the two refuses a zombie first is random: more are made until both have occurred.
    while rounds < size.zombies || (rounds < size.zombies + MORE && !noticed(&workers)) {
        let most = FROZEN.min((size.zombies + MORE) - rounds);
        rounds += freeze(most, &world, &baseline, &mut workers, &mut jobs, &mut seed).await;
        if rounds >= size.zombies {
            all_ended(&world, &mut workers).await;
        }
    }
    let lost = "SELECT count(*) FROM attempts WHERE outcome = 'crashed'";
    let lost: i64 = sqlx::query_scalar(lost).fetch_one(&world.pool).await.expect("attempts can be counted");
    let repeated = baseline.assert_same(&world, &jobs).await;
    let (dropped, folders) = (said(&workers, DROPPED), said(&workers, FOLDER_LEFT));
    assert!(dropped > 0, "no worker noticed that it had lost a job");
    assert!(folders > 0, "no worker noticed that it had lost a folder");
    drop(workers);
    world.close().await;
    format!(
        "{rounds} zombies over {} jobs, {lost} leases lost: refused by the rows {dropped} times, by the folders {folders} \
         times, all the same; {repeated}",
        jobs.len()
    )
}

/// Freezes up to so many workers that have work, until others have it, and thaws them; gives how many they were.
async fn freeze(
    most: usize,
    world: &World,
    baseline: &Baseline,
    workers: &mut [(String, Program)],
    jobs: &mut Vec<Uuid>,
    seed: &mut Seed,
) -> usize {
    fill_to(OPEN, world, baseline, jobs).await;
    tokio::time::sleep(Duration::from_millis(seed.below(400))).await;
    let busy = busy(&world.pool).await;
    let mut chosen: Vec<usize> = (0..WORKERS).filter(|n| busy.contains(&workers[*n].0)).collect();
    while chosen.len() > most {
        chosen.swap_remove(seed.below(chosen.len() as u64) as usize);
    }
    let mut frozen = Vec::new();
    for n in chosen {
        let (name, program) = &workers[n];
        program.signal(Signal::STOP);
        match may_be_taken_away(&world.pool, name).await {
            true => frozen.push(n),
            false => program.signal(Signal::CONT),
        }
    }
    for &n in &frozen {
        taken_over(world, &workers[n].0).await;
    }
    for &n in &frozen {
        workers[n].1.signal(Signal::CONT);
    }
    frozen.len()
}

/// How often the workers have said something.
fn said(workers: &[(String, Program)], what: &str) -> usize {
    workers.iter().map(|(_, worker)| worker.stderr().matches(what).count()).sum()
}

/// Whether zombies were refused in both ways.
fn noticed(workers: &[(String, Program)]) -> bool {
    [DROPPED, FOLDER_LEFT].iter().all(|what| said(workers, what) > 0)
}

fn start(world: &World, n: usize) -> (String, Program) {
    let name = format!("frozen-{n}");
    let mut command = fixture::worker(world, &name);
    command.env("PLUMBLINE_CONCURRENCY", SLOTS);
    (name, world.start(command))
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

/// Waits until others have taken everything away from this worker, whose lease ends. It is aged again and again: a heartbeat
/// that it sent before it was frozen may arrive after the first time.
async fn taken_over(world: &World, name: &str) {
    eventually(&format!("the jobs of {name} to be taken over"), async || {
        world.age_worker(name).await;
        (held(&world.pool, name).await == 0).then_some(())
    })
    .await;
}

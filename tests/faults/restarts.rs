//! Postgres restarted underneath, fast and immediately, with workers killed on top of it.

use crate::{
    baseline::Baseline,
    fixture,
    kills::{end, fill},
    size::Size,
};
use plumbline_system_tests::{Program, World, cluster::Cluster, jobs::poison_is_near, seed::Seed};
use std::time::Duration;

/// Plays the scene.
pub(crate) async fn play(size: &Size, mut seed: Seed) -> String {
    let cluster = Cluster::start();
    let world = World::new(cluster.database().await).await;
    let baseline = Baseline::measure(&world, None).await;
    let mut workers: Vec<(String, Program)> = (0..3).map(|n| start(&world, n)).collect();
    let (mut jobs, mut restarts, mut kills) = (Vec::new(), 0, 0);
    while restarts < size.restarts {
        fill(&world, &baseline, &mut jobs).await;
        tokio::time::sleep(Duration::from_millis(200 + seed.below(1_500))).await;
        if poison_is_near(&world.pool).await {
            continue;
        }
        if restarts % 4 == 3 {
            let victim = seed.below(workers.len() as u64) as usize;
            let number = workers.len() + kills;
            let (name, program) = std::mem::replace(&mut workers[victim], start(&world, number));
            program.kill().await;
            world.age_worker(&name).await;
            kills += 1;
        }
        cluster.restart(if restarts % 2 == 0 { "fast" } else { "immediate" }).await;
        restarts += 1;
        supervise(&world, &mut workers);
    }
    let repeated = end(world, &baseline, workers, &jobs).await;
    format!("{restarts} restarts and {kills} kills over {} jobs: 0 failed, all the same; {repeated}", jobs.len())
}

/// Restarts a worker that gave up because the database was unavailable for a minute during its start, which happens
/// here on a slow machine; a supervisor would do that.
fn supervise(world: &World, workers: &mut [(String, Program)]) {
    for (name, program) in workers {
        if !program.runs() {
            let stderr = program.stderr();
            assert!(stderr.contains("could not connect to the database"), "{name} ended by itself:\n{stderr}");
            let command = fixture::worker(world, name);
            *program = world.start(command);
        }
    }
}

fn start(world: &World, n: usize) -> (String, Program) {
    let name = format!("restarted-{n}");
    let command = fixture::worker(world, &name);
    (name, world.start(command))
}

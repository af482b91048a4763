//! A standby is promoted and the address moved to it, while the old server is dead, or still running and reachable over
//! existing connections. Commits are acknowledged once the standby has them, so no commit known to a worker may be
//! missing afterwards.

use crate::{
    baseline::Baseline,
    fixture,
    kills::{all_ended, end, fill},
    size::Size,
};
use plumbline_system_tests::{PgPool, Program, World, cluster::Cluster, proxy::Proxy, seed::Seed};
use sqlx::postgres::PgPoolOptions;
use std::time::Duration;

/// Plays the scene.
pub(crate) async fn play(size: &Size, mut seed: Seed) -> String {
    let mut primary = Cluster::start();
    let proxy = Proxy::start(primary.port()).await;
    let moving = primary.database().await.connect_options().as_ref().clone().port(proxy.port);
    let world = World::new(PgPoolOptions::new().max_connections(4).connect_lazy_with(moving)).await;
    let baseline = Baseline::measure(&world, None).await;
    let mut workers: Vec<(String, Program)> = (0..3).map(|n| start(&world, n)).collect();
    let mut jobs = Vec::new();
    for round in 0..size.failovers {
        let standby = primary.standby().await;
        fill(&world, &baseline, &mut jobs).await;
        tokio::time::sleep(Duration::from_millis(seed.below(2_000))).await;
        let dies = round % 2 == 1;
        if dies {
            primary.stop("immediate").await;
        }
        standby.promote().await;
        proxy.lead_to(standby.port());
        if !dies {
            // The old server still accepts writes; no client is left to send any.
            let old = primary.admin(world.pool.connect_options().get_database().expect("it has a name"));
            let before = newest_step(&old).await;
            fill(&world, &baseline, &mut jobs).await;
            all_ended(&world, &mut workers).await;
            assert_eq!(newest_step(&old).await, before, "a step was committed on a server that was left");
        }
        primary = standby;
    }
    let repeated = end(world, &baseline, workers, &jobs).await;
    format!("{} failovers over {} jobs: 0 failed, no step lost, all the same; {repeated}", size.failovers, jobs.len())
}

fn start(world: &World, n: usize) -> (String, Program) {
    let name = format!("moved-{n}");
    let command = fixture::worker(world, &name);
    (name, world.start(command))
}

async fn newest_step(pool: &PgPool) -> i64 {
    sqlx::query_scalar("SELECT count(*) FROM checkpoints").fetch_one(pool).await.expect("steps can be counted")
}

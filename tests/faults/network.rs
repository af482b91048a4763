//! A bad network between workers and Postgres.

use crate::{
    baseline::Baseline,
    fixture,
    kills::{all_ended, fill},
    size::Size,
};
use plumbline_system_tests::{
    Program, Uuid, World,
    jobs::poison_is_near,
    proxy::{Order, Proxy},
    seed::Seed,
};
use sqlx::ConnectOptions as _;
use std::time::Duration;

/// The fault of a round.
#[derive(Clone, Copy, Debug)]
enum NetworkFault {
    Reset,
    HalfClose,
    CutAfter,
    LostCommit,
    Refuse,
    Stall,
}

const FAULTS: [NetworkFault; 6] = [
    NetworkFault::Reset,
    NetworkFault::HalfClose,
    NetworkFault::CutAfter,
    NetworkFault::LostCommit,
    NetworkFault::Refuse,
    NetworkFault::Stall,
];

/// Bytes after which a connection is cut: from within one answer to a few steps.
const FARTHEST_CUT: u64 = 30_000;

/// Plays the scene.
pub(crate) async fn play(size: &Size, mut seed: Seed) -> String {
    let world = World::open().await;
    let proxy = Proxy::start(world.pool.connect_options().get_port()).await;
    let baseline = Baseline::measure(&world, None).await;
    let mut workers: Vec<(String, Program)> = (0..3).map(|n| start(&world, &proxy, n)).collect();
    let (mut jobs, mut rounds) = (Vec::new(), 0);
    for _ in 0..size.cuts {
        for fault in FAULTS {
            fill(&world, &baseline, &mut jobs).await;
            plumbline_system_tests::eventually("no job to be near its last crash", async || {
                (!poison_is_near(&world.pool).await).then_some(())
            })
            .await;
            strike(&world, &baseline, &mut jobs, &proxy, fault, &mut seed).await;
            rounds += 1;
        }
    }
    // Endless silence: waiting clients time out and continue on another connection.
    proxy.order(Order::Forget);
    fill(&world, &baseline, &mut jobs).await;
    all_ended(&world, &mut workers).await;
    let repeated = baseline.assert_same(&world, &jobs).await;
    let lost = proxy.commits_lost();
    assert!(lost >= size.cuts as u64, "only {lost} answers to commits were lost in {rounds} rounds");
    drop(workers);
    world.close().await;
    format!(
        "{rounds} troubles over {} jobs, {lost} answers to commits lost: 0 failed, all the same; {repeated}",
        jobs.len()
    )
}

/// Lets it happen, at a random moment.
async fn strike(
    world: &World,
    baseline: &Baseline,
    jobs: &mut Vec<Uuid>,
    proxy: &Proxy,
    fault: NetworkFault,
    seed: &mut Seed,
) {
    tokio::time::sleep(Duration::from_millis(seed.below(400))).await;
    match fault {
        NetworkFault::Reset => proxy.order(Order::Reset),
        NetworkFault::HalfClose => proxy.order(Order::HalfClose),
        NetworkFault::CutAfter => proxy.cut_after(seed.below(FARTHEST_CUT)),
        NetworkFault::LostCommit => {
            let before = proxy.commits_lost();
            proxy.lose_a_commit();
            plumbline_system_tests::eventually("the answer to a commit to be lost", async || {
                // The jobs may have ended meanwhile, and then there would be no more commits.
                fill(world, baseline, jobs).await;
                (proxy.commits_lost() > before).then_some(())
            })
            .await;
        }
        NetworkFault::Refuse | NetworkFault::Stall => {
            proxy.order(if matches!(fault, NetworkFault::Refuse) { Order::Refuse } else { Order::Stall });
            tokio::time::sleep(Duration::from_millis(200 + seed.below(6_000))).await;
            // Like an outage longer than the leases: the first sweeper takes the others' jobs.
            if seed.below(2) == 0 {
                world.age_workers().await;
            }
        }
    }
    proxy.order(Order::Pass);
}

fn start(world: &World, proxy: &Proxy, n: usize) -> (String, Program) {
    let name = format!("behind-{n}");
    let mut command = fixture::worker(world, &name);
    let through = world.pool.connect_options().as_ref().clone().port(proxy.port);
    command.env("DATABASE_URL", through.to_url_lossy().to_string());
    (name, world.start(command))
}

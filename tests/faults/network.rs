//! A bad network between workers and Postgres.

use crate::{
    calm::Calm,
    kills::{all_ended, fill},
    size::Size,
    worlds,
};
use plumbline_system_tests::{
    Program, Uuid, World,
    jobs::poison_is_near,
    proxy::{Order, Proxy},
    seed::Seed,
};
use sqlx::ConnectOptions as _;
use std::time::Duration;

/// What goes wrong in a round.
#[derive(Clone, Copy, Debug)]
enum Trouble {
    Reset,
    HalfClose,
    CutAfter,
    LostCommit,
    Refuse,
    Stall,
}

const TROUBLES: [Trouble; 6] =
    [Trouble::Reset, Trouble::HalfClose, Trouble::CutAfter, Trouble::LostCommit, Trouble::Refuse, Trouble::Stall];

/// Bytes after which a connection is cut: from within one answer to a few steps.
const FARTHEST_CUT: u64 = 30_000;

/// Plays the scene.
pub(crate) async fn play(size: &Size, mut seed: Seed) -> String {
    let world = World::open().await;
    let proxy = Proxy::start(world.pool.connect_options().get_port()).await;
    let calm = Calm::measure(&world, None).await;
    let mut workers: Vec<(String, Program)> = (0..3).map(|n| start(&world, &proxy, n)).collect();
    let (mut jobs, mut rounds) = (Vec::new(), 0);
    for _ in 0..size.cuts {
        for trouble in TROUBLES {
            fill(&world, &calm, &mut jobs).await;
            plumbline_system_tests::eventually("no job to be near its last crash", async || {
                (!poison_is_near(&world.pool).await).then_some(())
            })
            .await;
            strike(&world, &calm, &mut jobs, &proxy, trouble, &mut seed).await;
            rounds += 1;
        }
    }
    // Silence that never ends: what waits for an answer gives up and goes on over another connection.
    proxy.order(Order::Forget);
    fill(&world, &calm, &mut jobs).await;
    all_ended(&world, &mut workers).await;
    let repeated = calm.assert_same(&world, &jobs).await;
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
async fn strike(world: &World, calm: &Calm, jobs: &mut Vec<Uuid>, proxy: &Proxy, trouble: Trouble, seed: &mut Seed) {
    tokio::time::sleep(Duration::from_millis(seed.below(400))).await;
    match trouble {
        Trouble::Reset => proxy.order(Order::Reset),
        Trouble::HalfClose => proxy.order(Order::HalfClose),
        Trouble::CutAfter => proxy.cut_after(seed.below(FARTHEST_CUT)),
        Trouble::LostCommit => {
            let before = proxy.commits_lost();
            proxy.lose_a_commit();
            plumbline_system_tests::eventually("the answer to a commit to be lost", async || {
                // The jobs may have ended meanwhile, and then there would be no more commits.
                fill(world, calm, jobs).await;
                (proxy.commits_lost() > before).then_some(())
            })
            .await;
        }
        Trouble::Refuse | Trouble::Stall => {
            proxy.order(if matches!(trouble, Trouble::Refuse) { Order::Refuse } else { Order::Stall });
            tokio::time::sleep(Duration::from_millis(200 + seed.below(6_000))).await;
        }
    }
    proxy.order(Order::Pass);
}

fn start(world: &World, proxy: &Proxy, n: usize) -> (String, Program) {
    let name = format!("behind-{n}");
    let mut command = worlds::worker(world, &name);
    let through = world.pool.connect_options().as_ref().clone().port(proxy.port);
    command.env("DATABASE_URL", through.to_url_lossy().to_string());
    (name, world.start(command))
}

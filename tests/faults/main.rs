//! The fault suite: jobs whose process, database or network fails at every kind of moment, compared with an undisturbed
//! job.
//!
//! | scene | what happens |
//! |---|---|
//! | [`sweep`] | every boundary of a step, in every part of a job: crash, error, delay, a pause, the end of a worker's grace |
//! | [`handover`] | the same boundaries in a validator that fills a graph |
//! | [`calls`] | and in a job whose calls must not be repeated, with approvals and without |
//! | [`kills`] | `kill -9` at random moments, over many jobs, with several workers |
//! | [`drains`] | `SIGTERM` at random moments |
//! | [`grace`] | `SIGTERM` while a model call is in flight that ends within the grace, or does not |
//! | [`zombies`] | workers frozen for longer than their lease, then thawed |
//! | [`network`] | connections to Postgres reset, stalled, half-closed, cut after any byte, answers to COMMIT lost |
//! | [`restarts`] | Postgres restarted underneath, in both ways, kills on top of it |
//! | [`failover`] | a standby promoted and the address moved to it, the old server dead or still there |
//! | [`database_faults`] | read-only, too many connections, a changed password, a lost right, locks, deadlocks |
//! | [`pairs`] | a second fault while another worker takes over from the first |
//!
//! After each scene every job must have exactly the result of the undisturbed one, with at most one additional model
//! call per crash, and the invariants must hold. `make test` plays a short one, a minute long; `make faults` is the
//! full one, `make soak` repeats it until its time is up. The seed is printed; `PLUMBLINE_TEST_SEED` repeats a run.
//!
//! `FAULT_SCENES=kills,network` runs only these.

mod baseline;
mod calls;
mod database_faults;
mod drains;
mod failover;
mod fixture;
mod grace;
mod handover;
mod kills;
mod latency;
mod network;
mod pairs;
mod place;
mod restarts;
mod size;
mod sweep;
mod trial;
mod zombies;

use plumbline_system_tests::{cluster::Cluster, seed::Seed};
use size::Size;
use std::{rc::Rc, time::Instant};
use tokio::task::JoinSet;

fn main() {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime can be started");
    // Lanes of a scene share this thread, because other processes do the work.
    runtime.block_on(tokio::task::LocalSet::new().run_until(run(Rc::new(Size::of_run()))));
}

async fn run(size: Rc<Size>) {
    let begun = Instant::now();
    let mut seed = Seed::of_run(size.seed());
    loop {
        let mut tracks = JoinSet::new();
        for track in TRACKS {
            let scenes: Vec<_> = track.iter().map(|&(name, scene)| (name, scene, seed.split())).collect();
            tracks.spawn_local(play(scenes, size.clone()));
        }
        while let Some(done) = tracks.join_next().await {
            done.expect("a track of the suite holds");
        }
        if begun.elapsed() >= size.until {
            break;
        }
    }
    println!("faults: all held, in {:.0} s", begun.elapsed().as_secs_f64());
}

/// Plays scenes one after the other.
async fn play(scenes: Vec<(&'static str, Scene, Seed)>, size: Rc<Size>) {
    for (name, scene, seed) in scenes {
        if size.plays(name) && (!scene.has_a_server_of_its_own() || Cluster::is_installed()) {
            let begun = Instant::now();
            let tally = scene.play(&size, seed).await;
            println!("{name:15} {tally}  ({:.0} s)", begun.elapsed().as_secs_f64());
        }
    }
}

/// The scenes.
#[derive(Clone, Copy)]
enum Scene {
    Sweep,
    Handover,
    Calls,
    Kills,
    Drains,
    Grace,
    Zombies,
    Network,
    Restarts,
    Failover,
    DatabaseFaults,
    Pairs,
}

/// Number of concurrent lanes: most of a scene's time is waiting for a lease to expire.
const TRACKS: [&[(&str, Scene)]; 3] = [
    &[("kills", Scene::Kills), ("drains", Scene::Drains), ("grace", Scene::Grace)],
    &[
        ("sweep", Scene::Sweep),
        ("handover", Scene::Handover),
        ("calls", Scene::Calls),
        ("restarts", Scene::Restarts),
        ("failover", Scene::Failover),
        ("pairs", Scene::Pairs),
    ],
    &[("zombies", Scene::Zombies), ("network", Scene::Network), ("database_faults", Scene::DatabaseFaults)],
];

impl Scene {
    /// Whether it needs a separate server, because it disturbs the server.
    fn has_a_server_of_its_own(self) -> bool {
        matches!(self, Self::Restarts | Self::Failover | Self::DatabaseFaults | Self::Pairs)
    }

    /// Runs it; returns its counts.
    async fn play(&self, size: &Size, seed: Seed) -> String {
        match self {
            Self::Sweep => sweep::play(size, seed).await,
            Self::Handover => handover::play(size, seed).await,
            Self::Calls => calls::play(size, seed).await,
            Self::Kills => kills::play(size, seed).await,
            Self::Drains => drains::play(size, seed).await,
            Self::Grace => grace::play(size).await,
            Self::Zombies => zombies::play(size, seed).await,
            Self::Network => network::play(size, seed).await,
            Self::Restarts => restarts::play(size, seed).await,
            Self::Failover => failover::play(size, seed).await,
            Self::DatabaseFaults => database_faults::play(size).await,
            Self::Pairs => pairs::play(size, seed).await,
        }
    }
}

//! The fault suite: jobs of which the process, the database and the network are taken away at every kind of moment,
//! compared with a job that nobody disturbed.
//!
//! | scene | what happens |
//! |---|---|
//! | [`sweep`] | every boundary of a step, in every part of a job: crash, error, delay |
//! | [`kills`] | `kill -9` at random moments, over many jobs, with several workers |
//! | [`drains`] | `SIGTERM` at random moments |
//! | [`zombies`] | workers frozen for longer than their lease, then thawed |
//! | [`network`] | connections to Postgres reset, stalled, half-closed, cut after any byte, answers to COMMIT lost |
//! | [`restarts`] | Postgres restarted underneath, in both ways, kills on top of it |
//! | [`trouble`] | read-only, too many connections, a changed password, a full disk |
//!
//! After each scene every job must have left exactly what the undisturbed one left, at most one model call more a
//! crash, and the invariants must hold. Sizes: `PLUMBLINE_FAULTS=short make faults` takes
//! a few minutes, `make faults` is the full one, `make soak` repeats it until its time is up. The seed is printed; `PLUMBLINE_TEST_SEED` repeats a run.
//!
//! `FAULT_SCENES=kills,network` runs only these.

mod calm;
mod cluster;
mod drains;
mod kills;
mod latency;
mod network;
mod place;
mod proxy;
mod restarts;
mod size;
mod sweep;
mod trouble;
mod worlds;
mod zombies;

use plumbline_system_tests::seed::Seed;
use size::Size;
use std::time::Instant;

fn main() {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime can be started");
    // Lanes of a scene share this thread: what they wait for is done by other processes.
    runtime.block_on(tokio::task::LocalSet::new().run_until(run(&Size::of_run())));
}

async fn run(size: &Size) {
    let begun = Instant::now();
    let mut seed = Seed::of_run(size.seed());
    loop {
        for (name, scene) in scenes() {
            if size.plays(name) {
                let begun = Instant::now();
                let tally = scene.play(size, seed.split()).await;
                println!("{name:9} {tally}  ({:.0} s)", begun.elapsed().as_secs_f64());
            }
        }
        if begun.elapsed() >= size.until {
            break;
        }
    }
    println!("faults: all held, in {:.0} s", begun.elapsed().as_secs_f64());
}

/// The scenes, in the order in which they are played.
enum Scene {
    Sweep,
    Kills,
    Drains,
    Zombies,
    Network,
    Restarts,
    Trouble,
}

fn scenes() -> [(&'static str, Scene); 7] {
    [
        ("sweep", Scene::Sweep),
        ("kills", Scene::Kills),
        ("drains", Scene::Drains),
        ("zombies", Scene::Zombies),
        ("network", Scene::Network),
        ("restarts", Scene::Restarts),
        ("trouble", Scene::Trouble),
    ]
}

impl Scene {
    /// Plays it; what it tells is what it counted.
    async fn play(&self, size: &Size, seed: Seed) -> String {
        match self {
            Self::Sweep => sweep::play(size, seed).await,
            Self::Kills => kills::play(size, seed).await,
            Self::Drains => drains::play(size, seed).await,
            Self::Zombies => zombies::play(size, seed).await,
            Self::Network => network::play(size, seed).await,
            Self::Restarts => restarts::play(size, seed).await,
            Self::Trouble => trouble::play(size).await,
        }
    }
}

//! Every place at which a step can be interrupted, one by one. The places come from the trace of an undisturbed job, so
//! that a new fail-point is swept from the day it is added.

use crate::{
    baseline::{Baseline, given_up},
    place::{self, Places},
    size::Size,
    trial::{Trial, all_actions, armed, ended_after_all_jobs},
};
use plumbline_store::fail_points::Point;
use plumbline_system_tests::{Answer, Signal, World, seed::Seed};
use std::{cell::RefCell, collections::VecDeque, rc::Rc};
use tokio::task::JoinSet;

/// Worlds in which places are tried at once, if there are places enough.
const LANES: usize = 4;
/// Places that need a separate world.
const WORTH_A_WORLD: usize = 8;

/// Plays the scene.
pub(crate) async fn play(size: &Size, mut seed: Seed) -> String {
    let places = all_places().await;
    let tries = all_actions(&places, size.places, &mut seed);
    let count = tries.len();
    let tries = Rc::new(RefCell::new(tries));
    let mut lanes = JoinSet::new();
    for _ in 0..LANES.min(count.div_ceil(WORTH_A_WORLD)) {
        lanes.spawn_local(lane(tries.clone()));
    }
    lanes.spawn_local(all_at_once(places.clone()));
    lanes.spawn_local(while_releasing(seed.split()));
    while let Some(done) = lanes.join_next().await {
        done.expect("a lane of the sweep holds");
    }
    format!("{} places, {count} tries one by one, all places with an error and a delay", places.len())
}

/// The points that an undisturbed job passes. One is missing: a worker that is not stopped releases no job.
async fn all_places() -> Places {
    let world = World::open().await;
    let trace = world.folder().join("trace");
    let baseline = Baseline::measure(&world, Some(&trace)).await;
    let places = place::read(&trace);
    for point in Point::ALL.iter().filter(|point| **point != Point::Releasing) {
        let prefix = format!("{}/", point.name());
        assert!(places.keys().any(|place| place.starts_with(&prefix)), "no job passes the fail-point {prefix}");
    }
    baseline.assert_same(&world, &[]).await;
    world.close().await;
    places
}

async fn lane(tries: Rc<RefCell<VecDeque<Trial>>>) {
    let world = World::open().await;
    let baseline = Baseline::measure(&world, None).await;
    let mut jobs = Vec::new();
    loop {
        let next = tries.borrow_mut().pop_front();
        let Some(next) = next else { break };
        let job = baseline.insert(&world).await;
        jobs.push(job);
        next.play(&world, job).await;
        let (row, given_up) = (world.job(job).await, given_up(&world, job).await);
        let ended = (row.status.as_str(), row.requests - given_up);
        assert_eq!(ended, ("completed", baseline.requests as i64), "{next:?}: {row:?}");
    }
    baseline.assert_same(&world, &jobs).await;
    world.close().await;
}

/// Each place acts once, on whichever of some jobs comes first: so every pair of troubles has its chance.
async fn all_at_once(places: Places) {
    let world = World::open().await;
    let baseline = Baseline::measure(&world, None).await;
    let mut jobs = Vec::new();
    for action in ["error", "delay:150"] {
        for _ in 0..4 {
            jobs.push(baseline.insert(&world).await);
        }
        let fail_points: Vec<String> = places.keys().map(|place| place::armed(place, 1, action)).collect();
        let ended = ended_after_all_jobs(&world, armed(&world, &fail_points.join(";"))).await;
        assert_eq!(ended.code, Some(0), "{action} at each place ended the worker: {}", ended.stderr);
    }
    baseline.assert_same(&world, &jobs).await;
    world.close().await;
}

/// A worker that is asked to stop while a model call is in flight, and has trouble giving the job back.
async fn while_releasing(mut seed: Seed) {
    let world = World::open().await;
    let baseline = Baseline::measure(&world, None).await;
    let mut jobs = Vec::new();
    for action in ["crash", "error", "delay:500"] {
        let request = world.model.requests() + 1 + seed.below(baseline.requests);
        let job = baseline.insert(&world).await;
        jobs.push(job);
        let parts = ["strategic", "tactical", "transition", "compaction", "completion", "abandoned"];
        let fail_points: Vec<String> =
            parts.iter().map(|part| place::armed(&format!("releasing/{part}"), 1, action)).collect();
        let mut command = world.command(&["worker"]);
        command.env("PLUMBLINE_FAIL_POINTS", fail_points.join(";")).env("PLUMBLINE_DRAIN_SECS", "1");
        world.model.hold_from(request);
        let worker = world.start(command);
        world.model.arrived(request).await;
        worker.signal(Signal::TERM);
        let ended = worker.ended().await;
        assert_eq!(ended.code, (action != "crash").then_some(0), "{action}: {}", ended.stderr);
        world.model.answers(Answer::Work);
        if action == "crash" {
            world.age_workers().await;
        }
        while world.wake_open_jobs().await.is_some() {
            world.work_until_idle().await;
        }
    }
    baseline.assert_same(&world, &jobs).await;
    world.close().await;
}

//! One action of the sweeps at one place of a job.

use crate::place::{self, Places};
use plumbline_system_tests::{Ended, Program, Signal, Uuid, World, eventually, seed::Seed};
use std::collections::VecDeque;

/// An action the `nth` time a place is passed.
#[derive(Debug)]
pub(crate) struct Trial {
    place: String,
    nth: u64,
    action: Action,
}

/// What happens at a place.
#[derive(Clone, Copy, Debug)]
enum Action {
    Crash,
    Error,
    /// A person pauses the job, whose run is dropped, and resumes it.
    Pause,
    /// The worker's time to stop is over: it drops the run and gives the job back.
    Abort,
}

impl Action {
    const ALL: [Self; 4] = [Self::Crash, Self::Error, Self::Pause, Self::Abort];
}

/// Each action at so many places, chosen by the seed; at all of them for `None`.
pub(crate) fn all_actions(places: &Places, count: Option<usize>, seed: &mut Seed) -> VecDeque<Trial> {
    let mut trials = VecDeque::new();
    for (place, times) in chosen(places, count, seed) {
        for action in Action::ALL {
            trials.push_back(Trial { place: place.clone(), nth: 1 + seed.below(times), action });
        }
    }
    trials
}

/// One action, chosen by the seed, at so many places; at all of them for `None`.
pub(crate) fn one_action(places: &Places, count: Option<usize>, seed: &mut Seed) -> Vec<Trial> {
    let mut trials = Vec::new();
    for (place, times) in chosen(places, count, seed) {
        let action = Action::ALL[seed.below(Action::ALL.len() as u64) as usize];
        trials.push(Trial { place, nth: 1 + seed.below(times), action });
    }
    trials
}

fn chosen(places: &Places, count: Option<usize>, seed: &mut Seed) -> Vec<(String, u64)> {
    let mut left: Vec<(String, u64)> = places.iter().map(|(place, times)| (place.clone(), *times)).collect();
    let count = count.unwrap_or(left.len()).min(left.len());
    (0..count).map(|_| left.swap_remove(seed.below(left.len() as u64) as usize)).collect()
}

impl Trial {
    /// Works on the job until it has ended.
    pub(crate) async fn play(&self, world: &World, job: Uuid) {
        match self.action {
            Action::Crash => {
                let ended = armed(world, &self.armed("crash")).ended().await;
                assert_eq!(ended.code, None, "{self:?} did not crash the worker: {}", ended.stderr);
                world.age_workers().await;
                world.work_until_idle().await;
            }
            Action::Error => self.assert_sound(&ended_after_all_jobs(world, armed(world, &self.armed("error"))).await),
            Action::Pause => {
                let worker = self.waits(world, job).await;
                // A job that its last step has ended is not paused.
                if world.call("SELECT pause_job($1)", job).await.is_ok() {
                    world.call("SELECT resume_job($1)", job).await.expect("a paused job can go on");
                }
                self.assert_sound(&ended_after_all_jobs(world, worker).await);
            }
            Action::Abort => {
                let worker = self.waits(world, job).await;
                worker.signal(Signal::TERM);
                self.assert_sound(&worker.ended().await);
                while world.wake_open_jobs().await.is_some() {
                    world.work_until_idle().await;
                }
            }
        }
    }

    /// A worker that waits at the place, for less time than the worker gives the database.
    async fn waits(&self, world: &World, job: Uuid) -> Program {
        let trace = world.folder().join(format!("trace-{job}"));
        let mut command = world.command(&["worker"]);
        command
            .env("PLUMBLINE_FAIL_POINTS", self.armed("delay:5000"))
            .env("PLUMBLINE_FAIL_POINT_TRACE", &trace)
            .env("PLUMBLINE_DRAIN_SECS", "0");
        let worker = world.start(command);
        let passed = || trace.exists() && place::read(&trace).get(&self.place).is_some_and(|times| *times >= self.nth);
        eventually("the place to be reached", async || passed().then_some(())).await;
        worker
    }

    fn armed(&self, action: &str) -> String {
        place::armed(&self.place, self.nth, action)
    }

    fn assert_sound(&self, ended: &Ended) {
        assert_eq!(ended.code, Some(0), "{self:?} ended the worker: {}", ended.stderr);
    }
}

/// A worker with these fail-points.
pub(crate) fn armed(world: &World, fail_points: &str) -> Program {
    let mut command = world.command(&["worker"]);
    command.env("PLUMBLINE_FAIL_POINTS", fail_points);
    world.start(command)
}

/// Runs a worker until no job is open; returns the places that its jobs passed, in which nothing is disturbed.
pub(crate) async fn undisturbed(world: &World) -> Places {
    let trace = world.folder().join("trace");
    let mut command = world.command(&["worker", "--until-idle"]);
    command.env("PLUMBLINE_FAIL_POINT_TRACE", &trace);
    let ended = world.start(command).ended().await;
    assert_eq!(ended.code, Some(0), "an undisturbed worker failed: {}", ended.stderr);
    place::read(&trace)
}

/// Asks the worker to stop once no job is open. A job that an error gave back waits before its next claim: it is made due.
pub(crate) async fn ended_after_all_jobs(world: &World, worker: Program) -> Ended {
    eventually("the jobs to end", async || world.wake_open_jobs().await.is_none().then_some(())).await;
    worker.signal(Signal::TERM);
    worker.ended().await
}

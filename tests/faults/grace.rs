//! `SIGTERM` while a model call is in flight. A call that ends within the grace period is kept; otherwise it is aborted
//! at its end, and the lease with it; a second signal waits for neither. The attempt is released, and a successor
//! continues without waiting for the lease.

use crate::{baseline::Baseline, fixture, latency, size::Size};
use plumbline_system_tests::{Answer, PgPool, Program, Signal, Uuid, World, eventually};
use std::fmt::{self, Display};
use tokio::task::JoinSet;

/// The pending work of the stopped worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Call {
    /// Its answer comes within the grace.
    Ends,
    /// Its answer comes later.
    Lasts,
    /// The same, and the worker is asked a second time.
    AskedTwice,
}

const CALLS: [Call; 3] = [Call::Ends, Call::Lasts, Call::AskedTwice];

/// More grace, in seconds, for a worker that should not need it: one that waited for it would not end within the test.
const MORE: u64 = 3_600;

/// One try, in seconds.
struct Left {
    grace: u64,
    call: Call,
    /// From the signal to the release.
    released: f64,
    /// From the release to the successor's claim, and to its first step.
    claimed: f64,
    stepped: f64,
}

/// Plays the scene.
pub(crate) async fn play(size: &Size) -> String {
    let mut tries = JoinSet::new();
    for &grace in size.graces {
        for call in CALLS {
            let more = if call == Call::Lasts { 0 } else { MORE };
            tries.spawn_local(stop(grace + more, call));
        }
    }
    let mut left = Vec::new();
    while let Some(tried) = tries.join_next().await {
        left.push(tried.expect("a try of the grace holds"));
    }
    left.sort_by_key(|left| (left.grace, left.call as u8));
    let lines: Vec<String> = left.iter().map(ToString::to_string).collect();
    format!("attempts given back, no lease waited for:{}", lines.concat())
}

async fn stop(grace: u64, call: Call) -> Left {
    let world = World::open().await;
    let baseline = Baseline::measure(&world, None).await;
    let held = world.model.requests() + baseline.requests / 2;
    world.model.hold_from(held);
    let job = baseline.insert(&world).await;
    let worker = start(&world, "leaving", grace);
    world.model.arrived(held).await;
    let before = world.job(job).await.step;
    let _successor = start(&world, "successor", grace);
    eventually("the successor to be there", async || (workers(&world.pool).await == 2).then_some(())).await;

    let asked = latency::now(&world.pool).await;
    worker.signal(Signal::TERM);
    match call {
        Call::Ends => {
            draining(&worker).await;
            world.model.answers(Answer::Work);
        }
        Call::Lasts => {}
        Call::AskedTwice => {
            draining(&worker).await;
            worker.signal(Signal::TERM);
        }
    }
    let ended = worker.ended().await;
    world.model.answers(Answer::Work);
    assert!(call == Call::AskedTwice || ended.code == Some(0), "{call:?} of {grace} s: {}", ended.stderr);
    let row = world.becomes(job, "completed").await;
    assert_eq!((row.attempt, row.claims), (1, 2), "{call:?} of {grace} s: the attempt is given back");
    let (outcome, released, last, claimed, stepped) = handed_over(&world.pool, job).await;
    let left = Left { grace, call, released: released - asked, claimed, stepped };
    let repeated = baseline.assert_same(&world, &[job]).await.calls;
    let kept = last > before;
    let expected = match call {
        Call::Ends => ("released", true, 0),
        Call::Lasts | Call::AskedTwice => ("lost", false, 1),
    };
    assert_eq!((outcome.as_str(), kept, repeated), expected, "{left}");
    assert!(call != Call::Lasts || left.released >= grace as f64 - 0.05, "{left}");
    world.close().await;
    left
}

/// Waits until the worker reports that it drains.
async fn draining(worker: &Program) {
    eventually("the worker to drain", async || worker.stderr().contains("draining").then_some(())).await;
}

impl Display for Left {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { grace, released, claimed, stepped, .. } = self;
        let call = match self.call {
            Call::Ends => "the call ends in time, kept",
            Call::Lasts => "the call lasts, given up",
            Call::AskedTwice => "asked twice",
        };
        write!(
            f,
            "\n          grace {grace:3} s, {call}: released after {released:.2} s, claimed {claimed:.2} s and next step {stepped:.2} s later"
        )
    }
}

/// Of the first attempt: its outcome, when it ended, its last step; and the times from there to the second one's begin and
/// first step.
async fn handed_over(pool: &PgPool, job: Uuid) -> (String, f64, i64, f64, f64) {
    sqlx::query_as(
        "SELECT a.outcome, extract(epoch FROM a.ended_at)::float8, max(c.step) FILTER (WHERE c.lease_epoch = 1),
                extract(epoch FROM second.started_at - a.ended_at)::float8,
                extract(epoch FROM min(c.created_at) FILTER (WHERE c.lease_epoch = 2) - a.ended_at)::float8
         FROM attempts a
         JOIN attempts second ON second.job_id = a.job_id AND second.lease_epoch = 2
         JOIN checkpoints c ON c.job_id = a.job_id
         WHERE a.job_id = $1 AND a.lease_epoch = 1
         GROUP BY a.outcome, a.ended_at, second.started_at",
    )
    .bind(job)
    .fetch_one(pool)
    .await
    .expect("attempts can be read")
}

async fn workers(pool: &PgPool) -> i64 {
    sqlx::query_scalar("SELECT count(*) FROM workers").fetch_one(pool).await.expect("workers can be counted")
}

/// A worker whose lease does not run out within the test: a successor that waited for it would not come.
fn start(world: &World, name: &str, grace: u64) -> Program {
    let mut command = fixture::worker(world, name);
    command.env("PLUMBLINE_DRAIN_SECS", grace.to_string()).env("PLUMBLINE_LEASE_SECS", "7200");
    world.start(command)
}

//! P5: a step's commit alone, against INSERT and COMMIT of one plain row.

use super::floor;
use crate::{
    error::{During, Error},
    fixture::{Bench, Fixture},
    report::{Figure, Target, median},
};
use plumbline_bench::{ENDLESS_LEASE_SECS, turn};
use plumbline_store::{Commit, ConnectOptions, Lease, NewJob, NewWorker, Store};
use std::time::{Duration, Instant};
use uuid::Uuid;

/// Bytes of the call and of its result.
const BYTES: usize = 200;

const CONNECTIONS: usize = 16;

/// Number of blocks in which steps and plain rows alternate.
const BLOCKS: usize = 20;

/// A margin of 100 %: other load on the machine affects the step's longer time more often than the plain row's, and a
/// disk with fast flushes shortens the plain row's. The same program had 2.2 on one machine, 4.8 on another, and 6.5 on
/// the latter while tests ran.
const MARGIN: f64 = 1.0;

pub(super) async fn measure(bench: &Bench) -> Result<Vec<Figure>, Error> {
    let (mut alone, mut plain, mut together, mut plain_together) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for _ in 0..bench.sizes.runs {
        let fixture = bench.fixture("commit", Duration::ZERO).await?;
        floor::create(&fixture.database).await?;
        let each = bench.sizes.commits / CONNECTIONS + 1;
        let (step, row) = one_by_one(&fixture, bench.sizes.commits).await?;
        alone.push(step);
        plain.push(row);
        plain_together.push(floor::inserts_per_second(&fixture.database, CONNECTIONS, each).await?);
        together.push(per_second(&fixture, each).await?);
        bench.close(fixture).await?;
    }
    Ok(vec![
        Figure::new("P5", "a step's commit, one connection", "ms", alone)
            .floor("INSERT + COMMIT", &plain)
            .target(Target::RatioAtMost(8.0))
            .guarded(MARGIN),
        Figure::new("P5", "steps per second, 16 connections", "/s", together)
            .floor("INSERT + COMMIT", &plain_together)
            .target(Target::AtLeast(4000.0)),
    ])
}

/// Median milliseconds of a step and of a plain row, in alternating blocks, so that other load affects both.
async fn one_by_one(fixture: &Fixture, commits: usize) -> Result<(f64, f64), Error> {
    // Of three connections, sequential steps use one; the others are for statements outside steps.
    let store = connect(fixture, 3).await?;
    let lease = running(&store, 1).await?.remove(0);
    let each = commits / BLOCKS;
    let (mut steps, mut rows, mut step) = (Vec::new(), Vec::new(), 0);
    for _ in 0..BLOCKS {
        rows.extend(floor::insert_and_commit(&fixture.database, each).await?);
        steps.extend(commit(&store, lease, &mut step, each).await?);
    }
    Ok((median(&steps), median(&rows)))
}

async fn per_second(fixture: &Fixture, each: usize) -> Result<f64, Error> {
    let store = connect(fixture, u32::try_from(CONNECTIONS)?).await?;
    let leases = running(&store, CONNECTIONS).await?;
    let started = Instant::now();
    let tasks: Vec<_> = leases
        .into_iter()
        .map(|lease| {
            let store = store.clone();
            tokio::spawn(async move { commit(&store, lease, &mut 0, each).await.map(drop) })
        })
        .collect();
    for task in tasks {
        task.await??;
    }
    Ok((CONNECTIONS * each) as f64 / started.elapsed().as_secs_f64())
}

/// Commits turns to a job at this step; returns the milliseconds of each.
async fn commit(store: &Store, lease: Lease, step: &mut i64, commits: usize) -> Result<Vec<f64>, Error> {
    let (progress, state) = (turn::progress(), turn::state());
    let mut taken = Vec::with_capacity(commits);
    while taken.len() < commits {
        let changes = turn::changes(2 * *step + 1, BYTES);
        let commit = Commit {
            lease,
            expected_step: *step,
            changes: &changes,
            state: &state,
            progress: &progress,
            settings: None,
            enqueue_next: None,
        };
        let started = Instant::now();
        *step = store.commit(&commit).await.during("commit a step")?.step;
        taken.push(started.elapsed().as_secs_f64() * 1e3);
    }
    Ok(taken)
}

pub(super) async fn connect(fixture: &Fixture, connections: u32) -> Result<Store, Error> {
    let options = ConnectOptions { max_connections: connections, ..ConnectOptions::default() };
    Store::connect(&fixture.database.url, options).await.during("connect the store")
}

/// A worker that claims, without a process.
pub(super) async fn claimer(store: &Store) -> Result<Uuid, Error> {
    let id = Uuid::now_v7();
    let worker = NewWorker {
        id,
        hostname: "bench".into(),
        version: "bench".into(),
        concurrency: 10_000,
        job_types: vec!["creator".into()],
        broken_types: serde_json::Map::new(),
        limits_ceilings: serde_json::json!({}),
    };
    store.register_worker(&worker).await.during("register a worker")?;
    Ok(id)
}

async fn running(store: &Store, jobs: usize) -> Result<Vec<Lease>, Error> {
    let worker = claimer(store).await?;
    for _ in 0..jobs {
        store.enqueue(&NewJob::new("bench")).await.during("insert a job")?;
    }
    let claimed = store.claim(worker, i64::try_from(jobs)?, None, ENDLESS_LEASE_SECS).await.during("claim the jobs")?;
    if claimed.len() != jobs {
        return Err(Error::new(format!("{} of {jobs} jobs were claimed", claimed.len())));
    }
    Ok(claimed.iter().map(plumbline_store::ClaimedJob::lease).collect())
}

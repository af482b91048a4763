//! P4: commits and round trips of a step, counted outside the worker: writing commits by the server, round trips by a
//! proxy in front of it. Two jobs of different length; the difference excludes their beginning and end.

use crate::{
    error::Error,
    fixture::{Bench, Fixture, many_turns},
    model::{Order, Tool},
    proxy::Proxy,
    report::{Figure, Target},
};
use std::time::Duration;

/// Turns of the short and the long job.
const TURNS: [u32; 2] = [20, 220];

/// A heartbeat that falls into one of the two jobs is a two-hundredth of a commit a step.
const STRAY: f64 = 0.1;

/// A margin of half: the mirror reads changes ten times a second, which is more round trips per step on a slow machine.
const MARGIN: f64 = 0.5;

pub(super) async fn measure(bench: &Bench) -> Result<Vec<Figure>, Error> {
    let (mut commits, mut trips) = (Vec::new(), Vec::new());
    for _ in 0..bench.sizes.runs {
        let fixture = bench.fixture("trips", Duration::ZERO).await?;
        let mut counted = Vec::new();
        for turns in TURNS {
            counted.push(count(bench, &fixture, turns).await?);
        }
        bench.close(fixture).await?;
        let steps = f64::from(TURNS[1] - TURNS[0]);
        commits.push((counted[1].0 - counted[0].0) / steps);
        trips.push((counted[1].1 - counted[0].1) / steps);
    }
    Ok(vec![
        Figure::new("P4", "writing commits per step", "", commits).target(Target::AtMost(1.0 + STRAY)).guarded(0.0),
        Figure::new("P4", "round trips to Postgres per step", "", trips)
            .target(Target::AtMost(3.0 + STRAY))
            .guarded(MARGIN),
    ])
}

/// Commits and round trips of a whole job.
async fn count(bench: &Bench, fixture: &Fixture, turns: u32) -> Result<(f64, f64), Error> {
    let proxy = Proxy::start(bench.server.address()).await?;
    let order = Order { tag: format!("trips-{turns}"), turns, bytes: 2048, tool: Tool::Write, trace: false };
    fixture.insert(&[order], &many_turns()).await?;
    let before = fixture.database.writes().await?;
    let worker = fixture.worker_on(&fixture.database.url_through(proxy.port()), 1, &[])?;
    fixture.completed().await?;
    let trips = proxy.counts().round_trips();
    let commits = fixture.database.writes().await? - before;
    worker.stop()?;
    Ok((commits as f64, trips as f64))
}

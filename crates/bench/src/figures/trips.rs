//! P4: commits and round trips of a step, counted from outside the worker: the commits by the server, the round trips
//! by a proxy in front of it. Two jobs of different length; the difference holds nothing of their beginning and end.

use crate::{
    error::Error,
    model::Order,
    net::Proxy,
    report::{Figure, Target},
    site::{Bench, Site, many_turns},
};
use std::time::Duration;

/// Turns of the short and the long job.
const TURNS: [u32; 2] = [20, 220];

pub(super) async fn measure(bench: &Bench) -> Result<Vec<Figure>, Error> {
    let (mut commits, mut trips) = (Vec::new(), Vec::new());
    for _ in 0..bench.sizes.runs {
        let site = bench.site("trips", Duration::ZERO).await?;
        let mut counted = Vec::new();
        for turns in TURNS {
            counted.push(count(bench, &site, turns).await?);
        }
        bench.close(site).await?;
        let steps = f64::from(TURNS[1] - TURNS[0]);
        commits.push((counted[1].0 - counted[0].0) / steps);
        trips.push((counted[1].1 - counted[0].1) / steps);
    }
    Ok(vec![
        // A heartbeat or a poll that falls into one of the two jobs is a hundredth of a commit a step.
        Figure::new("P4", "commits per step", "", commits).target(Target::AtMost(1.1)),
        Figure::new("P4", "round trips to Postgres per step", "", trips).target(Target::AtMost(3.1)),
    ])
}

/// Commits and round trips of a whole job.
async fn count(bench: &Bench, site: &Site, turns: u32) -> Result<(f64, f64), Error> {
    let proxy = Proxy::start(bench.server.address()).await?;
    let order = Order { tag: format!("trips-{turns}"), turns, bytes: 2048, reads: false, trace: false };
    let before = site.database.commits().await?;
    site.insert(&[order], &many_turns()).await?;
    let looks = Looks::default();
    let worker = site.worker_on(&site.database.url_through(proxy.port()), 1, &[])?;
    let looks = looks.until_completed(site).await?;
    let trips = proxy.counts().round_trips();
    worker.stop()?;
    let commits = site.database.commits().await? - before - looks;
    Ok((commits as f64, trips as f64))
}

/// Our own looks at the job are commits of the same database, and are taken off.
#[derive(Default)]
struct Looks(i64);

impl Looks {
    async fn until_completed(mut self, site: &Site) -> Result<i64, Error> {
        loop {
            self.0 += 1;
            match site.progress().await? {
                (_, Some(reason)) => return Err(Error::new(format!("the job did not complete: {reason}"))),
                (0, None) => return Ok(self.0),
                _ => tokio::time::sleep(Duration::from_millis(50)).await,
            }
        }
    }
}

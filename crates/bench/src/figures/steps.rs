//! P1–P3: what a step costs, and whether that grows with the job.
//!
//! Two jobs a run. One keeps its whole conversation in each request, as the peers in the table of targets do, and shows
//! the time and CPU of a step whose request grows. The other has the default limits and shows that nothing else grows.

use super::{floor, sampler};
use crate::{
    error::Error,
    model::Order,
    report::{Figure, Target},
    site::{Bench, Site, many_turns, whole_conversation},
};
use sampler::{Course, PerStep};
use serde_json::Value;
use std::time::Duration;

/// Content of a step, in bytes.
const BYTES: usize = 2048;

/// The best peer's wall per step at 500 steps, in milliseconds, from the table of targets.
const BEST_PEER: f64 = 113.0;

/// The costs of one run.
struct Run {
    early: PerStep,
    late: PerStep,
    /// Under the default limits: early, late, very late.
    default: [PerStep; 3],
    /// Peak memory of both workers, in MiB.
    memory: [f64; 2],
    /// The model's own time for a request, in milliseconds.
    model: f64,
    /// INSERT and COMMIT, in milliseconds.
    plain: f64,
}

/// Where the stretches lie: the late one of the first job, the very late one of the second.
#[derive(Clone, Copy)]
struct Places {
    late: u32,
    very_late: u32,
}

pub(super) async fn measure(bench: &Bench) -> Result<Vec<Figure>, Error> {
    let sizes = &bench.sizes;
    let places = Places { late: sizes.steps - 60, very_late: sizes.long_steps - sizes.long_steps / 20 };
    let mut runs = Vec::new();
    for _ in 0..sizes.runs {
        runs.push(run(bench, places).await?);
    }
    Ok([times(&runs, places), processors(&runs, places), growth(&runs, places)].concat())
}

fn each(runs: &[Run], value: impl Fn(&Run) -> f64) -> Vec<f64> {
    runs.iter().map(value).collect()
}

/// P1.
fn times(runs: &[Run], Places { late, .. }: Places) -> Vec<Figure> {
    let plain = each(runs, |run| run.plain);
    let early = each(runs, |run| run.early.wall - run.model);
    let at_the_end = each(runs, |run| run.late.wall - run.model);
    vec![
        Figure::new("P1", "wall per step at step 50", "ms", early)
            .floor("INSERT + COMMIT", &plain)
            .target(Target::AtMost(2.0)),
        Figure::new("P1", format!("wall per step at step {late}"), "ms", at_the_end.clone())
            .floor("INSERT + COMMIT", &plain)
            .target(Target::AtMost(3.0)),
        Figure::new("P1", "the same against the best peer at 500", "ms", at_the_end)
            .floor("best peer", &[BEST_PEER])
            .target(Target::RatioAtMost(1.0 / 40.0)),
        Figure::new("P1", "the model's own time for a request, taken off", "ms", each(runs, |run| run.model)),
    ]
}

/// P2.
fn processors(runs: &[Run], Places { late, very_late }: Places) -> Vec<Figure> {
    let at = |name: &str, value: fn(&PerStep) -> f64, bound: f64| {
        [
            (format!("{name} CPU per step at step 50"), each(runs, |run| value(&run.early))),
            (format!("{name} CPU per step at step {late}, whole conversation"), each(runs, |run| value(&run.late))),
            (
                format!("{name} CPU per step at step {very_late}, default limits"),
                each(runs, |run| value(&run.default[2])),
            ),
        ]
        .map(|(name, values)| Figure::new("P2", name, "ms", values).target(Target::AtMost(bound)))
    };
    [at("worker", |cost| cost.worker_cpu, 1.0), at("Postgres", |cost| cost.server_cpu, 0.6)].concat()
}

/// P3, and what else must not grow.
fn growth(runs: &[Run], Places { late, very_late }: Places) -> Vec<Figure> {
    let against = |name: &str, place: usize, step: u32, value: fn(&PerStep) -> f64, target: Target| {
        let values = each(runs, |run| value(&run.default[place]) / value(&run.default[0]));
        Figure::new("P3", format!("{name} at step {step} against step 50"), "", values).target(target)
    };
    vec![
        Figure::new("P3", "WAL per step at step 50", "KiB", each(runs, |run| run.default[0].wal))
            .floor("content", &[BYTES as f64 / 1024.0])
            .target(Target::RatioAtMost(3.0)),
        against("WAL", 1, late, |cost| cost.wal, Target::AtMost(1.1)),
        against("WAL", 2, very_late, |cost| cost.wal, Target::AtMost(1.1)),
        against("wall", 2, very_late, |cost| cost.wall, Target::None),
        against("worker CPU", 2, very_late, |cost| cost.worker_cpu, Target::None),
        against("Postgres CPU", 2, very_late, |cost| cost.server_cpu, Target::None),
        Figure::new("P3", "peak memory, whole conversation in memory", "MiB", each(runs, |run| run.memory[0])),
        Figure::new(
            "P3",
            format!("peak memory at step {very_late}, default limits"),
            "MiB",
            each(runs, |run| run.memory[1]),
        ),
    ]
}

async fn run(bench: &Bench, places: Places) -> Result<Run, Error> {
    let sizes = &bench.sizes;
    let site = bench.site("steps", Duration::ZERO).await?;
    floor::create(&site.database).await?;
    let plain = floor::insert_and_commit(&site.database, sizes.commits.min(1000)).await?;
    // The first job of a database fills its caches and the server's plans.
    course(bench, &site, "warm", 40, &many_turns()).await?;
    let whole = course(bench, &site, "whole", sizes.steps, &whole_conversation()).await?;
    let model = site.model.totals().await?;
    let long = course(bench, &site, "long", sizes.long_steps, &many_turns()).await?;
    bench.close(site).await?;
    let (late, very_late) = (i64::from(places.late), i64::from(places.very_late));
    Ok(Run {
        early: whole.between(25, 75.min(late))?,
        late: whole.between(late - 50.min(late / 2), late + 50)?,
        default: [
            long.between(25, 75)?,
            long.between((late - 100).max(30), late + 100)?,
            long.between(very_late - 200.min(very_late / 2), very_late + 200)?,
        ],
        memory: [&whole, &long].map(|course: &Course| course.peak_memory as f64 / f64::from(1 << 20)),
        model: model.busy_ns as f64 / 1e6 / model.requests as f64,
        plain,
    })
}

/// One job from its insertion to its end, at a worker of its own.
async fn course(bench: &Bench, site: &Site, tag: &str, turns: u32, config: &Value) -> Result<Course, Error> {
    let order = Order { tag: tag.to_owned(), turns, bytes: BYTES, reads: false, trace: false };
    site.insert(&[order], config).await?;
    let worker = site.worker(1)?;
    let course = sampler::watch(bench, site, &worker).await?;
    worker.stop()?;
    Ok(course)
}

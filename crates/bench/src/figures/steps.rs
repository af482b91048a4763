//! P1–P3: the cost of a step, and whether it grows with the job.
//!
//! Two jobs a run. One keeps its whole conversation in each request, as the peers in the table of targets do, and shows
//! the time and CPU of a step whose request grows. The other has the default limits and shows that nothing grows, from
//! step 50 over 500 to 5,000.

use super::{floor, sampler};
use crate::{
    error::Error,
    fixture::{Bench, Fixture, many_turns, whole_conversation},
    model::{Order, Tool},
    report::{Figure, Target, median},
};
use sampler::{Course, PerStep};
use serde_json::Value;
use std::time::Duration;

/// Content of a step, in bytes.
const BYTES: usize = 2048;

/// deepagents' wall per step at 500 steps, in milliseconds: of the two peers in the table of targets the faster one. LangGraph takes
/// 357.
const BEST_PEER: f64 = 255.0;

/// The early step, and the steps about it and about the late one of the growing job.
const EARLY: u32 = 50;
const EARLY_REACH: u32 = 25;
const WHOLE_REACH: u32 = 50;

/// Steps about the late places of the job under the default limits: more than one round of clearing old results.
const LONG_REACH: u32 = 200;

/// For the WAL volume per step: the server's checkpoints and autovacuum happen at random.
const WAL_MARGIN: f64 = 0.1;

/// The costs of one run.
struct Run {
    /// With the whole conversation: early, late.
    whole: [PerStep; 2],
    /// Under the default limits: early, late, very late.
    long: [PerStep; 3],
    /// INSERT and COMMIT, in milliseconds: the time, and the server's CPU.
    plain: f64,
    plain_server_cpu: f64,
}

pub(super) async fn measure(bench: &Bench) -> Result<Vec<Figure>, Error> {
    let (whole_at, long_at) = (bench.sizes.whole_at, bench.sizes.long_at);
    let mut runs = Vec::new();
    for _ in 0..bench.sizes.runs {
        runs.push(run(bench).await?);
    }
    let places = [EARLY, long_at[0], long_at[1]];
    Ok([times(&runs, whole_at, places), processors(&runs, whole_at, places), growth(&runs, places)].concat())
}

fn each(runs: &[Run], value: impl Fn(&Run) -> f64) -> Vec<f64> {
    runs.iter().map(value).collect()
}

/// P1.
fn times(runs: &[Run], whole_at: u32, places: [u32; 3]) -> Vec<Figure> {
    let plain = each(runs, |run| run.plain);
    let late = each(runs, |run| run.whole[1].wall);
    let mut figures = vec![
        Figure::new("P1", format!("wall per step at step {EARLY}"), "ms", each(runs, |run| run.whole[0].wall))
            .floor("INSERT + COMMIT", &plain),
        Figure::new("P1", format!("wall per step at step {whole_at}, whole conversation"), "ms", late.clone())
            .floor("INSERT + COMMIT", &plain)
            .target(Target::RatioAtMost(6.0)),
        Figure::new("P1", "the same against the best peer at step 500", "ms", late)
            .floor("best peer", &[BEST_PEER])
            .target(Target::RatioAtMost(1.0 / 40.0)),
        Figure::new(
            "P1",
            "the model's own time for that request, taken off",
            "ms",
            each(runs, |run| run.whole[1].model),
        ),
    ];
    for (index, place) in places.into_iter().enumerate().skip(1) {
        let name = format!("wall per step at step {place}, default limits");
        figures.push(
            Figure::new("P1", name, "ms", each(runs, |run| run.long[index].wall)).floor("INSERT + COMMIT", &plain),
        );
    }
    figures
}

/// P2.
fn processors(runs: &[Run], whole_at: u32, places: [u32; 3]) -> Vec<Figure> {
    let (mut figures, plain) = (Vec::new(), each(runs, |run| run.plain_server_cpu));
    let together = Target::AtMost(3.0);
    for (who, value, target) in [
        ("worker", (|cost| cost.worker_cpu) as fn(&PerStep) -> f64, Target::None),
        ("Postgres", |cost| cost.server_cpu, Target::None),
        ("worker and Postgres", |cost| cost.worker_cpu + cost.server_cpu, together),
    ] {
        let mut add = |rest: String, values| {
            let name = format!("{who} CPU per step at step {rest}");
            let figure = Figure::new("P2", name, "ms", values).target(target);
            figures.push(if who == "Postgres" { figure.floor("INSERT + COMMIT", &plain) } else { figure });
        };
        add(EARLY.to_string(), each(runs, |run| value(&run.whole[0])));
        add(format!("{whole_at}, whole conversation"), each(runs, |run| value(&run.whole[1])));
        for (index, place) in places.into_iter().enumerate().skip(1) {
            add(format!("{place}, default limits"), each(runs, |run| value(&run.long[index])));
        }
    }
    figures
}

/// P3, and other figures that must not grow.
fn growth(runs: &[Run], places: [u32; 3]) -> Vec<Figure> {
    let against = |name: &str, index: usize, value: fn(&PerStep) -> f64| {
        let values = each(runs, |run| value(&run.long[index]) / value(&run.long[0]));
        Figure::new("P3", format!("{name} at step {} against step {EARLY}", places[index]), "", values)
    };
    let memory = |index: usize| {
        let name = format!("worker's memory at step {}, default limits", places[index]);
        Figure::new("P3", name, "MiB", each(runs, |run| run.long[index].memory))
    };
    let same = Target::AtMost(1.1);
    vec![
        Figure::new("P3", format!("WAL per step at step {EARLY}"), "KiB", each(runs, |run| run.long[0].wal))
            .floor("content", &[BYTES as f64 / 1024.0])
            .target(Target::RatioAtMost(4.0))
            .guarded(WAL_MARGIN),
        against("WAL", 1, |cost| cost.wal).target(same).guarded(WAL_MARGIN),
        against("WAL", 2, |cost| cost.wal).target(same).guarded(WAL_MARGIN),
        against("wall", 2, |cost| cost.wall).target(Target::AtMost(1.3)),
        against("worker CPU", 2, |cost| cost.worker_cpu),
        against("Postgres CPU", 2, |cost| cost.server_cpu),
        memory(0),
        memory(1),
        memory(2),
        Figure::new("P3", "worker's memory with the whole conversation", "MiB", each(runs, |run| run.whole[1].memory)),
    ]
}

async fn run(bench: &Bench) -> Result<Run, Error> {
    let sizes = &bench.sizes;
    let fixture = bench.fixture("steps", Duration::ZERO).await?;
    floor::create(&fixture.database).await?;
    let commits = sizes.commits.min(1000);
    let before = bench.server.cpu(&[])?;
    let plain = median(&floor::insert_and_commit(&fixture.database, commits).await?);
    let plain_server_cpu = bench.server.cpu(&[])?.saturating_sub(before).as_secs_f64() * 1e3 / commits as f64;
    // The first job of a database fills its caches and the server's plans.
    course(bench, &fixture, "warm", 40, &many_turns()).await?;
    let [late, very_late] = sizes.long_at;
    let whole = course(bench, &fixture, "whole", sizes.whole_at + WHOLE_REACH + 10, &whole_conversation()).await?;
    let long = course(bench, &fixture, "long", very_late + LONG_REACH + 10, &many_turns()).await?;
    bench.close(fixture).await?;
    Ok(Run {
        whole: [whole.around(EARLY, EARLY_REACH)?, whole.around(sizes.whole_at, WHOLE_REACH)?],
        long: [long.around(EARLY, EARLY_REACH)?, long.around(late, LONG_REACH)?, long.around(very_late, LONG_REACH)?],
        plain,
        plain_server_cpu,
    })
}

/// One job from its insertion to its end, with its own worker.
async fn course(bench: &Bench, fixture: &Fixture, tag: &str, turns: u32, config: &Value) -> Result<Course, Error> {
    let order = Order { tag: tag.to_owned(), turns, bytes: BYTES, tool: Tool::Write, trace: false };
    fixture.insert(&[order], config).await?;
    let worker = fixture.worker(1)?;
    let course = sampler::watch(bench, fixture, &worker, tag).await?;
    worker.stop()?;
    Ok(course)
}

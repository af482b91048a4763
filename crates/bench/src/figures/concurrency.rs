//! P6, P7: many concurrent jobs in one worker. The ideal is the model's delay times the turns of a job: the rest is
//! work of the worker, the server and the model on the same machine.

use crate::{
    error::Error,
    fixture::{Bench, defaults},
    model::{Order, Tool},
    procfs,
    report::{Figure, Target},
};
use std::time::{Duration, Instant};

const TURNS: u32 = 20;

/// The cost of one run.
struct Taken {
    secs: f64,
    /// The worker's peak memory in MiB.
    memory: f64,
    /// CPU of worker and server, in seconds.
    worker_cpu: f64,
    server_cpu: f64,
}

/// P6.
pub(super) async fn hundreds(bench: &Bench) -> Result<Vec<Figure>, Error> {
    crowd(bench, "P6", bench.sizes.crowd, bench.sizes.crowd_delay, 1.15).await
}

/// P7.
pub(super) async fn thousands(bench: &Bench) -> Result<Vec<Figure>, Error> {
    crowd(bench, "P7", bench.sizes.large_crowd, bench.sizes.large_crowd_delay, 1.4).await
}

async fn crowd(
    bench: &Bench,
    id: &'static str,
    jobs: usize,
    delay: Duration,
    bound: f64,
) -> Result<Vec<Figure>, Error> {
    let mut runs = Vec::new();
    for _ in 0..bench.sizes.runs {
        runs.push(run(bench, jobs, delay).await?);
    }
    let of = |value: fn(&Taken) -> f64| runs.iter().map(value).collect::<Vec<f64>>();
    let steps = jobs as f64 * f64::from(TURNS);
    let ideal = delay.as_secs_f64() * f64::from(TURNS);
    let name = format!("{jobs} jobs × {TURNS} steps, model {} ms", delay.as_millis());
    Ok(vec![
        Figure::new(id, name, "s", of(|taken| taken.secs)).floor("ideal", &[ideal]).target(Target::RatioAtMost(bound)),
        Figure::new(id, "steps per second", "/s", runs.iter().map(|taken| steps / taken.secs).collect()),
        Figure::new(id, "peak memory of the worker", "MiB", of(|taken| taken.memory))
            .target(Target::AtMost(60.0 + 150.0 / 1024.0 * jobs as f64)),
        Figure::new(
            id,
            "CPU per step, worker",
            "ms",
            runs.iter().map(|taken| taken.worker_cpu * 1e3 / steps).collect(),
        ),
        Figure::new(
            id,
            "CPU per step, Postgres",
            "ms",
            runs.iter().map(|taken| taken.server_cpu * 1e3 / steps).collect(),
        ),
    ])
}

/// The time starts at the insertion and includes the start of the worker.
async fn run(bench: &Bench, jobs: usize, delay: Duration) -> Result<Taken, Error> {
    let fixture = bench.fixture("crowd", delay).await?;
    let orders: Vec<Order> = (0..jobs)
        .map(|place| Order {
            tag: format!("crowd-{place}"),
            turns: TURNS,
            bytes: 2048,
            tool: Tool::Write,
            trace: false,
        })
        .collect();
    let started = Instant::now();
    fixture.insert(&orders, &defaults()).await?;
    let server_before = bench.server.cpu(&[])?;
    let worker = fixture.worker(jobs)?;
    fixture.completed().await?;
    let taken = Taken {
        secs: started.elapsed().as_secs_f64(),
        memory: procfs::memory(worker.pid())?.1 as f64 / f64::from(1 << 20),
        worker_cpu: procfs::cpu(worker.pid())?.as_secs_f64(),
        server_cpu: bench.server.cpu(&[])?.saturating_sub(server_before).as_secs_f64(),
    };
    worker.stop()?;
    bench.close(fixture).await?;
    Ok(taken)
}

//! Samples one job while it runs: its step, and the time, CPU and WAL so far.

use crate::{
    child::Program,
    error::{During, Error},
    fixture::{Bench, Fixture},
};
use std::time::{Duration, Instant};

/// Time between samples. A sample costs the server about a tenth of a millisecond, in a process that is not counted.
const LOOK_EVERY: Duration = Duration::from_millis(10);

/// One look.
#[derive(Clone, Copy, Debug)]
struct Sample {
    at: Duration,
    step: i64,
    /// Bytes of the server's WAL.
    wal: f64,
    worker_cpu: Duration,
    server_cpu: Duration,
    /// The worker's resident memory, in bytes.
    memory: u64,
}

/// All samples of one job.
#[derive(Debug)]
pub(super) struct Course {
    samples: Vec<Sample>,
    /// The model's own time for each request, in microseconds: a step makes one.
    model_us: Vec<u32>,
}

/// The cost of one step in a range of the job.
#[derive(Clone, Copy, Debug)]
pub(super) struct PerStep {
    /// Milliseconds, without the model's own time.
    pub(super) wall: f64,
    /// The model's own time, in milliseconds.
    pub(super) model: f64,
    /// Milliseconds.
    pub(super) worker_cpu: f64,
    /// Milliseconds.
    pub(super) server_cpu: f64,
    /// KiB.
    pub(super) wal: f64,
    /// The worker's resident memory at its highest, in MiB.
    pub(super) memory: f64,
}

/// Watches the fixture's only running job, which has this tag, until all are done.
pub(super) async fn watch(bench: &Bench, fixture: &Fixture, worker: &Program, tag: &str) -> Result<Course, Error> {
    let mut connection = fixture.database.pool.acquire().await?;
    let own: i32 = sqlx::query_scalar("SELECT pg_backend_pid()").fetch_one(&mut *connection).await?;
    let own = [u32::try_from(own)?];
    let started = Instant::now();
    let mut samples: Vec<Sample> = Vec::new();
    loop {
        let statement = "SELECT coalesce(max(step) FILTER (WHERE status IN ('pending', 'running')), -1),
                                (pg_current_wal_insert_lsn() - '0/0')::float8,
                                coalesce(min(error_message), min(status_reason))
                         FROM jobs";
        let (step, wal, reason): (i64, f64, Option<String>) =
            sqlx::query_as(statement).fetch_one(&mut *connection).await.during("look at the job")?;
        if let Some(reason) = reason {
            return Err(Error::new(format!("the job did not complete: {reason}")));
        }
        if step < 0 {
            break;
        }
        samples.push(Sample {
            at: started.elapsed(),
            step,
            wal,
            worker_cpu: crate::procfs::cpu(worker.pid())?,
            server_cpu: bench.server.cpu(&own)?,
            memory: crate::procfs::memory(worker.pid())?.0,
        });
        tokio::time::sleep(LOOK_EVERY).await;
    }
    Ok(Course { samples, model_us: fixture.model.trace(tag).await?.busy_us })
}

impl Course {
    /// The cost of a step around this one: the steps up to `reach` away from it.
    pub(super) fn around(&self, place: u32, reach: u32) -> Result<PerStep, Error> {
        let (from, to) = (i64::from(place.saturating_sub(reach)), i64::from(place + reach));
        let within = || self.samples.iter().filter(|sample| (from..=to).contains(&sample.step));
        let (first, last) = (within().next(), within().next_back());
        let (Some(first), Some(last)) = (first, last) else {
            return Err(Error::new(format!("no look fell between the steps {from} and {to}")));
        };
        let steps = (last.step - first.step) as f64;
        if steps < 1.0 {
            return Err(Error::new(format!("the looks between the steps {from} and {to} saw one step only")));
        }
        let ms = |time: Duration| time.as_secs_f64() * 1e3 / steps;
        let model = self.model_ms(first.step, last.step);
        Ok(PerStep {
            wall: ms(last.at - first.at) - model,
            model,
            worker_cpu: ms(last.worker_cpu.saturating_sub(first.worker_cpu)),
            server_cpu: ms(last.server_cpu.saturating_sub(first.server_cpu)),
            wal: (last.wal - first.wal) / 1024.0 / steps,
            memory: within().map(|sample| sample.memory).max().unwrap_or(0) as f64 / f64::from(1 << 20),
        })
    }

    /// The model's mean time for a request between these steps. A step makes one request; occasional summaries shift
    /// the numbering of requests, which is negligible in a mean over many.
    fn model_ms(&self, from: i64, to: i64) -> f64 {
        let place = |step: i64| usize::try_from(step).unwrap_or(0).min(self.model_us.len());
        let requests = &self.model_us[place(from)..place(to)];
        requests.iter().map(|&us| f64::from(us)).sum::<f64>() / 1e3 / requests.len().max(1) as f64
    }
}

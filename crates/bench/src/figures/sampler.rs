//! Watching one job while it runs: at which step it is, what time, CPU and log that took.

use crate::{
    error::{During, Error},
    process::Program,
    site::{Bench, Site},
};
use std::time::{Duration, Instant};

/// Time between looks. A look costs the server about a tenth of a millisecond, in a process that is not counted.
const LOOK_EVERY: Duration = Duration::from_millis(10);

/// One look.
#[derive(Clone, Copy, Debug)]
struct Sample {
    at: Duration,
    step: i64,
    /// Bytes of the server's log.
    wal: f64,
    worker_cpu: Duration,
    server_cpu: Duration,
}

/// All looks at one job.
#[derive(Debug)]
pub(super) struct Course {
    samples: Vec<Sample>,
    /// The worker's memory at its highest, in bytes.
    pub(super) peak_memory: u64,
}

/// What one step cost in a stretch of the job.
#[derive(Clone, Copy, Debug)]
pub(super) struct PerStep {
    /// Milliseconds.
    pub(super) wall: f64,
    /// Milliseconds.
    pub(super) worker_cpu: f64,
    /// Milliseconds.
    pub(super) server_cpu: f64,
    /// KiB.
    pub(super) wal: f64,
}

/// Watches the site's only running job until all are done.
pub(super) async fn watch(bench: &Bench, site: &Site, worker: &Program) -> Result<Course, Error> {
    let mut connection = site.database.pool.acquire().await?;
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
            worker_cpu: crate::proc::cpu(worker.pid())?,
            server_cpu: bench.server.cpu(&own)?,
        });
        tokio::time::sleep(LOOK_EVERY).await;
    }
    let (_, peak_memory) = crate::proc::memory(worker.pid())?;
    Ok(Course { samples, peak_memory })
}

impl Course {
    /// What a step cost between these two.
    pub(super) fn between(&self, from: i64, to: i64) -> Result<PerStep, Error> {
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
        Ok(PerStep {
            wall: ms(last.at - first.at),
            worker_cpu: ms(last.worker_cpu.saturating_sub(first.worker_cpu)),
            server_cpu: ms(last.server_cpu.saturating_sub(first.server_cpu)),
            wal: (last.wal - first.wal) / 1024.0 / steps,
        })
    }
}

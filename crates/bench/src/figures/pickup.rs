//! P8: from the insertion of a job to its first request at the model, on an idle worker. The insertion is a plain
//! statement of an ordinary client; the arrival is seen in the model's own process. Both read the same clock.

use super::floor::PlainQueue;
use crate::{
    error::{During, Error},
    fixture::{Bench, Fixture, defaults},
    model::{Order, Tool},
    report::{Figure, Target, percentile},
};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The worker's default poll interval without notifications, in milliseconds.
const POLL_MS: f64 = 1000.0;

pub(super) async fn measure(bench: &Bench) -> Result<Vec<Figure>, Error> {
    let (mut middle, mut slow, mut polled, mut plain) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for _ in 0..bench.sizes.runs {
        let fixture = bench.fixture("pickup", Duration::ZERO).await?;
        let mut queue = PlainQueue::open(&fixture.database).await?;
        let worker = fixture.worker(50)?;
        // The first jobs find a worker that is still starting.
        pickups(&fixture, &mut queue, "warm", 3).await?;
        let (told, plainly) = pickups(&fixture, &mut queue, "told", bench.sizes.pickups).await?;
        plain.push(percentile(&plainly, 0.5));
        middle.push(percentile(&told, 0.5));
        slow.push(percentile(&told, 0.99));
        sqlx::query("ALTER TABLE jobs DISABLE TRIGGER jobs_notify_inserted").execute(&fixture.database.pool).await?;
        polled.push(percentile(&pickups(&fixture, &mut queue, "polled", bench.sizes.pickups / 20 + 1).await?.0, 1.0));
        worker.stop()?;
        bench.close(fixture).await?;
    }
    Ok(vec![
        Figure::new("P8", "insert to first request, p50", "ms", middle.clone()),
        Figure::new("P8", "the same against a plain queue's client", "ms", middle)
            .floor("LISTEN, claim", &plain)
            .target(Target::RatioAtMost(5.0)),
        Figure::new("P8", "insert to first request, p99", "ms", slow),
        Figure::new("P8", "the same by polling alone, longest", "ms", polled).target(Target::AtMost(POLL_MS + 10.0)),
    ])
}

/// One job after the other, and one row of a plain queue after each; the milliseconds of each.
async fn pickups(
    fixture: &Fixture,
    queue: &mut PlainQueue,
    kind: &str,
    times: usize,
) -> Result<(Vec<f64>, Vec<f64>), Error> {
    let (mut taken, mut plain) = (Vec::with_capacity(times), Vec::with_capacity(times));
    for place in 0..times {
        let tag = format!("{kind}-{place}");
        let order = Order { tag: tag.clone(), turns: 3, bytes: 200, tool: Tool::Write, trace: false };
        let inserted = SystemTime::now().duration_since(UNIX_EPOCH).during("read the clock")?;
        fixture.insert(&[order], &defaults()).await?;
        fixture.completed().await?;
        let arrived = Duration::from_micros(fixture.model.trace(&tag).await?.first_at_us);
        taken.push(arrived.saturating_sub(inserted).as_secs_f64() * 1e3);
        plain.push(queue.pickup().await?);
    }
    Ok((taken, plain))
}

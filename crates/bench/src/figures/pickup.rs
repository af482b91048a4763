//! P8: from the insertion of a job to its first request at the model, on an idle worker. The insertion is a plain
//! statement of an ordinary client; the arrival is seen in the model's own process. Both read the same clock.

use crate::{
    error::{During, Error},
    model::Order,
    report::{Figure, Target, percentile},
    site::{Bench, Site, defaults},
};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The worker's poll interval when it is told of nothing, in milliseconds: its default.
const POLL_MS: f64 = 1000.0;

pub(super) async fn measure(bench: &Bench) -> Result<Vec<Figure>, Error> {
    let (mut middle, mut slow, mut polled) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..bench.sizes.runs {
        let site = bench.site("pickup", Duration::ZERO).await?;
        let worker = site.worker(50)?;
        // The first jobs find a worker that still starts.
        pickups(&site, "warm", 3).await?;
        let told = pickups(&site, "told", bench.sizes.pickups).await?;
        middle.push(percentile(&told, 0.5));
        slow.push(percentile(&told, 0.99));
        sqlx::query("ALTER TABLE jobs DISABLE TRIGGER jobs_notify_inserted").execute(&site.database.pool).await?;
        polled.push(percentile(&pickups(&site, "polled", bench.sizes.pickups / 20 + 1).await?, 1.0));
        worker.stop()?;
        bench.close(site).await?;
    }
    Ok(vec![
        Figure::new("P8", "insert to first request, p50", "ms", middle).target(Target::AtMost(2.0)),
        Figure::new("P8", "insert to first request, p99", "ms", slow).target(Target::AtMost(10.0)),
        Figure::new("P8", "the same by polling alone, longest", "ms", polled).target(Target::AtMost(POLL_MS + 10.0)),
    ])
}

/// One job after the other; the milliseconds of each.
async fn pickups(site: &Site, kind: &str, times: usize) -> Result<Vec<f64>, Error> {
    let mut taken = Vec::with_capacity(times);
    for place in 0..times {
        let tag = format!("{kind}-{place}");
        let order = Order { tag: tag.clone(), turns: 3, bytes: 200, reads: false, trace: false };
        let inserted = SystemTime::now().duration_since(UNIX_EPOCH).during("read the clock")?;
        site.insert(&[order], &defaults()).await?;
        site.completed().await?;
        let arrived = Duration::from_micros(site.model.trace(&tag).await?.first_at_us);
        taken.push(arrived.saturating_sub(inserted).as_secs_f64() * 1e3);
    }
    Ok(taken)
}

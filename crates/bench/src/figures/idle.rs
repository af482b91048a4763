//! P14, P15: start, idle load, and program size.

use crate::{
    error::Error,
    fixture::{Bench, defaults},
    model::{Order, Tool},
    procfs,
    proxy::Proxy,
    report::{Figure, Target},
};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Settling time of an idle worker.
const SETTLES: Duration = Duration::from_secs(2);

pub(super) async fn measure(bench: &Bench) -> Result<Vec<Figure>, Error> {
    let (mut start, mut memory, mut statements, mut connections) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for _ in 0..bench.sizes.runs {
        start.push(start_to_claim(bench).await?);
        let idle = idle(bench).await?;
        memory.push(idle.memory);
        statements.push(idle.statements);
        connections.push(idle.connections);
    }
    Ok(vec![
        Figure::new("P14", "worker start to first claim", "ms", start).target(Target::AtMost(200.0)),
        Figure::new("P14", "resident memory, idle", "MiB", memory).target(Target::AtMost(40.0)),
        Figure::new("P14", "statements per second, idle", "/s", statements).target(Target::AtMost(2.0)).guarded(0.0),
        Figure::new("P14", "connections, idle", "", connections).target(Target::AtMost(5.0)).guarded(0.0),
    ])
}

/// P15. The container image is this and 14.7 MiB of base layers (docker/README.md); no container runtime is needed here.
pub(super) async fn size(bench: &Bench) -> Result<Vec<Figure>, Error> {
    let binary = std::fs::metadata(&bench.plumbline.path)?.len() as f64 / f64::from(1 << 20);
    Ok(vec![Figure::new("P15", "the program", "MiB", vec![binary]).target(Target::AtMost(45.0))])
}

/// From starting the process to the attempt's row, by the same machine's clock.
async fn start_to_claim(bench: &Bench) -> Result<f64, Error> {
    let fixture = bench.fixture("start", Duration::ZERO).await?;
    let order = Order { tag: "start".into(), turns: 3, bytes: 200, tool: Tool::Write, trace: false };
    fixture.insert(&[order], &defaults()).await?;
    let started = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64();
    let worker = fixture.worker(50)?;
    fixture.completed().await?;
    worker.stop()?;
    let statement = "SELECT extract(epoch FROM min(started_at))::float8 FROM attempts";
    let claimed: f64 = sqlx::query_scalar(statement).fetch_one(&fixture.database.pool).await?;
    bench.close(fixture).await?;
    Ok((claimed - started) * 1e3)
}

struct Idle {
    memory: f64,
    statements: f64,
    connections: f64,
}

async fn idle(bench: &Bench) -> Result<Idle, Error> {
    let fixture = bench.fixture("idle", Duration::ZERO).await?;
    let proxy = Proxy::start(bench.server.address()).await?;
    let worker = fixture.worker_on(&fixture.database.url_through(proxy.port()), 50, &[])?;
    tokio::time::sleep(SETTLES).await;
    let before = proxy.counts().statements();
    tokio::time::sleep(bench.sizes.idle).await;
    let statements = (proxy.counts().statements() - before) as f64 / bench.sizes.idle.as_secs_f64();
    let memory = procfs::memory(worker.pid())?.0 as f64 / f64::from(1 << 20);
    let connections = proxy.counts().connections() as f64;
    worker.stop()?;
    bench.close(fixture).await?;
    Ok(Idle { memory, statements, connections })
}

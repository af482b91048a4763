//! Postgres cannot be reached while a tool's call reads from it.

use super::{
    double::{Asked, Double, Served},
    scene::{Call, Scene, listed},
};
use axum::response::{IntoResponse, Response};
use plumbline_system_tests::{
    PgPool,
    proxy::{Order, Proxy},
    scripted::{Request, one_phase},
};
use serde_json::json;
use sqlx::ConnectOptions as _;
use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

/// The tools' time limit, which reading a small document meets on a slow machine too, and an outage that is longer.
const LIMIT_SECS: u64 = 20;
const OUTAGE: Duration = Duration::from_secs(25);

/// The calls read files, of which none asks a service.
#[derive(Default)]
struct NoService;

impl Double for NoService {
    async fn answer(&self, _asked: Asked) -> Response {
        ().into_response()
    }
}

#[sqlx::test(migrations = false)]
async fn a_call_during_an_outage_longer_than_its_time_limit_gets_its_result(pool: PgPool) {
    let proxy = Arc::new(Proxy::start(pool.connect_options().get_port()).await);
    let through = pool.connect_options().as_ref().clone().port(proxy.port).to_url_lossy().to_string();
    let calls: &[&[Call]] = &[&[("read_file", json!({"path": "chunks/policy.md"}))]];
    let (answers, relay, begun) = (listed(calls), proxy.clone(), AtomicBool::new(false));
    let script = move |request: &Request| {
        if !request.is_strategic() && !begun.swap(true, Ordering::SeqCst) {
            // The answer reaches the worker, and its call finds no database.
            interrupt(relay.clone());
        }
        one_phase(request, &answers)
    };
    let keys = json!({"limits": {"tool_timeout_s": LIMIT_SECS}});
    let scene = Scene::scripted(pool, Served::<NoService>::start().await, keys, script).await;
    let job = scene.insert_with_document(None).await;
    let mut command = scene.command(&["worker"]);
    command.env("DATABASE_URL", through).env("PLUMBLINE_LEASE_SECS", "600").env("PLUMBLINE_HEARTBEAT_SECS", "60");
    let worker = scene.world.start(command);
    let row = scene.world.becomes(job, "completed").await;
    assert_eq!(row.claims, 1, "the worker that made the call kept the job");
    let seen = scene.model.seen();
    assert!(!seen.iter().any(|request| request.has("did not finish within")), "the outage ran out the call's time");
    assert!(seen.iter().any(|request| request.has("Invoices must be kept")), "the call has its result");
    worker.stop().await;
    scene.world.finish().await;
}

/// An outage begins now and ends by itself.
fn interrupt(proxy: Arc<Proxy>) {
    proxy.order(Order::Refuse);
    tokio::spawn(async move {
        tokio::time::sleep(OUTAGE).await;
        proxy.order(Order::Pass);
    });
}

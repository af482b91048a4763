//! The container's health check.

use super::names::address;
use plumbline_system_tests::{PgPool, World};

#[sqlx::test(migrations = false)]
async fn the_health_check_asks_the_worker_under_its_own_address(pool: PgPool) {
    let world = World::new(pool).await;
    let token = "a-token-that-the-probe-does-not-need";
    let mut command = world.command(&["worker", "--http", "0.0.0.0:0"]);
    command.env("PLUMBLINE_HTTP_TOKEN", token);
    let worker = world.start(command);
    let everywhere = address(&worker).await.to_string();
    let probe = async || {
        let mut command = world.command(&["__probe"]);
        command.env("PLUMBLINE_HTTP_ADDR", &everywhere);
        world.start(command).ended().await
    };
    let alive = probe().await;
    assert_eq!(alive.code, Some(0), "{}", alive.stderr);
    assert!(everywhere.starts_with("0.0.0.0:") && alive.stdout.contains("\"alive\":true"), "{everywhere}: {alive:?}");
    worker.stop().await;
    let gone = probe().await;
    assert_eq!((gone.code, gone.stderr.lines().count()), (Some(1), 1), "{gone:?}");
    assert!(gone.stderr.contains("PLUMBLINE_HTTP_ADDR"), "{}", gone.stderr);
    world.finish().await;
}

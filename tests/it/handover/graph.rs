//! The graph's user, as `doctor` sees it.

use plumbline_system_tests::{PgPool, World, handover::Graph};
use serde_json::json;

/// An edition without roles cannot restrict the user: `doctor` reports it without failing.
#[sqlx::test(migrations = "../migrations")]
async fn doctor_says_what_the_graphs_user_may_do(pool: PgPool) {
    let Some(graph) = Graph::start().await else { return };
    let world = World::new(pool).await;
    let doctor = async |uri: &str| {
        let mut command = world.command(&["doctor"]);
        command.env("PLUMBLINE_CONNECTIONS", json!({"neo4j": {"uri": uri}}).to_string());
        world.start(command).ended().await
    };
    let ended = doctor(&graph.server.uri).await;
    let line = ended.stdout.lines().find(|line| line.starts_with("note  graph: ")).unwrap_or_default();
    assert!(line.contains("community") && line.contains("the only wall"), "{}", ended.stdout);
    assert_eq!(ended.code, Some(0), "{}", ended.stdout);
    let away = doctor("http://127.0.0.1:9").await;
    assert!(away.stdout.contains("note  graph: the graph at http://127.0.0.1:9 cannot be reached"), "{}", away.stdout);
    world.finish().await;
}

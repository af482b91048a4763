//! A graph that is away, or that refuses: the validator waits or pauses, and every requirement is where it was.

use plumbline_system_tests::{
    PgPool, Uuid, World,
    graph_kit::Moment,
    handover::{Graph, assert_statuses, created, insert_validator, policy},
};
use serde_json::json;

/// Makes a parked job's time come.
async fn now(pool: &PgPool, job: Uuid) {
    sqlx::query("UPDATE jobs SET run_at = now() WHERE id = $1").bind(job).execute(pool).await.expect("jobs");
}

#[sqlx::test(migrations = false)]
async fn a_validator_waits_for_a_graph_that_is_away(pool: PgPool) {
    let Some(mut graph) = Graph::start().await else { return };
    let world = World::new(pool).await;
    let creator = created(&world, &policy(3, 1)).await;
    graph.server.close();
    let validator = insert_validator(&world, creator, &graph.config(&world)).await;
    let mut requests = None;
    for _ in 0..2 {
        now(&world.pool, validator).await;
        world.work_until_idle().await;
        let row = world.job(validator).await;
        assert_eq!(row.status, "pending", "{row:?}");
        let reason = row.reason.expect("a parked job says why");
        assert!(reason.contains("the graph at http://127.0.0.1:") && reason.contains("cannot be reached"), "{reason}");
        assert_eq!(*requests.get_or_insert(row.requests), row.requests, "the model is not asked while it waits");
        assert_statuses(&world.pool, creator, [("pending", 6)], "the rows").await;
    }
    let later: bool = sqlx::query_scalar("SELECT run_at > now() FROM jobs WHERE id = $1")
        .bind(validator)
        .fetch_one(&world.pool)
        .await
        .expect("jobs");
    assert!(later, "it comes back by itself");

    graph.server.open().await;
    now(&world.pool, validator).await;
    world.work_until_idle().await;
    let row = world.becomes(validator, "completed").await;
    assert_eq!((row.attempt, row.reason), (1, None), "an outage costs no attempt");
    assert_statuses(&world.pool, creator, [("integrated", 6)], "the rows").await;
    graph.assert_holds_the_integrated_rows(&world.pool).await;
    world.finish().await;
}

#[sqlx::test(migrations = false)]
async fn a_graph_that_goes_away_in_the_middle_loses_nothing(pool: PgPool) {
    let Some(mut graph) = Graph::start().await else { return };
    let world = World::new(pool).await;
    let creator = created(&world, &policy(3, 1)).await;
    let validator = insert_validator(&world, creator, &graph.config(&world)).await;
    // Five constraints, the schema, the names, and then in the middle of the second requirement.
    graph.server.fall_silent(18, Moment::After);
    let worker = world.worker();
    graph.server.silence().await;
    graph.server.close();
    world.until(validator, "is parked", |job| job.status == "pending").await;
    worker.stop().await;
    // The rows already in the graph are judged; the call that judges the rest waits for the graph.
    assert_statuses(&world.pool, creator, [("integrated", 1), ("validating", 5)], "as the outage began").await;
    graph.server.open().await;
    now(&world.pool, validator).await;
    world.work_until_idle().await;
    world.becomes(validator, "completed").await;
    assert_statuses(&world.pool, creator, [("integrated", 6)], "the rows").await;
    graph.assert_holds_the_integrated_rows(&world.pool).await;
    world.finish().await;
}

#[sqlx::test(migrations = false)]
async fn a_graph_that_only_a_person_can_mend_pauses_the_validator(pool: PgPool) {
    let world = World::new(pool).await;
    let creator = created(&world, &policy(1, 1)).await;
    let neo4j = json!({"uri": "http://127.0.0.1:9", "user": "neo4j", "password_env": "GRAPH_PASSWORD_OF_THE_TEST"});
    let validator = insert_validator(&world, creator, &json!({})).await;
    let worker = || {
        let mut command = world.command(&["worker", "--until-idle"]);
        command.env("PLUMBLINE_CONNECTIONS", json!({"neo4j": neo4j}).to_string());
        command
    };
    assert_eq!(world.start(worker()).ended().await.code, Some(0));
    let row = world.becomes(validator, "paused").await;
    let reason = row.reason.expect("a paused job says why");
    assert!(reason.contains("GRAPH_PASSWORD_OF_THE_TEST") && reason.contains("is not set"), "{reason}");
    assert_statuses(&world.pool, creator, [("pending", 2)], "the rows").await;

    // The variable is set now; that nothing listens at the address is another matter.
    let status = world.call("SELECT resume_job($1)", validator).await.expect("it can be resumed");
    assert_eq!(status, "pending");
    let mut command = worker();
    command.env("GRAPH_PASSWORD_OF_THE_TEST", "secret-of-the-test");
    let ended = world.start(command).ended().await;
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let row = world.job(validator).await;
    let reason = row.reason.expect("a parked job says why");
    assert!(row.status == "pending" && reason.contains("cannot be reached"), "{reason}");
    assert!(!format!("{reason}{}", ended.stderr).contains("secret-of-the-test"), "no message has the password");
    world.finish().await;
}

//! Runs the outside validator of `docs/sql.md` verbatim.

use plumbline_system_tests::{
    PgPool, World,
    handover::{assert_statuses, created, insert_validator, policy},
};
use serde_json::json;
use sqlx::Executor as _;

/// The SQL block after its introduction.
fn outside_validator() -> &'static str {
    let manual = include_str!("../../../docs/sql.md");
    let (_, rest) = manual.split_once("An outside validator takes rows itself.").expect("the manual has the section");
    let (_, rest) = rest.split_once("```sql\n").expect("a block of SQL follows");
    let (sql, _) = rest.split_once("```").expect("the block ends");
    let lines = sql.lines().count();
    assert!((10..=25).contains(&lines), "twenty lines or so are promised, not {lines}");
    sql
}

#[sqlx::test(migrations = false)]
async fn the_readmes_outside_validator_judges_every_row_alongside_another_one(pool: PgPool) {
    let world = World::new(pool).await;
    let creator = created(&world, &policy(10, 1)).await;
    sqlx::query(
        "UPDATE requirement_cache SET citations = jsonb_set(citations, '{0,verified}', 'false')
         WHERE id = (SELECT id FROM requirement_cache WHERE job_id = $1 ORDER BY id LIMIT 1)",
    )
    .bind(creator)
    .execute(&world.pool)
    .await
    .expect("requirement_cache");
    let sql = outside_validator();
    let (one, two, three) = tokio::join!(world.pool.execute(sql), world.pool.execute(sql), world.pool.execute(sql));
    for ran in [one, two, three] {
        ran.expect("the README's SQL runs");
    }
    assert_statuses(&world.pool, creator, [("integrated", 19), ("rejected", 1)], "the rows").await;
    let complete: bool = sqlx::query_scalar(
        "SELECT bool_and(validated_at IS NOT NULL AND validator_job_id IS NULL
                AND (status = 'rejected') = (rejection_reason IS NOT NULL)
                AND (status = 'integrated') = (graph_node_id IS NOT NULL))
         FROM requirement_cache WHERE job_id = $1",
    )
    .bind(creator)
    .fetch_one(&world.pool)
    .await
    .expect("requirement_cache");
    assert!(complete);
    world.finish().await;
}

#[sqlx::test(migrations = false)]
async fn it_runs_alongside_the_built_in_one(pool: PgPool) {
    let world = World::new(pool).await;
    let creator = created(&world, &policy(10, 1)).await;
    let validator = insert_validator(&world, creator, &json!({})).await;
    let worker = world.worker();
    world.pool.execute(outside_validator()).await.expect("the README's SQL runs");
    world.becomes(validator, "completed").await;
    worker.stop().await;
    // Rows that the built-in one accepted without a graph are pending for a validator with a graph.
    world.pool.execute(outside_validator()).await.expect("the README's SQL runs");
    assert_statuses(&world.pool, creator, [("integrated", 20)], "the rows").await;
    world.finish().await;
}

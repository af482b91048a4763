//! Models that jobs choose in their rows, under the cost budget of their job type.

use super::own_types::{job, job_types, run};
use plumbline_system_tests::{PgPool, World};
use serde_json::json;

#[sqlx::test(migrations = false)]
async fn a_model_is_counted_at_its_own_prices_or_not_asked_under_a_budget(pool: PgPool) {
    let world = World::new(pool).await;
    let prices = |price: f64| json!({"input": price, "cached_input": price, "output": price});
    let keys = json!({"llm": {"prices": prices(1.0)}, "limits": {"cost_budget_usd": 5}});
    let dir = job_types(&world, &[("counted", keys)]);
    let profiles = json!({"profiles": [{"name": "dear", "match": {"model": "dear"}, "prices": prices(10.0)}]});
    std::fs::write(dir.join("providers.json"), profiles.to_string()).expect("the world's folder can be written");
    let mut refused = Vec::new();
    for (row, key) in [
        (json!({"llm": {"model": "gpt-5-pro"}}), "llm.model"),
        (json!({"llm_by_purpose": {"strategic": {"model": "gpt-5-pro"}}}), "llm_by_purpose.strategic.model"),
        (json!({"llm_by_purpose": {"summary": {"model": "gpt-5-pro"}}}), "llm_by_purpose.summary.model"),
    ] {
        refused.push((world.insert(&job("counted", Some(row))).await, key));
    }
    let dear = world.insert(&job("counted", Some(json!({"llm": {"model": "dear"}})))).await;
    let ended = run(&world, &dir, &["worker", "--until-idle"]).await;
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    for (refused, key) in refused {
        let row = world.becomes(refused, "failed").await;
        assert_eq!(row.details.unwrap_or_default()["key"], key);
        assert!(row.error.unwrap_or_default().contains("`gpt-5-pro`"), "the model is named");
    }
    world.becomes(dear, "completed").await;
    let (cost, tokens, models): (f64, f64, Vec<String>) = sqlx::query_as(
        "SELECT j.cost_usd::float8, j.total_tokens_used::float8, (SELECT array_agg(DISTINCT model) FROM llm_requests)
         FROM jobs j WHERE j.id = $1",
    )
    .bind(dear)
    .fetch_one(&world.pool)
    .await
    .expect("the job can be read");
    assert_eq!(models, ["dear"], "no other model was asked");
    assert!((cost - tokens * 10.0 / 1e6).abs() < 1e-4 && tokens > 0.0, "{cost} USD, {tokens} tokens");
    world.finish().await;
}

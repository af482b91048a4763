//! Without a graph: what the checks find nothing to remark of is accepted by rule, and only the rest reaches the model.

use crate::handover::graph::{created, file, insert_validator};
use plumbline_system_tests::{PgPool, Uuid, World};
use serde_json::json;

/// Four duties that are not like each other.
const RULES: &str = "# Rules of the house\n\n## 1 Paper\n\nInvoices must be kept for ten years.\n\n## 2 Doors\n\nEvery visitor \
                     shall wear a badge in the building.\n\n## 3 Machines\n\nThe operator has to calibrate scanners each \
                     spring.\n\n## 4 Mail\n\nLetters from courts must be opened on the day of their arrival.\n";

/// How many rows of a job wait for a graph, and were accepted in this way.
async fn accepted(pool: &PgPool, creator: Uuid, by: &str) -> i64 {
    let counted = "SELECT count(*) FROM requirement_cache WHERE job_id = $1 AND status = 'pending'
                   AND validation_result ->> 'by' = $2 AND validation_result ->> 'integration' = 'switched off'";
    sqlx::query_scalar(counted).bind(creator).bind(by).fetch_one(pool).await.expect("requirement_cache can be read")
}

#[sqlx::test(migrations = false)]
async fn what_has_no_remark_is_accepted_without_a_request(pool: PgPool) {
    let world = World::new(pool).await;
    let creator = created(&world, RULES).await;
    let before = world.model.requests();
    let validator = insert_validator(&world, creator, &json!({})).await;
    world.work_until_idle().await;
    let row = world.becomes(validator, "completed").await;
    assert_eq!((row.requests, world.model.requests()), (0, before), "no model was asked");
    assert_eq!(accepted(&world.pool, creator, "rule").await, 4);
    let result = row.result.expect("a completed job has a result");
    assert_eq!(result["headline"], "4 judged: 4 accepted (4 by rule), 0 rejected, 0 failed.");
    assert_eq!(result["counts"]["judged"], json!({"accepted": 4, "rejected": 0, "failed": 0}));
    assert_eq!(result["deliverables"], json!(["output/validation_report.md", "output/insert.cypher"]));
    let report = file(&world.pool, validator, "output/validation_report.md").await;
    assert!(report.contains("4 requirements were accepted by rule"), "{report}");
    let script = file(&world.pool, validator, "output/insert.cypher").await;
    assert_eq!(script.matches("MERGE (r:Requirement").count(), 4);
    world.finish().await;
}

#[sqlx::test(migrations = false)]
async fn what_needs_a_look_reaches_the_model(pool: PgPool) {
    let world = World::new(pool).await;
    let creator = created(&world, RULES).await;
    for (tag, words) in [("needs_look", "%badge%"), ("translated", "%scanners%")] {
        let tagged =
            "UPDATE requirement_cache SET tags = jsonb_build_array($2::text) WHERE job_id = $1 AND text LIKE $3";
        let changed = sqlx::query(tagged).bind(creator).bind(tag).bind(words).execute(&world.pool).await;
        assert_eq!(changed.expect("rows can be tagged").rows_affected(), 1, "{words}");
    }
    let validator = insert_validator(&world, creator, &json!({})).await;
    world.work_until_idle().await;
    let row = world.becomes(validator, "completed").await;
    assert!(row.requests > 0, "a model judges what has a remark");
    assert_eq!((accepted(&world.pool, creator, "rule").await, accepted(&world.pool, creator, "model").await), (2, 2));
    let result = row.result.expect("a completed job has a result");
    assert_eq!(result["headline"], "4 judged: 4 accepted (2 by rule), 0 rejected, 0 failed.");
    world.finish().await;
}

//! Without a graph: what the checks find nothing to remark of is accepted by rule, and only the rest reaches the model.

use plumbline_system_tests::{
    PgPool, Uuid, World,
    handover::{assert_statuses, created, file, insert_validator},
};
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
    assert_replays(&world, validator).await;
    world.finish().await;
}

/// Rows that were claimed and not committed are claimed again by the next attempt, and accepted once.
#[sqlx::test(migrations = false)]
async fn a_kill_between_claim_and_commit_loses_and_doubles_nothing(pool: PgPool) {
    let world = World::new(pool).await;
    let creator = created(&world, RULES).await;
    let validator = insert_validator(&world, creator, &json!({})).await;
    let mut command = world.command(&["worker", "--until-idle"]);
    command.env("PLUMBLINE_FAIL_POINTS", "written/strategic=crash");
    assert_ne!(world.start(command).ended().await.code, Some(0), "the worker dies before its first commit");
    assert_statuses(&world.pool, creator, [("validating", 4)], "claimed by nobody who lives").await;
    world.age_workers().await;
    world.work_until_idle().await;
    let row = world.becomes(validator, "completed").await;
    assert_eq!((row.requests, row.claims), (0, 2));
    assert_eq!(accepted(&world.pool, creator, "rule").await, 4);
    assert_eq!(row.result.expect("a result")["headline"], "4 judged: 4 accepted (4 by rule), 0 rejected, 0 failed.");
    let script = file(&world.pool, validator, "output/insert.cypher").await;
    assert_eq!(script.matches("MERGE (r:Requirement").count(), 4, "each once");
    assert_replays(&world, validator).await;
    world.finish().await;
}

/// A fork continues after the rows that rules have accepted: it counts them and judges none of them again.
#[sqlx::test(migrations = false)]
async fn a_fork_and_a_replay_know_what_was_accepted_by_rule(pool: PgPool) {
    let world = World::new(pool).await;
    let creator = created(&world, RULES).await;
    let tagged = "UPDATE requirement_cache SET tags = '[\"needs_look\"]' WHERE job_id = $1 AND text LIKE '%badge%'";
    sqlx::query(tagged).bind(creator).execute(&world.pool).await.expect("a row can be tagged");
    let validator = insert_validator(&world, creator, &json!({})).await;
    world.work_until_idle().await;
    world.becomes(validator, "completed").await;
    assert_replays(&world, validator).await;
    let judged = "SELECT jsonb_object_agg(id, validated_at) FROM requirement_cache WHERE job_id = $1";
    let judged = async || -> serde_json::Value {
        sqlx::query_scalar(judged).bind(creator).fetch_one(&world.pool).await.expect("requirement_cache can be read")
    };
    let before = judged().await;
    let fork = world.run(&["fork", &validator.to_string(), "--at", "1"]).await.stdout;
    let fork: Uuid = fork.trim().parse().expect("the fork's id");
    world.work_until_idle().await;
    let row = world.becomes(fork, "completed").await;
    let headline = row.result.expect("a result")["headline"].clone();
    assert_eq!(headline, "3 judged: 3 accepted (3 by rule), 0 rejected, 0 failed.");
    assert_eq!(judged().await, before, "no row is judged twice");
    world.finish().await;
}

async fn assert_replays(world: &World, job: Uuid) {
    let ended = world.run(&["replay", &job.to_string()]).await;
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""), "{}", ended.stdout);
}

//! From a document to the graph: a creator's completion enqueues the validator, which judges every row.

use plumbline_system_tests::{
    PgPool, Uuid, World, documents,
    handover::{Graph, all, assert_statuses, created, file, insert_validator, policy, statuses},
    jobs::NewJob,
};
use serde_json::{Value, json};
use sqlx::Row;

/// The job that a creator's completion enqueued.
async fn child_job(pool: &PgPool, creator: Uuid) -> Uuid {
    let row = sqlx::query(
        "SELECT v.id, v.job_type, v.context ->> 'parent_job_id' = c.id::text AS names_it,
                v.run_at = c.completed_at AS in_one_transaction
         FROM jobs v JOIN jobs c ON c.id = v.parent_job_id WHERE c.id = $1",
    )
    .bind(creator)
    .fetch_one(pool)
    .await
    .expect("one job follows the creator");
    assert_eq!(row.get::<String, _>("job_type"), "validator");
    assert!(row.get::<bool, _>("names_it"), "its context names the job to validate");
    assert!(row.get::<bool, _>("in_one_transaction"), "now() of its insertion is that of the creator's completion");
    row.get("id")
}

fn with_follower(world: &World, graph: Option<&Graph>) -> Value {
    let mut config = graph.map_or_else(|| json!({}), |graph| graph.config(world));
    config["on_complete"] = json!({"enqueue": "validator"});
    config
}

/// A policy with one requirement said twice, with other punctuation.
fn policy_with_a_repetition() -> (String, i64) {
    let mut policy = documents::policy(5);
    let again = policy.sentences[0].replace("of its records", "(of its records)");
    policy.markdown.push_str(&format!("\n## 6 Once more\n\nThis section repeats. {again}\n"));
    (policy.markdown, policy.sentences.len() as i64 + 1)
}

#[sqlx::test(migrations = false)]
async fn a_completed_creator_is_followed_by_a_validator_that_fills_the_graph(pool: PgPool) {
    let Some(graph) = Graph::start().await else { return };
    let world = World::new(pool).await;
    let (markdown, sound) = policy_with_a_repetition();
    let config = Some(with_follower(&world, Some(&graph)));
    let creator = world.insert(&NewJob { config, ..NewJob::with_content("policy.md", markdown.as_bytes()) }).await;
    world.work_until_idle().await;
    world.becomes(creator, "completed").await;
    let validator = child_job(&world.pool, creator).await;
    let row = world.becomes(validator, "completed").await;

    assert_statuses(&world.pool, creator, [("integrated", sound)], "the rows").await;
    graph.assert_holds_the_integrated_rows(&world.pool).await;
    let similar: Option<f64> = sqlx::query_scalar(
        "SELECT max((validation_result #>> '{checks,similar,0,similarity}')::float8) FROM requirement_cache WHERE job_id = $1",
    )
    .bind(creator)
    .fetch_one(&world.pool)
    .await
    .expect("rows can be read");
    assert_eq!(similar, Some(1.0), "the same words at another place are similar, and no fault");

    let report = file(&world.pool, validator, "output/validation_report.md").await;
    assert!(report.contains(&format!("{sound} integrated, 0 accepted, 0 rejected, 0 failed")), "{report}");
    let deliverables = row.result.expect("a completed job has a result")["deliverables"].to_string();
    assert!(deliverables.contains("output/validation_report.md"), "{deliverables}");
    assert_every_row_says_what_was_checked(&world.pool, creator).await;
    assert_the_graph_is_as_it_should_be(&graph, sound).await;
    world.finish().await;
}

async fn assert_every_row_says_what_was_checked(pool: &PgPool, creator: Uuid) {
    for (what, statement) in [
        ("when it was validated", "bool_and(validated_at IS NOT NULL)"),
        ("no retry and no error", "bool_and(retry_count = 0 AND last_error IS NULL)"),
        ("a reason where it is rejected", "bool_and((rejection_reason IS NOT NULL) = (status = 'rejected'))"),
        ("a node where it is integrated", "bool_and((graph_node_id IS NOT NULL) = (status = 'integrated'))"),
        ("verified citations", "bool_and(validation_result #>> '{checks,citations,verified}' = '1')"),
        ("its relevance", "bool_and(validation_result #>> '{relevance,names,in_graph}' IS NOT NULL)"),
        ("its fulfilment", "bool_and(validation_result ->> 'compliance_status' = 'open')"),
        (
            "what became of it",
            "bool_and(validation_result ->> 'integration' = CASE status WHEN 'integrated' THEN 'done' ELSE 'none' END)",
        ),
        ("what is missing", "bool_and(status = 'rejected' OR validation_result ->> 'warnings' LIKE '%C4%')"),
    ] {
        let statement = format!("SELECT {statement} FROM requirement_cache WHERE job_id = $1");
        let holds: bool = sqlx::query_scalar(sqlx::AssertSqlSafe(statement))
            .bind(creator)
            .fetch_one(pool)
            .await
            .expect("requirement_cache can be read");
        assert!(holds, "the rows do not say {what}");
    }
}

/// The nodes have their properties and relations; earlier data is unchanged.
async fn assert_the_graph_is_as_it_should_be(graph: &Graph, sound: i64) {
    let complete = graph
        .server
        .ask(
            "MATCH (r:Requirement)-[:RELATES_TO_OBJECT]->(:BusinessObject {boid: 'BO-1'}) \
             WHERE r.status = 'active' AND r.complianceStatus = 'open' AND r.sourceJobId IS NOT NULL \
             AND r.text IS NOT NULL AND size(r.citationIds) = 1 AND r.source STARTS WITH 'input/policy.md' \
             RETURN count(DISTINCT r)",
        )
        .await;
    assert_eq!(complete, [json!([sound])], "nodes with their properties and the archive they are about");
    let before =
        graph.server.ask("MATCH (r:Requirement {rid: 'no number'})-[:REFINES]->(r), (g:Ghost) RETURN count(*)").await;
    assert_eq!(before, [json!([1])], "flaws elsewhere are left alone");
    let haunted = graph.server.ask("MATCH (o)-[h:HAUNTS]->(o) RETURN count(h)").await;
    assert_eq!(haunted, [json!([1])]);
}

#[sqlx::test(migrations = false)]
async fn the_same_document_again_gives_duplicates_of_what_is_integrated(pool: PgPool) {
    let Some(graph) = Graph::start().await else { return };
    let world = World::new(pool).await;
    let markdown = policy(2, 1);
    let mut outcomes = Vec::new();
    for _ in 0..2 {
        let config = Some(with_follower(&world, Some(&graph)));
        let creator = world.insert(&NewJob { config, ..NewJob::with_content("policy.md", markdown.as_bytes()) }).await;
        world.work_until_idle().await;
        world.becomes(child_job(&world.pool, creator).await, "completed").await;
        outcomes.push(statuses(&world.pool, creator).await);
    }
    assert_eq!(outcomes, [all([("integrated", 4)]), all([("rejected", 4)])]);
    graph.assert_holds_the_integrated_rows(&world.pool).await;
    world.finish().await;
}

#[sqlx::test(migrations = false)]
async fn without_a_graph_everything_is_checked_and_a_script_is_written(pool: PgPool) {
    let world = World::new(pool).await;
    let (markdown, sound) = policy_with_a_repetition();
    let config = Some(with_follower(&world, None));
    let creator = world.insert(&NewJob { config, ..NewJob::with_content("policy.md", markdown.as_bytes()) }).await;
    world.work_until_idle().await;
    let validator = child_job(&world.pool, creator).await;
    let row = world.becomes(validator, "completed").await;

    assert_statuses(&world.pool, creator, [("pending", sound)], "the rows").await;
    let switched_off: i64 = sqlx::query_scalar(
        "SELECT count(*) FROM requirement_cache WHERE job_id = $1 AND status = 'pending' AND graph_node_id IS NULL
         AND validation_result ->> 'integration' = 'switched off' AND validated_at IS NOT NULL",
    )
    .bind(creator)
    .fetch_one(&world.pool)
    .await
    .expect("requirement_cache can be read");
    assert_eq!(switched_off, sound);
    let report = file(&world.pool, validator, "output/validation_report.md").await;
    assert!(report.contains(&format!("0 integrated, {sound} accepted")), "{report}");
    assert!(report.contains("by rule) (integration is switched off"), "the repetition is for the model: {report}");
    let result = row.result.expect("a completed job has a result").to_string();
    assert!(result.contains("output/insert.cypher") && result.contains("integration is switched off"), "{result}");
    let script = file(&world.pool, validator, "output/insert.cypher").await;
    assert_eq!(script.matches("MERGE (r:Requirement").count() as i64, sound);
    assert!(script.contains("RELATES_TO_OBJECT"), "{script}");

    if let Some(graph) = Graph::start().await {
        the_script_and_a_later_validator_say_the_same(&world, &graph, creator, &script).await;
    }
    world.finish().await;
}

/// A person runs the script, twice; then a validator with that graph takes the rows up and finds their nodes.
async fn the_script_and_a_later_validator_say_the_same(world: &World, graph: &Graph, creator: Uuid, script: &str) {
    for _ in 0..2 {
        let statements = script.lines().filter(|line| !line.starts_with("//")).collect::<Vec<_>>().join("\n");
        for statement in statements.split(";\n").map(str::trim).filter(|statement| !statement.is_empty()) {
            graph.server.ask(statement.trim_end_matches(';')).await;
        }
    }
    let by_script = graph.integrated().await;
    let again = insert_validator(world, creator, &graph.config(world)).await;
    world.work_until_idle().await;
    world.becomes(again, "completed").await;
    assert_eq!(graph.integrated().await, by_script, "the same nodes under the same numbers");
    graph.assert_holds_the_integrated_rows(&world.pool).await;
}

#[sqlx::test(migrations = false)]
async fn a_creator_killed_at_its_completion_has_one_follower(pool: PgPool) {
    let world = World::new(pool).await;
    let policy = policy(1, 1);
    let job =
        NewJob { config: Some(with_follower(&world, None)), ..NewJob::with_content("policy.md", policy.as_bytes()) };
    // Its requests without disturbance, without its validator.
    let calm = created(&world, &policy).await;
    let requests = world.job(calm).await.requests as u64;
    let before = world.model.requests();
    let creator = world.insert(&job).await;
    world.model.hold_from(before + requests);
    let worker = world.worker();
    world.model.arrived(before + requests).await;
    let followers = "SELECT count(*) FROM jobs WHERE parent_job_id = $1";
    let count: i64 = sqlx::query_scalar(followers).bind(creator).fetch_one(&world.pool).await.expect("jobs");
    assert_eq!((world.job(creator).await.status.as_str(), count), ("running", 0));
    // Killed while the answer that completes it is on its way.
    world.model.answers(plumbline_system_tests::Answer::Work);
    worker.kill().await;
    world.age_workers().await;
    world.work_until_idle().await;
    world.becomes(creator, "completed").await;
    world.becomes(child_job(&world.pool, creator).await, "completed").await;
    world.finish().await;
}

/// An id with a typing error would otherwise mean the requirements of all jobs.
#[sqlx::test(migrations = false)]
async fn a_validator_of_a_job_that_is_not_there_is_refused_and_judges_nothing(pool: PgPool) {
    let world = World::new(pool).await;
    let creator = created(&world, &policy(1, 1)).await;
    let typed = creator.to_string().replacen('-', "", 1);
    let unknown = Uuid::now_v7().to_string();
    for (named, sentence) in [
        (json!(typed), "context.parent_job_id is \"".to_owned() + &typed + "\", which is no job's id"),
        (json!(7), "context.parent_job_id is 7, which is no job's id".to_owned()),
        (json!(unknown), format!("names job {unknown}, which does not exist")),
    ] {
        let id: Uuid = sqlx::query_scalar(
            "INSERT INTO jobs (job_type, prompt, context) VALUES ('validator', 'Check', $1) RETURNING id",
        )
        .bind(json!({"parent_job_id": named}))
        .fetch_one(&world.pool)
        .await
        .expect("a validator can be inserted");
        world.work_until_idle().await;
        let job = world.job(id).await;
        assert_eq!(job.status, "failed", "{job:?}");
        assert!(job.error.as_deref().unwrap_or_default().contains(&sentence), "{named}: {job:?}");
    }
    let judged = "SELECT count(*) FROM requirement_cache WHERE validation_result IS NOT NULL";
    let judged: i64 = sqlx::query_scalar(judged).fetch_one(&world.pool).await.expect("the rows can be read");
    assert_eq!(judged, 0);
    world.finish().await;
}

//! From a creator to its validator and into the graph: the graph itself, jobs of both types, and the states of rows.

use crate::{
    World, documents,
    graph_kit::{Engine, Server},
    jobs::NewJob,
};
use serde_json::{Value, json};
use sqlx::PgPool;
use std::collections::BTreeMap;
use uuid::Uuid;

/// A graph with earlier data: the subjects of requirements, and unrelated errors.
const SEED: [&str; 7] = [
    "CREATE (:BusinessObject {boid: 'BO-1', name: 'Archive'})",
    "CREATE (:BusinessObject {boid: 'BO-2', name: 'Record'})",
    "CREATE (:Message {mid: 'MSG-1', name: 'Register'})",
    "CREATE (:Requirement {rid: 'no number', sourceRequirementId: 'old', name: 'without a relation to anything else'})",
    "MATCH (r:Requirement {rid: 'no number'}) CREATE (r)-[:REFINES]->(r)",
    "CREATE (:Ghost {name: 'a label that no schema has'})",
    "MATCH (o:BusinessObject {boid: 'BO-2'}) CREATE (o)-[:HAUNTS]->(o)",
];

/// The engine, and the server before it.
pub struct Graph {
    /// The server that workers use.
    pub server: Server,
    _engine: Engine,
}

impl Graph {
    /// Starts them; none, said aloud, where no engine is installed.
    pub async fn start() -> Option<Self> {
        let engine = Engine::start().await?;
        let server = Server::over(&engine).await;
        for statement in SEED {
            server.ask(statement).await;
        }
        Some(Self { server, _engine: engine })
    }

    /// `jobs.config` of a job that uses it, for workers that start from now on.
    pub fn config(&self, world: &World) -> Value {
        world.let_rows_set(&["connections.neo4j"], &[&self.server.uri]);
        json!({"connections": {"neo4j": {"uri": self.server.uri}}})
    }

    /// The nodes that come from rows: each row's id with its `rid`.
    pub async fn integrated(&self) -> Vec<(String, String)> {
        let rows = self
            .server
            .ask(
                "MATCH (r:Requirement) WHERE r.sourceRequirementId <> 'old' \
                 RETURN r.sourceRequirementId, r.rid ORDER BY r.rid",
            )
            .await;
        let text = |value: &Value| value.as_str().expect("ids are texts").to_owned();
        rows.iter().map(|row| (text(&row[0]), text(&row[1]))).collect()
    }

    /// Asserts that exactly the integrated rows are in the graph, each once, under the number that the row says; and that
    /// numbers are used once.
    pub async fn assert_holds_the_integrated_rows(&self, pool: &PgPool) {
        let nodes = self.integrated().await;
        let by_row: BTreeMap<&String, &String> = nodes.iter().map(|(row, rid)| (row, rid)).collect();
        let numbers: BTreeMap<&String, &String> = nodes.iter().map(|(row, rid)| (rid, row)).collect();
        assert_eq!((by_row.len(), numbers.len()), (nodes.len(), nodes.len()), "a row or a number twice: {nodes:?}");
        let rows: Vec<(String, Option<String>)> =
            sqlx::query_as("SELECT id::text, graph_node_id FROM requirement_cache WHERE status = 'integrated'")
                .fetch_all(pool)
                .await
                .expect("requirement_cache can be read");
        let expected: BTreeMap<String, String> =
            rows.into_iter().map(|(id, rid)| (id, rid.expect("an integrated row names its node"))).collect();
        let found: BTreeMap<String, String> = nodes.into_iter().collect();
        assert_eq!(found, expected, "nodes and integrated rows");
    }
}

/// A policy whose requirements differ from those of another round by their numbers.
pub fn policy(sections: usize, round: usize) -> String {
    documents::policy(sections).markdown.replace("archive ", &format!("archive {round}0"))
}

/// Runs a creator without a follower on a document to its end; its requirements are pending then.
pub async fn created(world: &World, markdown: &str) -> Uuid {
    let job = world.insert(&NewJob::with_content("policy.md", markdown.as_bytes())).await;
    world.work_until_idle().await;
    world.becomes(job, "completed").await;
    job
}

/// Inserts a validator of a job's requirements.
pub async fn insert_validator(world: &World, of: Uuid, config: &Value) -> Uuid {
    sqlx::query_scalar(
        "INSERT INTO jobs (job_type, prompt, context, config)
         VALUES ('validator', 'Check and integrate', jsonb_build_object('parent_job_id', $1::uuid), $2) RETURNING id",
    )
    .bind(of)
    .bind(config)
    .fetch_one(&world.pool)
    .await
    .expect("a validator can be inserted")
}

/// `jobs.config` of a validator without a graph whose every row is judged by the model.
pub fn by_model(world: &World) -> Value {
    world.let_rows_set(&["accept_by_rule"], &[]);
    json!({"accept_by_rule": false})
}

/// How many rows of a job have which status.
pub async fn statuses(pool: &PgPool, job: Uuid) -> BTreeMap<String, i64> {
    let rows: Vec<(String, i64)> =
        sqlx::query_as("SELECT status, count(*) FROM requirement_cache WHERE job_id = $1 GROUP BY 1")
            .bind(job)
            .fetch_all(pool)
            .await
            .expect("requirement_cache can be read");
    rows.into_iter().collect()
}

/// Asserts how many rows of a job have which status; says the reasons where they have another.
pub async fn assert_statuses<const N: usize>(pool: &PgPool, job: Uuid, expected: [(&str, i64); N], what: &str) {
    let found = statuses(pool, job).await;
    let reasons: Vec<String> = sqlx::query_scalar(
        "SELECT coalesce(last_error, rejection_reason) FROM requirement_cache
         WHERE job_id = $1 AND coalesce(last_error, rejection_reason) IS NOT NULL ORDER BY created_at, id",
    )
    .bind(job)
    .fetch_all(pool)
    .await
    .expect("requirement_cache can be read");
    assert_eq!(found, all(expected), "{what}; the reasons given are {reasons:#?}");
}

/// `counted` as [`statuses`] gives them.
pub fn all<const N: usize>(counted: [(&str, i64); N]) -> BTreeMap<String, i64> {
    counted.map(|(status, count)| (status.to_owned(), count)).into()
}

/// A file of a job.
pub async fn file(pool: &PgPool, job: Uuid, path: &str) -> String {
    sqlx::query_scalar("SELECT convert_from(workspace_file($1, $2), 'UTF8')")
        .bind(job)
        .bind(path)
        .fetch_one(pool)
        .await
        .unwrap_or_else(|error| panic!("job {job} has no {path}: {error}"))
}

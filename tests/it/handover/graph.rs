//! Shared code of the validator tests: a real graph, and comparison of rows and nodes.

use crate::graph_kit::{Engine, Server};
use plumbline_system_tests::{PgPool, Uuid, World, documents, jobs::NewJob};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// A graph with earlier data: the subjects of requirements, and unrelated errors.
const SEED: [&str; 7] = [
    "CREATE (:BusinessObject {boid: 'BO-1', name: 'Archive'})",
    "CREATE (:BusinessObject {boid: 'BO-2', name: 'Record'})",
    "CREATE (:Message {mid: 'MSG-1', name: 'Register'})",
    "CREATE (:Requirement {rid: 'no number', sourceRequirementId: 'old', name: 'without a relation to anything else'})",
    "MATCH (r:Requirement {rid: 'no number'}) CREATE (r)-[:REFINES]->(r)",
    "CREATE (:Ghost {name: 'a label that nobody knows'})",
    "MATCH (o:BusinessObject {boid: 'BO-2'}) CREATE (o)-[:HAUNTS]->(o)",
];

/// The engine, and the server before it.
pub(crate) struct Graph {
    pub(crate) server: Server,
    _engine: Engine,
}

impl Graph {
    /// Starts them; none, said aloud, where no engine is installed.
    pub(crate) async fn start() -> Option<Self> {
        let engine = Engine::start().await?;
        let server = Server::over(&engine).await;
        for statement in SEED {
            server.ask(statement).await;
        }
        Some(Self { server, _engine: engine })
    }

    /// `jobs.config` of a job that uses it, for workers that start from now on.
    pub(crate) fn config(&self, world: &World) -> Value {
        world.let_rows_set(&["connections.neo4j"], &[&self.server.uri]);
        json!({"connections": {"neo4j": {"uri": self.server.uri}}})
    }

    /// The nodes that come from rows: each row's id with its `rid`.
    pub(crate) async fn integrated(&self) -> Vec<(String, String)> {
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
    pub(crate) async fn assert_holds_the_integrated_rows(&self, pool: &PgPool) {
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
pub(crate) fn policy(sections: usize, round: usize) -> String {
    documents::policy(sections).markdown.replace("archive ", &format!("archive {round}0"))
}

/// Runs a creator without a follower on a document to its end; its requirements are pending then.
pub(crate) async fn created(world: &World, markdown: &str) -> Uuid {
    let job = world.insert(&NewJob::with_content("policy.md", markdown.as_bytes())).await;
    world.work_until_idle().await;
    world.becomes(job, "completed").await;
    job
}

/// Inserts a validator of a job's requirements.
pub(crate) async fn insert_validator(world: &World, of: Uuid, config: &Value) -> Uuid {
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
pub(crate) fn by_model(world: &World) -> Value {
    world.let_rows_set(&["accept_by_rule"], &[]);
    json!({"accept_by_rule": false})
}

/// How many rows of a job have which status.
pub(crate) async fn statuses(pool: &PgPool, job: Uuid) -> BTreeMap<String, i64> {
    let rows: Vec<(String, i64)> =
        sqlx::query_as("SELECT status, count(*) FROM requirement_cache WHERE job_id = $1 GROUP BY 1")
            .bind(job)
            .fetch_all(pool)
            .await
            .expect("requirement_cache can be read");
    rows.into_iter().collect()
}

/// Asserts how many rows of a job have which status; says the reasons where they have another.
pub(crate) async fn assert_statuses<const N: usize>(pool: &PgPool, job: Uuid, expected: [(&str, i64); N], what: &str) {
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
pub(crate) fn all<const N: usize>(counted: [(&str, i64); N]) -> BTreeMap<String, i64> {
    counted.map(|(status, count)| (status.to_owned(), count)).into()
}

/// A file of a job.
pub(crate) async fn file(pool: &PgPool, job: Uuid, path: &str) -> String {
    sqlx::query_scalar("SELECT convert_from(workspace_file($1, $2), 'UTF8')")
        .bind(job)
        .bind(path)
        .fetch_one(pool)
        .await
        .unwrap_or_else(|error| panic!("job {job} has no {path}: {error}"))
}

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

//! `execute_cypher_query`: runs a query of the model, which may read, and add only if the configuration allows it.

use crate::error::{Output, ToolError, ToolResult};
use crate::graph::{Access, End, GraphClient, GraphError, Rows, Statement, check_plan, check_text};
use crate::requirements::checks::graph_error;
use crate::tool::{Declared, ToolEnv};
use plumbline_engine::{Handler, Phases, Replay};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

/// Maximum rows shown.
const MAX_ROWS: usize = 100;

/// Runs one Cypher query. It may read; where `connections.neo4j.allow_write` is set it may also MERGE, CREATE and SET single
/// properties and labels. Deleting, emptying (`SET n = {…}`, `SET n += {…}`, a value that may be null), changing the schema, loading
/// files and calling procedures are never allowed, except the db.labels, db.relationshipTypes, db.propertyKeys and db.schema
/// procedures. No comments, no `;`. Values belong into `params`. The first 100 rows are shown; a query has a minute. Requirements
/// are written by `integrate_requirement`, not by queries.
///
/// {arguments}
///
/// Example: `{"query": "MATCH (o:BusinessObject) WHERE o.name CONTAINS $part RETURN o.boid, o.name LIMIT 20", "params": {"part":
/// "invoice"}}`
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ExecuteCypherQuery {
    /// # Cypher, one statement
    /// Cypher, one statement
    #[schemars(length(min = 1, max = 20_000))]
    query: String,
    /// its parameters, an object
    #[serde(default)]
    params: Map<String, Value>,
    /// # The query is meant to add
    /// true: the query is meant to add; without it, one that would is refused
    #[serde(default)]
    allow_write: bool,
}

impl Declared for ExecuteCypherQuery {
    const NAME: &str = "execute_cypher_query";
    const PHASES: Phases = Phases::Tactical;
    const DESCRIPTION: &str = "\
        Run a Cypher query against the graph. It reads; adding needs leave in the configuration.";
    const HANDLER: Handler = Handler::External;
    const REPLAY: Replay = Replay::Unsafe;

    fn reaches_out(arguments: &Value, _: &[String]) -> bool {
        arguments["allow_write"] == true
    }

    async fn run(self, env: &ToolEnv<'_>) -> ToolResult {
        let Self { query, params, allow_write } = self;
        let client = env.ctx.graph.client()?.ok_or_else(|| {
            ToolError::refused("no graph is configured; `connections.neo4j` of the job type's configuration names one")
        })?;
        if allow_write && !client.allows_write() {
            return Err(ToolError::refused(
                "queries may not write to this graph: `connections.neo4j.allow_write` is not set; integrate_requirement \
                 writes requirements",
            ));
        }
        check_text(&query).map_err(|forbidden| ToolError::refused(forbidden.to_string()))?;
        let statement = Statement::new(query, Value::Object(params));
        let access = judged(client, &statement, allow_write).await?;
        if access == Access::Write {
            env.names.forget(&[End::Object, End::Message, End::Requirement]);
        }
        let rows = client.run(&statement, access).await.map_err(|error| match access {
            Access::Write => not_written(&error),
            Access::Read => failed(&error),
        })?;
        Ok(Output::text(table(&rows)))
    }
}

/// The access mode of the query, by the server's own plan of it. It is refused if the plan contains anything that is
/// not on a list.
async fn judged(client: &GraphClient, statement: &Statement, allow_write: bool) -> Result<Access, ToolError> {
    let plan = client.explain(statement).await.map_err(|error| failed(&error))?;
    match check_plan(&plan, allow_write, &statement.parameters) {
        Ok(true) => Ok(Access::Write),
        Ok(false) => Ok(Access::Read),
        Err(forbidden) => Err(ToolError::refused(forbidden.to_string())),
    }
}

/// The error of a query that writes. If its answer was lost, it is not repeated: a node may be created twice.
fn not_written(error: &GraphError) -> ToolError {
    let lost = match error {
        GraphError::TimedOut { place, limit_s } => format!("the graph at {place} did not answer within {limit_s} s"),
        GraphError::Unreachable { .. } => error.to_string(),
        error => return failed(error),
    };
    ToolError::refused(format!(
        "{lost}; whether the query was carried out is unknown: read what the graph has before you write it again"
    ))
}

fn failed(error: &GraphError) -> ToolError {
    match error.is_too_slow() {
        // This query itself is too slow.
        true => ToolError::refused(error.to_string()),
        false => graph_error(error),
    }
}

/// One JSON object per row.
fn table(rows: &Rows) -> String {
    if rows.values.is_empty() {
        return "no rows".to_string();
    }
    let line = |row: &Vec<Value>| {
        let members: Map<String, Value> = rows.fields.iter().cloned().zip(row.iter().cloned()).collect();
        Value::Object(members).to_string()
    };
    let mut lines: Vec<String> = rows.values.iter().take(MAX_ROWS).map(line).collect();
    if rows.values.len() > MAX_ROWS {
        lines.push(format!("… {} rows in all; ask for fewer with LIMIT and SKIP", rows.values.len()));
    }
    lines.join("\n")
}

//! `execute_cypher_query`: a query of the model's own, which reads, and adds only where the configuration allows it.

use crate::arguments::decode;
use crate::error::{Output, ToolError, ToolResult};
use crate::graph::{Access, End, GraphClient, GraphError, Rows, Statement, check_plan, check_text};
use crate::requirements::checks::graph_error;
use crate::tool::Tool;
use crate::tool::ToolEnv;
use plumbline_engine::{Handler, Phases, Replay, ToolSpec};
use serde::Deserialize;
use serde_json::{Map, Value, json};

pub(crate) const TOOL: Tool =
    Tool { spec, schema, timeout_factor: 1, run: |env, arguments| Box::pin(run(env, arguments)) };

/// Rows that are shown.
const MAX_ROWS: usize = 100;

fn spec() -> ToolSpec {
    ToolSpec {
        name: "execute_cypher_query",
        phases: Phases::Tactical,
        description: "Run a Cypher query against the graph. It reads; adding needs leave in the configuration.".into(),
        parameters: schema().into(),
        documentation: DOCUMENTATION.into(),
        handler: Handler::External,
        // An addition that was in flight may have happened: MERGE is safe to repeat, CREATE is not.
        replay: Replay::Unsafe,
        reads_only: false,
    }
}

const DOCUMENTATION: &str = "\
# execute_cypher_query

Runs one Cypher query. It may read; where `connections.neo4j.allow_write` is set it may also MERGE, CREATE and SET single
properties and labels. Deleting, emptying (`SET n = {…}`, `SET n += {…}`, a value that may be null), changing the schema, loading
files and calling procedures are never allowed, except the db.labels, db.relationshipTypes, db.propertyKeys and db.schema
procedures. No comments, no `;`. Values belong into `params`. The first 100 rows are shown; a query has a minute. Requirements
are written by `integrate_requirement`, not by queries.

| argument | meaning |
|---|---|
| `query` | Cypher, one statement |
| `params` | its parameters, an object |
| `allow_write` | true: the query is meant to add; without it, one that would is refused |

Example: `{\"query\": \"MATCH (o:BusinessObject) WHERE o.name CONTAINS $part RETURN o.boid, o.name LIMIT 20\", \"params\": {\"part\":
\"invoice\"}}`
";

fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "query": {"type": "string", "minLength": 1, "maxLength": 20_000, "description": "Cypher, one statement"},
            "params": {"type": "object"},
            "allow_write": {"type": "boolean", "description": "The query is meant to add"}
        },
        "required": ["query"],
        "additionalProperties": false
    })
}

#[derive(Deserialize)]
struct Arguments {
    query: String,
    #[serde(default)]
    params: Map<String, Value>,
    #[serde(default)]
    allow_write: bool,
}

async fn run(env: &ToolEnv<'_>, arguments: Value) -> ToolResult {
    let Arguments { query, params, allow_write } = decode(arguments)?;
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
    let rows = client.run(&statement, access).await.map_err(|error| failed(&error))?;
    Ok(Output::text(table(&rows)))
}

/// What the query is run for, by the server's own plan of it. It is refused by what the plan has that is not on a list.
async fn judged(client: &GraphClient, statement: &Statement, allow_write: bool) -> Result<Access, ToolError> {
    let plan = client.explain(statement).await.map_err(|error| failed(&error))?;
    match check_plan(&plan, allow_write, &statement.parameters) {
        Ok(true) => Ok(Access::Write),
        Ok(false) => Ok(Access::Read),
        Err(forbidden) => Err(ToolError::refused(forbidden.to_string())),
    }
}

fn failed(error: &GraphError) -> ToolError {
    match error.is_too_slow() {
        // It is this query that takes so long.
        true => ToolError::refused(error.to_string()),
        false => graph_error(error),
    }
}

/// One JSON object a row.
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

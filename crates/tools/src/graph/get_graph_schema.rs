//! `get_graph_schema`: the content of the graph, and what integration may add.

use crate::error::{Output, ToolResult};
use crate::graph::{Access, End, GraphClient, GraphError, RELATIONS, Statement};
use crate::requirements::checks::graph_error;
use crate::tool::{Declared, ToolEnv};
use plumbline_engine::{Handler, Phases};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use std::fmt::Write as _;

/// Maximum labels or relation types listed.
const MAX_LISTED: usize = 60;
const LABELS: &str = "MATCH (n) UNWIND labels(n) AS label RETURN label, count(*) AS nodes ORDER BY nodes DESC, label";
const TYPES: &str = "MATCH ()-[r]->() RETURN type(r) AS type, count(*) AS relations ORDER BY relations DESC, type";

/// Shows which labels and relation types the graph has, with counts, and which relations `integrate_requirement` may add.
/// Without a configured graph it says so and shows the latter only. It takes no arguments.
///
/// Example: `{}`
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct GetGraphSchema {}

impl Declared for GetGraphSchema {
    const NAME: &str = "get_graph_schema";
    const PHASES: Phases = Phases::Tactical;
    const DESCRIPTION: &str = "\
        Show the graph's labels and relation types with their counts, and the relations a requirement may \
        have.";
    const HANDLER: Handler = Handler::External;
    const READS_ONLY: bool = true;

    async fn run(self, env: &ToolEnv<'_>) -> ToolResult {
        let mut text = match env.ctx.graph.client()? {
            None => "No graph is configured: integration is switched off.\n".to_string(),
            Some(client) => present(client).await.map_err(|error| graph_error(&error))?,
        };
        text.push_str("\nWhat a requirement may be related to:\n");
        for kind in RELATIONS {
            let (name, end) = (kind.name, kind.end);
            // Writing to a String cannot fail.
            let _ = writeln!(text, "- {name} → {} ({}): {}", end.label(), end.id(), kind.meaning);
        }
        Ok(Output::text(text))
    }
}

async fn present(client: &GraphClient) -> Result<String, GraphError> {
    client.constrain().await?;
    let mut text = format!("The graph at {}.\n", client.place());
    for (title, statement) in [("Labels", LABELS), ("Relation types", TYPES)] {
        let rows = client.run(&Statement::new(statement, json!({})), Access::Read).await?;
        let _ = writeln!(text, "\n{title}:");
        for row in rows.values.iter().take(MAX_LISTED) {
            let name = row.first().and_then(Value::as_str).unwrap_or_default();
            let count = row.get(1).and_then(Value::as_i64).unwrap_or_default();
            let _ = writeln!(text, "- {name}: {count}");
        }
        match rows.values.len() {
            0 => text.push_str("- none\n"),
            all if all > MAX_LISTED => {
                let _ = writeln!(text, "- and {} more", all - MAX_LISTED);
            }
            _ => {}
        }
    }
    for end in [End::Object, End::Message] {
        let _ = writeln!(text, "\n{} nodes have {}, name and description.", end.label(), end.id());
    }
    Ok(text)
}

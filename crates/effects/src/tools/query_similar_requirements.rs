//! `query_similar_requirements`: what is like a requirement, among this job's and the integrated ones.

use super::arguments::decode;
use super::error::{Output, ToolResult};
use super::registry::Tool;
use super::toolbox::Bench;
use super::validation::duplicates::compare;
use super::validation::hand_over;
use crate::similarity::{DUPLICATE, SIMILAR};
use plumbline_engine::{Handler, Phases, Replay, ToolSpec};
use serde::Deserialize;
use serde_json::{Value, json};

pub(super) const TOOL: Tool =
    Tool { spec, schema, reads_only: true, patience: 1, run: |bench, arguments| Box::pin(run(bench, arguments)) };

fn spec() -> ToolSpec {
    ToolSpec {
        name: "query_similar_requirements",
        phases: Phases::Tactical,
        description: "Find recorded requirements like a text: this job's and integrated ones, with their similarity."
            .into(),
        parameters: schema(),
        documentation: DOCUMENTATION.into(),
        handler: Handler::Local,
        replay: Replay::Safe,
    }
}

const DOCUMENTATION: &str = "\
# query_similar_requirements

Compares a text with the requirements recorded by this job and with integrated ones of all jobs. From a similarity of 0.95 on
they are duplicates, from 0.7 on they are reported; texts that differ in a number or a negation are never duplicates. What was
recorded in this same answer is not among them yet.

| argument | meaning |
|---|---|
| `text` | the words to compare |
| `limit` | how many at most, 1 to 5 (default 5) |

Example: `{\"text\": \"Invoices must be kept for ten years.\", \"limit\": 3}`
";

fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "text": {"type": "string", "minLength": 3, "maxLength": 10_000, "description": "The words to compare"},
            "limit": {"type": "integer", "minimum": 1, "maximum": 5}
        },
        "required": ["text"],
        "additionalProperties": false
    })
}

#[derive(Deserialize)]
struct Arguments {
    text: String,
    limit: Option<usize>,
}

async fn run(bench: &Bench<'_>, arguments: Value) -> ToolResult {
    let Arguments { text, limit } = decode(arguments)?;
    let known = hand_over(bench)?.similar(bench.ctx.job_id, &text, None).await?;
    let like = compare(&text, known).await;
    if like.is_empty() {
        return Ok(Output::text(format!("nothing recorded or integrated is like it (similarity {SIMILAR} or more)")));
    }
    let lines: Vec<String> = like
        .iter()
        .take(limit.unwrap_or(usize::MAX))
        .map(|likeness| {
            let same = if likeness.similarity >= DUPLICATE { ", a duplicate" } else { "" };
            let (title, status) = (likeness.title(), &likeness.known.status);
            format!("{:.2}{same}: {title} ({status}): {}", likeness.similarity, likeness.known.text)
        })
        .collect();
    Ok(Output::text(lines.join("\n")))
}

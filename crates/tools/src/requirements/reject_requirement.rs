//! `reject_requirement`: a claimed requirement that is none, with the reason.

use crate::arguments::decode;
use crate::error::{Output, ToolResult};
use crate::requirements::checks::claimed_rows::Checked;
use crate::requirements::checks::name_cache::GraphNames;
use crate::requirements::checks::relevance::Known;
use crate::requirements::checks::{fulfilment, held, word};
use crate::requirements::checks::{result, result::Assessed};
use crate::requirements::validation_queue::HeldRequirement;
use crate::tool::Tool;
use crate::tool::ToolEnv;
use plumbline_engine::{Handler, Judgement, Phases, Product, Replay, ToolSpec, Verdict};
use serde::Deserialize;
use serde_json::{Value, json};

pub(crate) const TOOL: Tool =
    Tool { spec, schema, timeout_factor: 1, run: |env, arguments| Box::pin(run(env, arguments)) };

fn spec() -> ToolSpec {
    ToolSpec {
        name: "reject_requirement",
        phases: Phases::Tactical,
        description: "Mark a claimed requirement as rejected, with the reason, or as failed where it cannot be judged."
            .into(),
        parameters: schema().into(),
        documentation: DOCUMENTATION.into(),
        handler: Handler::Local,
        replay: Replay::Safe,
        reads_only: false,
    }
}

const DOCUMENTATION: &str = "\
# reject_requirement

Marks a requirement that `next_requirement` gave as rejected. The reason is kept with the row, and so are the checks.
Faults that the checks found must be rejected; beyond them, reject what binds nobody, is no requirement, or contradicts its
quote.

| argument | meaning |
|---|---|
| `id` | the requirement's id |
| `reason` | why, one sentence for the person who reads the row |
| `failed` | true: it could not be judged, which is not its fault; counted as an error and not as a rejection |
| `notes` | what else was found, kept in the row's validation_result |

Example: `{\"id\": \"0199…\", \"reason\": \"It repeats R-0007 in other words.\"}`
";

fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "id": {"type": "string", "description": "The requirement's id"},
            "reason": {"type": "string", "minLength": 3, "maxLength": 2_000, "description": "Why, one sentence"},
            "failed": {"type": "boolean"},
            "notes": {"type": "string", "maxLength": 10_000}
        },
        "required": ["id", "reason"],
        "additionalProperties": false
    })
}

#[derive(Deserialize)]
struct Arguments {
    id: String,
    reason: String,
    #[serde(default)]
    failed: bool,
    notes: Option<String>,
}

async fn run(env: &ToolEnv<'_>, arguments: Value) -> ToolResult {
    let Arguments { id, reason, failed, notes } = decode(arguments)?;
    let checked = held(env, &id).await?;
    let Checked { row, findings } = &*checked;
    let verdict = if failed { Verdict::Failed } else { Verdict::Rejected };
    let assessed = Assessed {
        row,
        findings,
        known: known(env, row).await,
        links: &[],
        compliance_status: fulfilment::status(&[]),
        warnings: Vec::new(),
        integration: "none",
        notes,
    };
    let validation_result = result::of(env.ctx.job_id, &assessed);
    let content = format!("{} {id}: {reason}", word(verdict));
    let judgement = Judgement { id: row.id, verdict, reason: Some(reason), graph_node_id: None, validation_result };
    Ok(Output::with(content, Product::JudgeRequirement(Box::new(judgement))))
}

/// What the graph knows of the row, if it can be asked now: a rejection needs no graph and does not wait for one.
async fn known(env: &ToolEnv<'_>, row: &HeldRequirement) -> Option<Known> {
    let client = env.ctx.graph.client().ok().flatten()?;
    let names = GraphNames::load(env.names, client).await.ok()?;
    Some(names.of(row).await.ok()?.known)
}

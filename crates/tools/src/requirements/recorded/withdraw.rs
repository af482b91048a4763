//! `withdraw_requirement`: a record that should not have been made.

use super::pending;
use crate::arguments::decode;
use crate::error::{Output, ToolResult};
use crate::tool::Tool;
use crate::tool::ToolEnv;
use plumbline_engine::{Handler, Phases, Product, Replay, RequirementChange, ToolSpec};
use serde::Deserialize;
use serde_json::{Map, Value, json};

pub(crate) const TOOL: Tool =
    Tool { spec, schema, timeout_factor: 1, run: |env, arguments| Box::pin(run(env, arguments)) };

fn spec() -> ToolSpec {
    ToolSpec {
        name: "withdraw_requirement",
        phases: Phases::Tactical,
        description: "Take back a requirement that this job recorded, with the reason, while it is pending.".into(),
        parameters: schema().into(),
        documentation: DOCUMENTATION.into(),
        handler: Handler::Local,
        replay: Replay::Safe,
        reads_only: false,
    }
}

const DOCUMENTATION: &str = "\
# withdraw_requirement

Takes back a requirement that this job recorded: a duplicate of another, a definition, something that obliges nobody. Its row
stays, as `withdrawn` and with the reason; no validator gets it, and no list that the system writes names it. Only while it
is `pending`. The same text may be recorded anew.

| argument | meaning |
|---|---|
| `id` | its id, `req_…`, as add_requirement and list_requirements give it |
| `reason` | why, one sentence |

Example: `{\"id\": \"req_1a2b3c4d5e6f\", \"reason\": \"says the same as req_0f1e2d3c4b5a, from the summary on page 2\"}`
";

fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "id": {"type": "string", "minLength": 1, "maxLength": 100, "description": "Its id, req_…"},
            "reason": {"type": "string", "minLength": 3, "maxLength": 2000, "description": "Why, one sentence"}
        },
        "required": ["id", "reason"],
        "additionalProperties": false
    })
}

#[derive(Deserialize)]
struct Arguments {
    id: String,
    reason: String,
}

async fn run(env: &ToolEnv<'_>, arguments: Value) -> ToolResult {
    let Arguments { id, reason } = decode(arguments)?;
    let former = pending(env, &id).await?;
    let content = format!("withdrawn {}: {}", former.candidate_id, former.name);
    let change = RequirementChange { candidate_id: former.candidate_id, reason, becomes: None, fields: Map::new() };
    Ok(Output { content, products: vec![Product::ChangeRequirement(Box::new(change))] })
}

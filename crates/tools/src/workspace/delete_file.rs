//! `delete_file`: one file.

use super::path;
use crate::arguments::decode;
use crate::error::{Output, ToolResult};
use crate::tool::Tool;
use crate::tool::ToolEnv;
use plumbline_engine::{Handler, Phases, Product, Replay, ToolSpec};
use serde::Deserialize;
use serde_json::{Value, json};

pub(crate) const TOOL: Tool =
    Tool { spec, schema, timeout_factor: 1, run: |env, arguments| Box::pin(run(env, arguments)) };

fn spec() -> ToolSpec {
    ToolSpec {
        name: "delete_file",
        phases: Phases::Both,
        description: "Delete one file of the workspace.".into(),
        parameters: schema().into(),
        documentation: DOCUMENTATION.into(),
        handler: Handler::Local,
        replay: Replay::Safe,
        reads_only: false,
    }
}

const DOCUMENTATION: &str = "\
# delete_file

Deletes one file of the workspace. A folder is gone when its last file is. Files that `write_file` may not write are
not deleted either.

| argument | meaning |
|---|---|
| `path` | the file, relative to the workspace |

Example: `{\"path\": \"output/draft.md\"}`
";

fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {"path": {"type": "string", "description": "Workspace path of the file"}},
        "required": ["path"],
        "additionalProperties": false
    })
}

#[derive(Deserialize)]
struct Arguments {
    path: String,
}

async fn run(env: &ToolEnv<'_>, arguments: Value) -> ToolResult {
    let Arguments { path } = decode(arguments)?;
    let path = path::file(&path)?;
    path::check_writable(&path, env.overlay, env.ctx)?;
    if env.overlay.size(&path).is_none() {
        return Err(path::not_found(&path, env.overlay));
    }
    Ok(Output::with(format!("deleted {path}"), Product::DeleteFile { path }))
}

//! `create_folder`: a courtesy. The workspace is rows of files, and a folder is what their paths have in common; there
//! is nothing to create, and a model that asks for it deserves to hear that it may go on.

use super::path;
use crate::arguments::decode;
use crate::error::{Output, ToolError, ToolResult};
use crate::tool::Tool;
use crate::tool::ToolEnv;
use plumbline_engine::{Handler, Phases, Replay, ToolSpec};
use serde::Deserialize;
use serde_json::{Value, json};

pub(crate) const TOOL: Tool =
    Tool { spec, schema, timeout_factor: 1, run: |env, arguments| Box::pin(run(env, arguments)) };

fn spec() -> ToolSpec {
    ToolSpec {
        name: "create_folder",
        phases: Phases::Both,
        description: "Prepare a folder of the workspace. Not needed before writing: folders come with their files."
            .into(),
        parameters: schema().into(),
        documentation: DOCUMENTATION.into(),
        handler: Handler::Local,
        replay: Replay::Safe,
        reads_only: true,
    }
}

const DOCUMENTATION: &str = "\
# create_folder

Checks that a folder may hold files. Folders come into being with their first file, so this call is never needed
before `write_file`.

| argument | meaning |
|---|---|
| `path` | the folder, relative to the workspace |

Example: `{\"path\": \"output/parts\"}`
";

fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {"path": {"type": "string", "description": "Folder, e.g. output/parts"}},
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
    let folder = path::folder(&path)?;
    if folder.is_empty() || env.overlay.is_folder(&folder) {
        return Ok(Output::text(format!("{folder}/ is there already")));
    }
    if env.overlay.size(&folder).is_some() {
        return Err(ToolError::refused(format!("`{folder}` is a file; choose another name for the folder")));
    }
    path::check_writable(&format!("{folder}/file"), env.overlay, env.ctx)?;
    Ok(Output::text(format!("{folder}/ is ready; it appears with its first file")))
}

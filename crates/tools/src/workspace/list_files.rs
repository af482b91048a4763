//! `list_files`: paths and sizes.

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

/// Most files listed in one answer.
const MAX_LISTED: usize = 500;

fn spec() -> ToolSpec {
    ToolSpec {
        name: "list_files",
        phases: Phases::Both,
        description: "List the files of the workspace, or of one folder and all beneath it, with their sizes in bytes."
            .into(),
        parameters: schema().into(),
        documentation: DOCUMENTATION.into(),
        handler: Handler::Local,
        replay: Replay::Safe,
        reads_only: true,
    }
}

const DOCUMENTATION: &str = "\
# list_files

Lists files, one a line, as `path  size in bytes`, sorted by path, folders beneath included.

| argument | meaning |
|---|---|
| `path` | a folder, e.g. `output`; left out: the whole workspace |

At most 500 files are listed; the last line says how many are not.

Example: `{\"path\": \"chunks\"}`
";

fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "path": {"type": "string", "description": "Folder, e.g. output (default: the whole workspace)"}
        },
        "additionalProperties": false
    })
}

#[derive(Deserialize)]
struct Arguments {
    #[serde(default)]
    path: String,
}

async fn run(env: &ToolEnv<'_>, arguments: Value) -> ToolResult {
    let Arguments { path } = decode(arguments)?;
    let folder = path::folder(if path.trim() == "." { "" } else { &path })?;
    if let Some(size) = env.overlay.size(&folder) {
        return Ok(Output::text(format!("{folder}  {size}")));
    }
    let files = env.overlay.list(&folder);
    if files.is_empty() {
        return nothing_in(env, &folder);
    }
    let mut out: Vec<String> = files.iter().take(MAX_LISTED).map(|(path, size)| format!("{path}  {size}")).collect();
    if files.len() > MAX_LISTED {
        out.push(format!("({} more files are not listed; give a folder)", files.len() - MAX_LISTED));
    }
    Ok(Output::text(out.join("\n")))
}

/// A folder is what its files make it, so an empty one and a missing one are the same; a slip of the pen is neither.
fn nothing_in(env: &ToolEnv<'_>, folder: &str) -> ToolResult {
    let name = if folder.is_empty() { "the workspace" } else { folder };
    let near = env.overlay.similar(folder);
    match near.first() {
        Some(file) if !folder.is_empty() => {
            Err(ToolError::refused(format!("there are no files in `{folder}`; similar: {file}")))
        }
        _ => Ok(Output::text(format!("(no files in {name})"))),
    }
}

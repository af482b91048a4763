//! `list_files`: paths and sizes.

use super::path;
use crate::error::{Output, ToolError, ToolResult};
use crate::tool::{Declared, ToolEnv};
use plumbline_engine::Phases;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

/// Maximum files listed in one answer.
const MAX_LISTED: usize = 500;

/// Lists files, one a line, as `path  size in bytes`, sorted by path, folders beneath included.
///
/// {arguments}
///
/// At most 500 files are listed; the last line says how many are not.
///
/// Example: `{"path": "chunks"}`
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ListFiles {
    /// # Folder, e.g. output (default: the whole workspace)
    /// a folder, e.g. `output`; left out: the whole workspace
    #[serde(default)]
    path: String,
}

impl Declared for ListFiles {
    const NAME: &str = "list_files";
    const PHASES: Phases = Phases::Both;
    const DESCRIPTION: &str = "\
        List the files of the workspace, or of one folder and all beneath it, with their sizes in bytes.";
    const READS_ONLY: bool = true;

    fn shows_untrusted(_: &Value, _: &ToolEnv<'_>) -> bool {
        false
    }

    async fn run(self, env: &ToolEnv<'_>) -> ToolResult {
        let Self { path } = self;
        let folder = path::folder(if path.trim() == "." { "" } else { &path })?;
        if let Some(size) = env.overlay.size(&folder) {
            return Ok(Output::text(format!("{folder}  {size}")));
        }
        let files = env.overlay.list(&folder);
        if files.is_empty() {
            return nothing_in(env, &folder);
        }
        let mut out: Vec<String> =
            files.iter().take(MAX_LISTED).map(|(path, size)| format!("{path}  {size}")).collect();
        if files.len() > MAX_LISTED {
            out.push(format!("({} more files are not listed; give a folder)", files.len() - MAX_LISTED));
        }
        Ok(Output::text(out.join("\n")))
    }
}

/// A folder exists only through its files, so an empty one and a missing one are the same; a mistyped path gets
/// suggestions.
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

//! `create_folder`: does nothing. The workspace consists of files, and folders exist only as prefixes of their paths;
//! the result tells the model that it can continue.

use super::path;
use crate::error::{Output, ToolError, ToolResult};
use crate::tool::{Declared, ToolEnv};
use plumbline_engine::Phases;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

/// Checks that a folder may hold files. Folders come into being with their first file, so this call is never needed
/// before `write_file`.
///
/// {arguments}
///
/// Example: `{"path": "output/parts"}`
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CreateFolder {
    /// # Folder, e.g. output/parts
    /// the folder, relative to the workspace
    path: String,
}

impl Declared for CreateFolder {
    const NAME: &str = "create_folder";
    const PHASES: Phases = Phases::Both;
    const DESCRIPTION: &str = "\
        Prepare a folder of the workspace. Not needed before writing: folders come with their files.";
    const READS_ONLY: bool = true;

    fn shows_untrusted(_: &Value, _: &ToolEnv<'_>) -> bool {
        false
    }

    async fn run(self, env: &ToolEnv<'_>) -> ToolResult {
        let Self { path } = self;
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
}

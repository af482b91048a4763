//! `delete_file`: one file.

use super::path;
use crate::error::{Output, ToolResult};
use crate::tool::{Declared, ToolEnv};
use plumbline_engine::{Phases, Product};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

/// Deletes one file of the workspace. A folder is gone when its last file is. Files that `write_file` may not write are
/// not deleted either.
///
/// {arguments}
///
/// Example: `{"path": "output/draft.md"}`
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct DeleteFile {
    /// # Workspace path of the file
    /// the file, relative to the workspace
    path: String,
}

impl Declared for DeleteFile {
    const NAME: &str = "delete_file";
    const PHASES: Phases = Phases::Both;
    const DESCRIPTION: &str = "Delete one file of the workspace.";

    fn shows_untrusted(_: &Value, _: &ToolEnv<'_>) -> bool {
        false
    }

    async fn run(self, env: &ToolEnv<'_>) -> ToolResult {
        let Self { path } = self;
        let path = path::file(&path)?;
        path::check_writable(&path, env.overlay, env.ctx)?;
        if env.overlay.size(&path).is_none() {
            return Err(path::not_found(&path, env.overlay));
        }
        Ok(Output::with(format!("deleted {path}"), Product::DeleteFile { path }))
    }
}

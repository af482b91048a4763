//! `write_file`: writes a whole file, or appends text to it.

use super::path;
use crate::error::{Output, ToolError, ToolResult};
use crate::tool::{Declared, ToolEnv};
use plumbline_engine::{FileWrite, Phases, Product, plan};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

/// Maximum size of a file that a tool writes, in bytes.
pub(crate) const MAX_FILE_BYTES: usize = 8 * 1024 * 1024;

/// Writes a text file of the workspace. Folders come into being with their files.
///
/// {arguments}
///
/// The result is a short confirmation, never the content. To change a part of a file, use `edit_file`. A long file is
/// written in several calls with `append`, each well below the answer limit. `input/`, `archive/`, `tools/`,
/// `instructions.md`, `todos.yaml`, `progress.md`, `workspace_summary.md`, `error.md` and the extracted texts of documents
/// are not written with this tool, nor are the lists that the system makes of recorded requirements (`output/requirements.*`,
/// `requirements/`). `main_plan.md` is written in strategic phases only; the result says which phases were read of it.
///
/// Example: `{"path": "candidates/phase_2.md", "content": "- req_1 (page 3)\n", "append": true}`
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct WriteFile {
    /// # Workspace path, e.g. output/report.md
    /// the file, relative to the workspace, e.g. `output/report.md`
    path: String,
    /// # The text
    /// its text
    content: String,
    /// # Add at the end instead of replacing (default false)
    /// `true` adds the text at the file's end, on a line of its own; the default replaces the file
    #[serde(default)]
    append: bool,
}

impl Declared for WriteFile {
    const NAME: &str = "write_file";
    const PHASES: Phases = Phases::Both;
    const DESCRIPTION: &str = "Write a text file of the workspace, replacing it, or add text at its end with append.";

    fn shows_untrusted(_: &Value, _: &ToolEnv<'_>) -> bool {
        false
    }

    async fn run(self, env: &ToolEnv<'_>) -> ToolResult {
        let Self { path, content, append } = self;
        let path = path::file(&path)?;
        path::check_writable(&path, env.overlay, env.ctx)?;
        if append { append_to(env, path, content).await } else { replace(env, path, content) }
    }
}

fn replace(env: &ToolEnv<'_>, path: String, content: String) -> ToolResult {
    check_size(&path, content.len() as u64)?;
    let verb = if env.overlay.size(&path).is_some() { "replaced" } else { "wrote" };
    let done = format!("{verb} {path}: {}, {} bytes{}", lines(&content), content.len(), reading(&path, &content));
    Ok(Output::with(done, Product::WriteFile(FileWrite::text(path, content))))
}

async fn append_to(env: &ToolEnv<'_>, path: String, content: String) -> ToolResult {
    let before = env.overlay.size(&path).unwrap_or(0);
    check_size(&path, before + content.len() as u64 + 1)?;
    let known = if before > 0 { env.overlay.read(&path).await?.unwrap_or_default() } else { Vec::new() };
    // Without this, text after an unfinished line would silently become part of it.
    let unfinished = !known.is_empty() && !known.ends_with(b"\n");
    let text = if unfinished { format!("\n{content}") } else { content };
    let read = match path == plan::PATH {
        true => reading(&path, &format!("{}{text}", String::from_utf8_lossy(&known))),
        false => String::new(),
    };
    let done = format!("added {} to {path}, now {} bytes{read}", lines(&text), before + text.len() as u64);
    Ok(Output::with(done, Product::AppendFile { path, text }))
}

/// How the plan is parsed, if the written file is the plan.
pub(crate) fn reading(path: &str, text: &str) -> String {
    match (path == plan::PATH).then(|| plan::reading(text)) {
        None => String::new(),
        Some(Some(phases)) => format!("; it is read as a plan with {phases}"),
        Some(None) => format!(". {}", plan::NO_PHASES),
    }
}

/// Refuses a file larger than the maximum.
pub(crate) fn check_size(path: &str, bytes: u64) -> Result<(), ToolError> {
    if bytes <= MAX_FILE_BYTES as u64 {
        return Ok(());
    }
    let mib = MAX_FILE_BYTES / (1024 * 1024);
    Err(ToolError::refused(format!(
        "`{path}` would have {bytes} bytes, more than {mib} MiB; split it into several files"
    )))
}

fn lines(text: &str) -> String {
    match text.lines().count() {
        1 => "1 line".to_string(),
        n => format!("{n} lines"),
    }
}

//! `edit_file`: replaces one passage of a file. Reads, changes and writes in one call, so that no edit uses a stale
//! copy.

use super::path;
use super::read_file::text_of;
use super::write_file::{check_size, reading};
use crate::error::{Output, ToolError, ToolResult};
use crate::tool::{Declared, ToolEnv};
use crate::workspace::untrusted::is_untrusted;
use plumbline_bounds::Cancellation;
use plumbline_engine::{FileWrite, Phases, Product, one_line};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

/// Maximum places listed for a passage that is not unique.
const MAX_PLACES: usize = 5;

/// Replaces one passage of a text file.
///
/// {arguments}
///
/// If the passage occurs several times, give more of the text around it. Files that `write_file` may not write are not
/// edited either.
///
/// Example: `{"path": "main_plan.md", "old": "- [ ] Extract", "new": "- [x] Extract"}`
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct EditFile {
    /// # Workspace path
    /// the file, relative to the workspace
    path: String,
    /// # The passage to replace, exactly as it stands
    /// the passage as it stands in the file, character for character, line ends included; it must occur exactly once
    #[schemars(length(min = 1))]
    old: String,
    /// # What takes its place
    /// what takes its place; empty deletes the passage
    new: String,
}

impl Declared for EditFile {
    const NAME: &str = "edit_file";
    const PHASES: Phases = Phases::Both;
    const DESCRIPTION: &str = "Replace one exact passage of a text file. The passage must occur exactly once.";

    fn shows_untrusted(arguments: &Value, env: &ToolEnv<'_>) -> bool {
        is_untrusted(arguments, env)
    }

    async fn run(self, env: &ToolEnv<'_>) -> ToolResult {
        let Self { path, old, new } = self;
        let path = path::file(&path)?;
        path::check_writable(&path, env.overlay, env.ctx)?;
        if old == new {
            return Err(ToolError::refused("`old` and `new` are the same; nothing to change"));
        }
        let text = text_of(env, &path).await?;
        // A text of some MiB with a passage that nearly matches everywhere takes long to search.
        let edit = Edit { path, text, old, new };
        crate::run_blocking(move |cancellation| edit.make(cancellation)).await
    }
}

struct Edit {
    path: String,
    text: String,
    old: String,
    new: String,
}

impl Edit {
    fn make(self, cancellation: &Cancellation) -> ToolResult {
        let mut places = self.text.match_indices(&self.old).map(|(at, _)| at);
        let first: Vec<usize> = places.by_ref().take(MAX_PLACES + 1).collect();
        let [at] = first[..] else {
            let more = places.take_while(|_| !cancellation.is_cancelled()).count();
            return Err(self.not_once(&first, first.len() + more));
        };
        let Self { path, text, old, new } = self;
        let edited = format!("{}{new}{}", &text[..at], &text[at + old.len()..]);
        check_size(&path, edited.len() as u64)?;
        let read = reading(&path, &edited);
        let done = format!("edited {path} at line {}, now {} bytes{read}", line_of(&text, at), edited.len());
        Ok(Output::with(done, Product::WriteFile(FileWrite::text(path, edited))))
    }

    /// The refusal; `first` are the first places of the passage, `total` is their number.
    fn not_once(&self, first: &[usize], total: usize) -> ToolError {
        let Self { path, text, old, .. } = self;
        if first.is_empty() {
            let hint = match one_line(text).contains(&one_line(old)) {
                true => "it occurs with other white space or line ends; copy it exactly as read_file shows it",
                false => "read the file and copy the passage exactly",
            };
            return ToolError::refused(format!("`old` does not occur in `{path}` (0 matches); {hint}"));
        }
        let lines: Vec<String> = first.iter().take(MAX_PLACES).map(|at| line_of(text, *at).to_string()).collect();
        let more = if total > MAX_PLACES { " and more" } else { "" };
        ToolError::refused(format!(
            "`old` occurs {total} times in `{path}` (lines {}{more}); give more of the text around the one that is meant",
            lines.join(", ")
        ))
    }
}

fn line_of(text: &str, at: usize) -> usize {
    text[..at].matches('\n').count() + 1
}

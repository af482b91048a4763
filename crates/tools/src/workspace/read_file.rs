//! `read_file`: returns the text of a file, or some of its lines.
//!
//! The size is checked first: for a file that is too large, the result lists ranges of lines that fit, and no result
//! suggests reading the whole file.

use super::path;
use crate::error::{Output, ToolError, ToolResult};
use crate::tool::{Declared, ToolEnv};
use crate::workspace::untrusted::is_untrusted;
use plumbline_documents::passages::numbered;
use plumbline_engine::Phases;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

/// Maximum size of a file that is read, in bytes.
const MAX_READ_BYTES: u64 = 16 * 1024 * 1024;
/// Slack in tokens for a longer header of another part of the same file.
const HEADER_SLACK_TOKENS: u32 = 8;
/// Maximum ranges offered for a file that is too large.
const MAX_RANGES: usize = 8;

/// A whole file, as the tool shows it.
pub(crate) async fn whole(env: &ToolEnv<'_>, path: &str) -> ToolResult {
    lines(env, ReadFile { path: path.to_owned(), offset: 0, limit: None }).await
}

/// Reads a text file of the workspace.
///
/// {arguments}
///
/// The first line of the result says what it shows, e.g. `[output/report.md: lines 1-40 of 120]`; the text follows
/// unchanged. A file, or a range, that is larger than one result may be is refused with the ranges of lines that fit: ask
/// for those you need. A chunk of a document is shown with a number before each sentence, `[3] `, by which `cite` and
/// `add_requirement` take it; the file has none. PDF, DOCX and other binary files are not read: extract their text first.
///
/// Example: `{"path": "chunks/policy.md", "offset": 200, "limit": 150}`
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReadFile {
    /// # Workspace path, e.g. chunks/chunk_001.md
    /// the file, relative to the workspace, e.g. `chunks/chunk_001.md`
    path: String,
    /// # First line, counted from 1 (default 1)
    /// first line to read, counted from 1 (default 1)
    #[schemars(range(min = 0))]
    #[serde(default)]
    offset: usize,
    /// # Number of lines (default: all that follow)
    /// number of lines (default: all that follow)
    #[schemars(range(min = 1))]
    limit: Option<usize>,
}

impl Declared for ReadFile {
    const NAME: &str = "read_file";
    const PHASES: Phases = Phases::Both;
    const DESCRIPTION: &str = "\
        Read a text file of the workspace, whole or by lines. Large files are read in parts with offset \
        and limit.";
    const READS_ONLY: bool = true;

    fn shows_untrusted(arguments: &Value, env: &ToolEnv<'_>) -> bool {
        is_untrusted(arguments, env)
    }

    async fn run(self, env: &ToolEnv<'_>) -> ToolResult {
        lines(env, self).await
    }
}

async fn lines(env: &ToolEnv<'_>, ReadFile { path, offset, limit }: ReadFile) -> ToolResult {
    let path = path::file(&path)?;
    let text = shown(env, &path, text_of(env, &path).await?).await;
    if text.is_empty() {
        return Ok(Output::text(format!("[{path}: empty]")));
    }
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    // Line 0 is treated as the first line, for callers that count from 0.
    let first = offset.max(1);
    if first > lines.len() {
        return Err(ToolError::refused(format!("`{path}` has {} lines; offset {first} is after its end", lines.len())));
    }
    let last = limit.map_or(lines.len(), |limit| first.saturating_add(limit - 1).min(lines.len()));
    let wanted = lines[first - 1..last].concat();
    let header = format!("[{path}: lines {first}-{last} of {}]", lines.len());
    // The header is part of the result, and other ranges have slightly longer headers.
    let cap = env.ctx.max_result_tokens.saturating_sub(plumbline_tokens::count(&header) + HEADER_SLACK_TOKENS);
    check_size(cap, &path, &wanted, first).await?;
    Ok(Output::text(format!("{header}\n{wanted}")))
}

/// The sentences of a passage are shown with their numbers, by which they can be cited.
async fn shown(env: &ToolEnv<'_>, path: &str, text: String) -> String {
    if !env.overlay.passages().iter().any(|passage| passage.chunk_path.as_deref() == Some(path)) {
        return text;
    }
    crate::run_blocking(move |_| numbered(&text)).await
}

/// The text of a file, or why it has none.
pub(crate) async fn text_of(env: &ToolEnv<'_>, path: &str) -> Result<String, ToolError> {
    if let Some(size) = env.overlay.size(path)
        && size > MAX_READ_BYTES
    {
        let mib = MAX_READ_BYTES / (1024 * 1024);
        let refusal = format!(
            "`{path}` has {size} bytes, more than the {mib} MiB that can be read; it can only be used as it is"
        );
        return Err(ToolError::refused(refusal));
    }
    let Some(bytes) = env.overlay.read(path).await? else {
        return Err(path::not_found(path, env.overlay));
    };
    let binary = || {
        let hint = match env.ctx.bound.contains(&"extract_document_text") {
            true => "extract_document_text gives its text",
            false => "its text is extracted in a tactical phase",
        };
        ToolError::refused(format!("`{path}` is no text file; {hint}"))
    };
    if bytes.contains(&0) {
        return Err(binary());
    }
    String::from_utf8(bytes).map_err(|_| binary())
}

/// Refuses lines, starting at this number, that together exceed the limit of a result.
async fn check_size(cap: u32, path: &str, wanted: &str, first: usize) -> Result<(), ToolError> {
    // A token has at least one byte, so a text with few bytes need not be counted.
    if wanted.len() <= cap as usize {
        return Ok(());
    }
    let text = wanted.to_string();
    let (total, ranges) = crate::run_blocking(move |_| {
        let total = plumbline_tokens::count(&text);
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        (total, if total > cap { ranges(&lines, first, cap) } else { Ok(String::new()) })
    })
    .await;
    if total <= cap {
        return Ok(());
    }
    let last = first + wanted.split_inclusive('\n').count() - 1;
    let head = format!("lines {first}-{last} of `{path}` are {total} tokens, more than the {cap} of one result");
    match ranges {
        Ok(ranges) => Err(ToolError::refused(format!("{head}; read the parts you need: {ranges}"))),
        Err(line) => Err(ToolError::refused(format!(
            "{head}, and line {line} alone is too long to be shown; find what you need with search_files"
        ))),
    }
}

/// Ranges of lines that fit, as arguments for further calls; or the number of a line that never fits.
fn ranges(lines: &[&str], first: usize, cap: u32) -> Result<String, usize> {
    let mut ranges: Vec<(usize, usize)> = Vec::new();
    let mut room = 0;
    for (number, line) in (first..).zip(lines) {
        // The count of the whole is at most slightly more than the sum of its lines: one token per line for the seam.
        let size = plumbline_tokens::count(line) + 1;
        if size > cap {
            return Err(number);
        }
        match ranges.last_mut() {
            Some((_, count)) if size <= room => *count += 1,
            _ => {
                ranges.push((number, 1));
                room = cap;
            }
        }
        room -= size;
    }
    let more = ranges.len().saturating_sub(MAX_RANGES);
    let shown = ranges.iter().take(MAX_RANGES).map(|(offset, limit)| format!("offset {offset} limit {limit}"));
    let mut text = shown.collect::<Vec<_>>().join(", ");
    if more > 0 {
        text.push_str(&format!(" and {more} more in the same way"));
    }
    Ok(text)
}

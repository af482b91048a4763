//! `search_files`: finds lines of text files by content, and segments by meaning.
//!
//! Lines come first, because they are exact and include files written in this turn. If no line matches, or if a search
//! by meaning is requested, the ranked index over the committed texts is used.

mod scan;

use super::path;
use crate::error::{Output, ToolError, ToolResult};
use crate::search::{RankedSegment, Ranking, TextIndex};
use crate::tool::{Declared, ToolEnv};
use crate::workspace::overlay::WorkspaceOverlay;
use crate::workspace::untrusted::holds_untrusted;
use globset::{GlobBuilder, GlobMatcher};
use plumbline_bounds::{Cancellation, run_blocking, run_costly};
use plumbline_engine::{Phases, beginning, one_line};
use scan::{Finder, Hits, Incomplete, Search};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use std::time::{Duration, Instant};

/// Larger files are not searched, in bytes.
const MAX_SEARCHED_BYTES: u64 = 8 * 1024 * 1024;
/// Maximum time that one call spends on scanning.
const MAX_SCAN_TIME: Duration = Duration::from_secs(10);
/// Maximum segments shown by a ranked search.
const MAX_PASSAGES: usize = 20;
/// Maximum characters shown of a segment.
const MAX_PASSAGE_CHARS: usize = 400;
/// Extensions of files without text; their content is not even fetched.
const BINARY: [&str; 12] = ["pdf", "docx", "docm", "xlsx", "pptx", "zip", "gz", "png", "jpg", "jpeg", "gif", "webp"];

#[derive(Clone, Copy, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
enum Mode {
    Text,
    Regex,
    Semantic,
    Hybrid,
}

/// Searches text files line by line.
///
/// {arguments}
///
/// At most 100 lines are shown, at most 20 of one file; the last line says how many there are. PDF and other binary files
/// are not searched: search their extracted text under `chunks/`. The documentation under `tools/` is searched as text only.
///
/// Example: `{"query": "retention period", "path": "chunks"}`
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SearchFiles {
    /// # What to look for
    /// what to look for
    #[schemars(length(min = 1, max = 1000))]
    query: String,
    /// # File, folder or pattern such as chunks/*.md (default: everything)
    /// a file, a folder, or a pattern such as `chunks/*.md`; left out: the whole workspace
    #[serde(default)]
    path: String,
    /// # Default hybrid where embeddings are configured, else text
    /// `text`: the words as they stand, whatever their case (if no line has them together, lines with all the words;
    /// then passages ranked by the words they have); `regex`: a regular expression, case-sensitive unless it begins
    /// with `(?i)`; `semantic`: by meaning; `hybrid`: by words and meaning (default where embeddings are configured;
    /// without them both are as `text`)
    mode: Option<Mode>,
}

impl Declared for SearchFiles {
    const NAME: &str = "search_files";
    const PHASES: Phases = Phases::Both;
    const DESCRIPTION: &str = "Search the workspace's text files and list the lines found as path:line: text.";
    const READS_ONLY: bool = true;

    fn shows_untrusted(_: &Value, env: &ToolEnv<'_>) -> bool {
        holds_untrusted(env)
    }

    async fn run(self, env: &ToolEnv<'_>) -> ToolResult {
        let Self { query, path, mode } = self;
        let files = scope(env.overlay, &path)?;
        let indexed = indexed(env.overlay, &files);
        let has_embeddings = env.ctx.texts.is_some_and(TextIndex::has_embeddings);
        let mode = mode.unwrap_or(if has_embeddings { Mode::Hybrid } else { Mode::Text });
        let mut remarks = Vec::new();
        if let Some(ranking) = mode.ranking() {
            match env.ctx.texts.filter(|_| has_embeddings) {
                Some(_) if query.trim().is_empty() => return Err(blank()),
                Some(_) if indexed.is_empty() && !files.is_empty() => {
                    remarks.push("(no file here is searched by meaning, so this is a text search)".to_string());
                }
                Some(index) => {
                    let found = index.ranked(&query, &indexed, ranking, MAX_PASSAGES).await?;
                    remarks.extend(found.remark.map(|remark| format!("({remark})")));
                    return Ok(Output::text(segments(&found.segments, remarks, files.len())));
                }
                None => remarks.push("(no embeddings are configured, so this is a text search)".to_string()),
            }
        }
        let finder = if mode == Mode::Regex { Finder::regex(&query)? } else { Finder::phrase(&query)? };
        let mut hits = search(env.overlay, &files, &finder).await?;
        if hits.total > 0 || mode == Mode::Regex {
            return Ok(Output::text(render(hits, remarks, files.len())));
        }
        if let Some(words) = Finder::all_words(&query)? {
            hits = search(env.overlay, &files, &words).await?;
            if hits.total > 0 {
                remarks.push("(no line has exactly these words together; these lines have all of them)".to_string());
                return Ok(Output::text(render(hits, remarks, files.len())));
            }
        }
        let Some(index) = env.ctx.texts else {
            return Ok(Output::text(render(hits, remarks, files.len())));
        };
        let found = index.ranked(&query, &indexed, Ranking::Words, MAX_PASSAGES).await?;
        if !found.segments.is_empty() {
            remarks.push("(no line has all of these words; these passages come nearest, the best first)".to_string());
        }
        Ok(Output::text(segments(&found.segments, remarks, files.len())))
    }
}

impl Mode {
    fn ranking(self) -> Option<Ranking> {
        match self {
            Self::Semantic => Some(Ranking::Semantic),
            Self::Hybrid => Some(Ranking::Both),
            Self::Text | Self::Regex => None,
        }
    }
}

/// The files whose index is current: those that this turn has not touched. The documentation of the tools is not among
/// the job's texts.
fn indexed(overlay: &WorkspaceOverlay<'_>, files: &[String]) -> Vec<String> {
    files.iter().filter(|file| !overlay.is_touched(file) && !file.starts_with("tools/")).cloned().collect()
}

fn segments(found: &[RankedSegment], mut out: Vec<String>, searched: usize) -> String {
    if found.is_empty() {
        out.push(format!("(nothing found in {searched} text files)"));
    }
    out.extend(found.iter().map(|segment| {
        let shown = beginning(&one_line(&segment.text), MAX_PASSAGE_CHARS);
        format!("{}:{}: {shown}", segment.path, segment.first_line)
    }));
    out.join("\n")
}

fn blank() -> ToolError {
    ToolError::refused("`query` is blank; give the words to look for")
}

async fn search(overlay: &WorkspaceOverlay<'_>, files: &[String], finder: &Finder) -> Result<Hits, ToolError> {
    let mut hits = Hits::default();
    let mut left = MAX_SCAN_TIME;
    for path in files {
        let Some(content) = overlay.read(path).await? else { continue };
        let (scanner, file) = (finder.clone(), path.clone());
        let scan = move |cancellation: &Cancellation| {
            let started = Instant::now();
            let search = Search { deadline: started + left, cancellation };
            hits.scan(&file, &content, &scanner, &search).map(|()| (hits, started.elapsed()))
        };
        let scanned = if finder.is_costly() { run_costly(scan).await } else { run_blocking(scan).await };
        let (found, taken) = scanned.map_err(|Incomplete| too_long(path))?;
        hits = found;
        left = left.saturating_sub(taken);
    }
    Ok(hits)
}

fn too_long(path: &str) -> ToolError {
    ToolError::refused(format!(
        "the search was given up in `{path}` after {} s: the expression is too costly for so much text; give a simpler one \
         (without large repetitions), a narrower path, or mode `text`",
        MAX_SCAN_TIME.as_secs()
    ))
}

fn render(hits: Hits, mut out: Vec<String>, searched: usize) -> String {
    if hits.total == 0 {
        out.push(format!("(nothing found in {searched} text files)"));
        return out.join("\n");
    }
    let shown = hits.lines.len();
    out.extend(hits.lines);
    if hits.total > shown {
        out.push(format!("({shown} of {} lines are shown; give a narrower query or a path)", hits.total));
    }
    out.join("\n")
}

/// The searchable files that a path denotes.
fn scope(overlay: &WorkspaceOverlay<'_>, raw: &str) -> Result<Vec<String>, ToolError> {
    let pattern = raw.contains(['*', '?', '[', '{']);
    let path = path::folder(if raw.trim() == "." { "" } else { raw })?;
    let files: Vec<(&str, u64)> = if pattern {
        let matcher = glob(&path)?;
        overlay.list("").into_iter().filter(|(file, _)| matcher.is_match(file)).collect()
    } else if let Some(size) = overlay.size(&path) {
        vec![(path.as_str(), size)]
    } else {
        overlay.list(&path)
    };
    if files.is_empty() && !path.is_empty() {
        return Err(path::not_found(&path, overlay));
    }
    Ok(files
        .into_iter()
        .filter(|(file, size)| *size <= MAX_SEARCHED_BYTES && !is_binary(file))
        .map(|(file, _)| file.to_string())
        .collect())
}

fn glob(pattern: &str) -> Result<GlobMatcher, ToolError> {
    let built = GlobBuilder::new(pattern).literal_separator(true).build();
    built
        .map(|glob| glob.compile_matcher())
        .map_err(|error| ToolError::refused(format!("the pattern `{pattern}` is not usable: {}", error.kind())))
}

fn is_binary(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.rsplit_once('.').is_some_and(|(_, extension)| BINARY.contains(&extension.to_ascii_lowercase().as_str()))
}

//! Files of a job with text from outside: its documents, their chunks and the records made from them, pages, results.
//! Files that the model itself writes derive from what it has read, and that was marked when it was read.

use crate::tool::ToolEnv;
use plumbline_engine::path::normalize;
use serde_json::Value;

/// Prefixes of such paths.
const BEGINNINGS: [&str; 8] = [
    "input/",
    "chunks/",
    "candidates/",
    "requirements/",
    "web_sources/",
    "tool_results/",
    "output/requirements.",
    "output/changes.json",
];
/// The data that was given with the job, trusted like its prompt.
const CONTEXT: &str = "input/context.json";

/// Whether the file that a call names contains untrusted text.
pub(crate) fn is_untrusted(arguments: &Value, env: &ToolEnv<'_>) -> bool {
    let named = arguments["path"].as_str().unwrap_or_default();
    normalize(named).map_or(true, |path| of_others(&path, env))
}

/// Whether any file of the job does.
pub(crate) fn holds_untrusted(env: &ToolEnv<'_>) -> bool {
    env.overlay.list("").iter().any(|(path, _)| of_others(path, env))
}

fn of_others(path: &str, env: &ToolEnv<'_>) -> bool {
    let is_source =
        |source: &plumbline_engine::Source| source.path == path || source.text_path.as_deref() == Some(path);
    path != CONTEXT
        && (BEGINNINGS.iter().any(|beginning| path.starts_with(beginning))
            || env.overlay.sources().iter().any(is_source))
}

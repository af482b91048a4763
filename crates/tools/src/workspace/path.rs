//! Workspace paths: one normal form per file, and which files a tool may write.
//!
//! A path is relative to the job's folder, `/`-separated, without `.` and `..`. Common prefixes for that folder (`./`,
//! `/workspace/`, `job_<uuid>/`) are removed; any other invalid path is refused rather than guessed. The kernel also
//! protects the mirror's folder; this protects the rows.

use crate::documents::text_parts::is_part_of;
use crate::error::ToolError;
use crate::tool::ToolContext;
use crate::workspace::overlay::WorkspaceOverlay;
use plumbline_engine::{CANDIDATE_LIST, Source, plan};
use uuid::Uuid;

/// The list of chunks.
pub(crate) const MANIFEST: &str = "chunks/manifest.json";
/// Maximum bytes of a path; the limit of file systems.
const MAX_PATH_BYTES: usize = 1024;
/// Maximum bytes of a path component.
const MAX_COMPONENT_BYTES: usize = 255;

/// Normalizes a file's path.
pub(crate) fn file(raw: &str) -> Result<String, ToolError> {
    let path = folder(raw)?;
    if path.is_empty() {
        return Err(ToolError::refused(format!("`{raw}` names no file; give a path such as output/report.md")));
    }
    if raw.ends_with('/') {
        return Err(ToolError::refused(format!("`{raw}` names a folder; give a file in it")));
    }
    Ok(path)
}

/// Normalizes a folder's path, without a trailing slash; the workspace itself is the empty path.
pub(crate) fn folder(raw: &str) -> Result<String, ToolError> {
    let refuse = |why: &str| Err(ToolError::refused(format!("the path `{}` {why}", raw.escape_debug())));
    if raw.chars().any(char::is_control) {
        return refuse("contains a control character; leave it out");
    }
    if raw.contains('\\') {
        return refuse("contains a backslash; separate folders with `/`");
    }
    if raw.len() > MAX_PATH_BYTES {
        return Err(ToolError::refused(format!("the path is longer than {MAX_PATH_BYTES} bytes; use a shorter one")));
    }
    let relative = without_root(raw.trim());
    if relative.starts_with('/') {
        return refuse("is absolute; paths are relative to the workspace, such as output/report.md");
    }
    let mut parts: Vec<&str> = Vec::new();
    for part in relative.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.pop().is_none() => return refuse("leads out of the workspace"),
            ".." => {}
            part if part.len() > MAX_COMPONENT_BYTES => {
                return refuse(&format!("has a name longer than {MAX_COMPONENT_BYTES} bytes; use a shorter one"));
            }
            part => parts.push(part),
        }
    }
    Ok(parts.join("/"))
}

/// Removes prefixes that denote the workspace itself.
fn without_root(path: &str) -> &str {
    let mut rest = path;
    loop {
        let first_end = rest.find('/').unwrap_or(rest.len());
        let next = if rest == "/workspace" {
            ""
        } else if let Some(inner) = rest.strip_prefix("/workspace/").or_else(|| rest.strip_prefix("./")) {
            inner
        } else if rest[..first_end].strip_prefix("job_").is_some_and(|id| Uuid::try_parse(id).is_ok()) {
            rest.get(first_end + 1..).unwrap_or("")
        } else {
            return rest;
        };
        rest = next;
    }
}

/// Refuses a write to this path if the system maintains the file.
pub(crate) fn check_writable(
    path: &str,
    overlay: &WorkspaceOverlay<'_>,
    ctx: &ToolContext<'_>,
) -> Result<(), ToolError> {
    let read_only = |why: &str| Err(ToolError::refused(format!("`{path}` is read only: {why}")));
    match path.split('/').next().unwrap_or(path) {
        "input" => return read_only("input/ holds the job's documents as they were given; write to output/ instead"),
        "archive" => return read_only("archive/ holds the records of finished phases"),
        "tools" => return read_only("tools/ holds the documentation of the tools"),
        ".plumbline" => return read_only("the system keeps its own records there"),
        _ => {}
    }
    match path {
        "instructions.md" => read_only("it holds the job's instructions; keep notes in workspace.md"),
        plan::PATH if !ctx.plans() => {
            read_only("the plan is written in strategic phases; note in workspace.md what should change in it")
        }
        "progress.md" => read_only("the system notes every closed todo there; keep notes in workspace.md"),
        "workspace_summary.md" => read_only("the system writes it from the job's rows; keep notes in workspace.md"),
        "error.md" => read_only("the system writes it when a job fails; keep notes in workspace.md"),
        _ if ctx.records_requirements && is_rendered(path) => read_only(
            "the system renders it from the recorded requirements when the job ends; write other results to other files \
             under output/",
        ),
        "todos.yaml" if ctx.plans() => {
            Err(ToolError::refused("todos.yaml is not written as a file: call todo_write, which checks the list"))
        }
        "todos.yaml" => read_only("the todos of the next phase are written in a strategic phase"),
        _ if holds_passages(path, overlay) => read_only(
            "passages of the documents are read and cited by it; chunk_document cuts a document anew, notes go to other files",
        ),
        _ => match text_of(path, overlay.sources()) {
            Some(source) => {
                read_only(&format!("it is the extracted text of {}, against which quotes are checked", source.path))
            }
            None => check_shape(path, overlay),
        },
    }
}

/// The files that the system renders from a job's requirements: the lists, and one file each.
fn is_rendered(path: &str) -> bool {
    path.starts_with("output/requirements.") || path.starts_with("requirements/") || path == CANDIDATE_LIST
}

/// A passage's text, whose sentences citations refer to, and the list of passages, which assigns their numbers.
fn holds_passages(path: &str, overlay: &WorkspaceOverlay<'_>) -> bool {
    let passages = overlay.passages();
    match path {
        MANIFEST => !passages.is_empty(),
        _ => passages.iter().any(|passage| passage.chunk_path.as_deref() == Some(path)),
    }
}

fn text_of<'a>(path: &str, sources: &'a [Source]) -> Option<&'a Source> {
    sources.iter().find(|source| source.text_path.as_deref().is_some_and(|text_path| is_part_of(path, text_path)))
}

/// A name is a file or a folder, never both: the mirror could not represent it.
fn check_shape(path: &str, overlay: &WorkspaceOverlay<'_>) -> Result<(), ToolError> {
    if overlay.is_folder(path) {
        return Err(ToolError::refused(format!("`{path}` is a folder; give the path of a file in it")));
    }
    let parents = path.match_indices('/').map(|(end, _)| &path[..end]);
    for parent in parents {
        if overlay.size(parent).is_some() {
            return Err(ToolError::refused(format!(
                "`{parent}` is a file, so `{path}` cannot be in it; use another path"
            )));
        }
    }
    Ok(())
}

/// The refusal for a file that does not exist, with existing similar names.
pub(crate) fn not_found(path: &str, overlay: &WorkspaceOverlay<'_>) -> ToolError {
    if path.is_empty() || overlay.is_folder(path) {
        return ToolError::refused(format!("`{path}` is a folder; list_files shows what is in it"));
    }
    let near = overlay.similar(path);
    match near.is_empty() {
        true => ToolError::refused(format!("there is no file `{path}`; list_files shows the files")),
        false => ToolError::refused(format!("there is no file `{path}`; similar: {}", near.join(", "))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_has_one_spelling() {
        for (raw, expected) in [
            ("output/a.md", "output/a.md"),
            ("./output//a.md", "output/a.md"),
            (" output/a.md ", "output/a.md"),
            ("output/x/../a.md", "output/a.md"),
            ("/workspace/output/a.md", "output/a.md"),
            ("job_0190a6f2-3c1b-7d2e-8f00-1234567890ab/output/a.md", "output/a.md"),
            ("/workspace/job_0190a6f2-3c1b-7d2e-8f00-1234567890ab/./a.md", "a.md"),
            ("job_report/a.md", "job_report/a.md"),
            ("Übersicht 1.md", "Übersicht 1.md"),
        ] {
            assert_eq!(file(raw).unwrap(), expected, "{raw}");
        }
        for raw in ["", "/workspace", "./", "job_0190a6f2-3c1b-7d2e-8f00-1234567890ab"] {
            assert_eq!(folder(raw).unwrap(), "", "{raw}");
        }
        assert_eq!(folder("output/").unwrap(), "output");
    }

    #[test]
    fn everything_else_is_refused_with_the_reason() {
        let long = "a/".repeat(600);
        let long_name = format!("output/{}", "x".repeat(256));
        for (raw, reason) in [
            ("../etc/passwd", "leads out"),
            ("output/../../x", "leads out"),
            ("/etc/passwd", "absolute"),
            ("/workspacex/a", "absolute"),
            ("C:\\temp\\a", "backslash"),
            ("a\0b", "control character"),
            ("", "names no file"),
            ("output/", "names a folder"),
            (&long, "longer than 1024 bytes"),
            (&long_name, "longer than 255 bytes"),
        ] {
            let error = file(raw).unwrap_err().to_string();
            assert!(error.contains(reason), "{raw:?}: {error}");
        }
    }
}

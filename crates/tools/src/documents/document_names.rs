//! The documents that a model names, and the refusals for names and documents that cannot be used.

use crate::documents::text_parts::is_part_of;
use crate::error::ToolError;
use crate::workspace::overlay::{WorkspaceOverlay, file_name};
use crate::workspace::path;
use plumbline_engine::Source;

/// Maximum documents named in a refusal.
const MAX_NAMED: usize = 10;

/// Resolves the name of a document: its path, the path of its text, of one of its chunks, or its bare file name.
pub(crate) async fn resolve<'d>(overlay: &'d WorkspaceOverlay<'_>, name: &str) -> Result<&'d Source, ToolError> {
    let path = path::file(name)?;
    if let Some(source) = named(overlay, &path)? {
        return Ok(source);
    }
    if let Some(origin) = chunk_origin(overlay, &path).await?
        && let Some(source) = named(overlay, &origin)?
    {
        return Ok(source);
    }
    Err(unknown_document(overlay, &path))
}

fn named<'d>(overlay: &'d WorkspaceOverlay<'_>, path: &str) -> Result<Option<&'d Source>, ToolError> {
    let sources = overlay.sources();
    let is_text = |source: &Source| source.text_path.as_deref().is_some_and(|text| is_part_of(path, text));
    let exact = |source: &&Source| source.path == path || is_text(source);
    if let Some(source) = sources.iter().find(exact) {
        return Ok(Some(source));
    }
    let by_name = |source: &&Source| !path.contains('/') && file_name(&source.path).eq_ignore_ascii_case(path);
    let matching: Vec<&Source> = sources.iter().filter(by_name).collect();
    match matching[..] {
        [] => Ok(None),
        [source] => Ok(Some(source)),
        _ => {
            let paths: Vec<&str> = matching.iter().map(|source| source.path.as_str()).collect();
            Err(ToolError::refused(format!("`{path}` may be {}; give the path", paths.join(" or "))))
        }
    }
}

/// The document named in the first line of a chunk file.
async fn chunk_origin(overlay: &WorkspaceOverlay<'_>, path: &str) -> Result<Option<String>, ToolError> {
    if !path.starts_with("chunks/") {
        return Ok(None);
    }
    let Some(bytes) = overlay.read(path).await? else {
        return Ok(None);
    };
    let head = String::from_utf8_lossy(bytes.split(|byte| *byte == b'\n').next().unwrap_or_default()).into_owned();
    let origin = head.strip_prefix("<!-- source: ").and_then(|rest| rest.split(" | ").next());
    Ok(origin.map(|origin| origin.trim_end_matches("-->").trim().to_string()))
}

/// The refusal for a name that matches no document.
pub(crate) fn unknown_document(overlay: &WorkspaceOverlay<'_>, path: &str) -> ToolError {
    let known: Vec<&str> = overlay.sources().iter().take(MAX_NAMED).map(|source| source.path.as_str()).collect();
    match known.is_empty() {
        true => ToolError::refused(format!("`{path}` is no document of this job, which has none")),
        false => {
            ToolError::refused(format!("`{path}` is no document of this job; its documents are {}", known.join(", ")))
        }
    }
}

/// The refusal for a document whose text is not extracted yet.
pub(crate) fn not_extracted(source: &Source) -> ToolError {
    let path = &source.path;
    ToolError::refused(format!("{path} has no text yet; call extract_document_text with file_path {path} first"))
}

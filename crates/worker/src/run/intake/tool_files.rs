//! `tools/<tool>.md`: the documentation of each tool that a job has bound. It is the same for all jobs of a
//! configuration, so it is generated once and shared.

use plumbline_engine::{FileMeta, SharedFile, SharedFiles, ToolSpec};
use sha2::{Digest as _, Sha256};
use std::{collections::BTreeMap, sync::Arc};

/// The documentation of these tools.
pub(crate) fn shared(tools: &[ToolSpec]) -> Arc<SharedFiles> {
    let by_path: BTreeMap<String, String> =
        tools.iter().map(|tool| (format!("tools/{}.md", tool.name), document(tool))).collect();
    let files: Vec<SharedFile> = by_path.into_iter().map(|(path, text)| file(path, text.into_bytes())).collect();
    let mut id = Sha256::new();
    for file in &files {
        id.update((file.path.len() as u64).to_le_bytes());
        id.update(&file.path);
        id.update(file.sha256);
    }
    Arc::new(SharedFiles { id: id.finalize().into(), files })
}

fn file(path: String, content: Vec<u8>) -> SharedFile {
    let (sha256, facts) = (Sha256::digest(&content).into(), FileMeta::of(&content));
    SharedFile { path, content: content.into(), sha256, facts }
}

/// A tool's documentation, under its name.
fn document(tool: &ToolSpec) -> String {
    let documentation = tool.documentation.trim();
    if documentation.starts_with("# ") {
        return format!("{documentation}\n");
    }
    format!("# {}\n\n{}\n\n{documentation}\n", tool.name, tool.description)
}

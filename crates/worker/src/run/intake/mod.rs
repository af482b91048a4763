//! Intake: the user's input becomes the workspace's first files.
//!
//! Invalid input is detected here, before the first model call costs anything: an empty prompt, a missing
//! document, a document that contradicts its name. The answer is an [`Outcome`] like any other; a refusal ends the job
//! as `failed` with the sentence.
//!
//! | file | from |
//! |---|---|
//! | `instructions.md` | the job type's instructions, then the user's prompt |
//! | `workspace.md` | an empty form for the long-term memory |
//! | `input/<name>` | `document_path`, `document_content`, rows of `job_documents` |
//! | `input/context.json` | `context` |
//! | `tools/<tool>.md` | the documentation of each bound tool, shared by all jobs that have the same |

mod documents;
mod import;
mod name;
#[cfg(test)]
mod tests;
mod tool_files;

use plumbline_bounds::blocking::on_files;
use plumbline_documents::Parser;
use plumbline_engine::{FileWrite, Intake, Outcome, SharedFiles};
use serde_json::Value;
use std::{path::Path, sync::Arc};
pub(crate) use tool_files::shared;

/// The initial content of the long-term memory.
pub(crate) const WORKSPACE_FORM: &str = include_str!("workspace.md");

/// The fields of a job's row that intake needs.
#[derive(Clone, Debug, Default)]
pub(crate) struct IntakeJob {
    /// `jobs.prompt`.
    pub(crate) prompt: String,
    /// `jobs.context`; its `document_name` names an inline document.
    pub(crate) context: Value,
    /// `jobs.document_path`: a file or folder under the import folder.
    pub(crate) document_path: Option<String>,
    /// Subfolders of the import folder that may contain it; all of it when absent.
    pub(crate) document_roots: Option<Vec<String>>,
    /// `jobs.document_content`: a document given inline.
    pub(crate) document: Option<Vec<u8>>,
    /// `job_documents`: further documents, each with its name.
    pub(crate) documents: Vec<(String, Vec<u8>)>,
}

/// A document before its import.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Document {
    /// Path below `input/`.
    name: String,
    content: Content,
}

/// The content of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Content {
    Bytes(Vec<u8>),
    /// None, for this reason: the other documents of its folder are used.
    Unread(String),
}

impl Document {
    fn new(name: String, bytes: Vec<u8>) -> Self {
        Self { name, content: Content::Bytes(bytes) }
    }

    fn size(&self) -> u64 {
        match &self.content {
            Content::Bytes(bytes) => bytes.len() as u64,
            Content::Unread(_) => 0,
        }
    }
}

/// Maximum bytes of a context that is formatted with one value per line.
const MOST_LAID_OUT: usize = 16 << 10;

/// A refusal: one sentence that says what, where, what to do.
type Refused = String;

/// Why a job does not begin.
struct IntakeRefusal {
    reason: Refused,
    /// Whether none of its documents can be read.
    no_text: bool,
}

impl From<Refused> for IntakeRefusal {
    fn from(reason: Refused) -> Self {
        Self { reason, no_text: false }
    }
}

/// Gathers the job's documents and first files.
///
/// `import_root` is the folder for `document_path` (`PLUMBLINE_WORKSPACE_DIR/import`), `instructions` the job type's
/// instructions, `shared` the files shared with other jobs.
pub(crate) async fn ingest(
    job: IntakeJob,
    import_root: &Path,
    parser: &Parser,
    instructions: &str,
    shared: &Arc<SharedFiles>,
) -> Outcome {
    match gather(job, import_root, parser, instructions).await {
        Ok(intake) => Outcome::IntakeDone(Intake { shared: Some(Arc::clone(shared)), ..intake }),
        Err(IntakeRefusal { reason, no_text }) => Outcome::IntakeRefused { reason, no_text },
    }
}

/// Why documents with this many bytes are not read at all.
pub(crate) fn too_many_bytes(bytes: u64) -> Option<Refused> {
    (bytes > import::MOST_BYTES).then(documents::too_large)
}

/// Bytes of the documents at a path; 0 if they cannot be read, which [`ingest`] reports.
pub(crate) async fn size_of(path: String, roots: Option<Vec<String>>, import_root: &Path) -> u64 {
    let root = import_root.to_owned();
    let size = on_files(move || import::size(&root, roots.as_deref(), &path));
    size.await.ok().and_then(Result::ok).unwrap_or(0)
}

async fn gather(
    mut job: IntakeJob,
    import_root: &Path,
    parser: &Parser,
    instructions: &str,
) -> Result<Intake, IntakeRefusal> {
    check_prompt(&job.prompt)?;
    let documents = documents::collect(&mut job, import_root).await?;
    let sources = documents::probe(&documents, parser).await?;
    let mut files = vec![
        FileWrite::text("instructions.md", instructions_file(instructions, &job.prompt)),
        FileWrite::text("workspace.md", WORKSPACE_FORM),
        FileWrite::text("input/context.json", context_file(&job.context)),
    ];
    files.extend(documents.into_iter().filter_map(|Document { name, content }| match content {
        Content::Bytes(content) => Some(FileWrite { path: format!("input/{name}"), content }),
        Content::Unread(_) => None,
    }));
    Ok(Intake { files, sources, ..Intake::default() })
}

fn check_prompt(prompt: &str) -> Result<(), Refused> {
    // A single letter is a prompt: rules cannot decide whether a prompt is sufficient.
    if prompt.chars().any(char::is_alphanumeric) {
        return Ok(());
    }
    Err("the job's prompt is empty; say in `prompt` what is to be done".into())
}

/// The user's text is kept verbatim: it is appended unchanged, never rendered as a template.
fn instructions_file(instructions: &str, prompt: &str) -> String {
    format!("{}\n\n# The job\n\n{}\n", instructions.trim_end(), prompt.trim_end())
}

/// Formatted for people, except for deeply nested values, where each line would begin with hundreds of spaces.
fn context_file(context: &Value) -> String {
    let context = if context.is_null() { &Value::Object(serde_json::Map::new()) } else { context };
    let mut text = context.to_string();
    if text.len() <= MOST_LAID_OUT {
        text = serde_json::to_string_pretty(context).expect("a JSON value can be written: it has string keys only");
    }
    text.push('\n');
    text
}

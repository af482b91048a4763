//! The documents of a job: their sources, and whether they can be read.

use super::{Content, Document, IntakeJob, IntakeRefusal, Refused, import, name};
use plumbline_bounds::blocking::on_files;
use plumbline_documents::{Parser, composed};
use plumbline_engine::Source;
use std::{collections::HashSet, path::Path};

/// The documents of `document_path`, `document_content` and `job_documents`, with the names they get below `input/`.
pub(crate) async fn collect(job: &mut IntakeJob, import_root: &Path) -> Result<Vec<Document>, Refused> {
    let mut documents = match &job.document_path {
        Some(path) => imported(path.clone(), job.document_roots.clone(), import_root).await?,
        None => Vec::new(),
    };
    if let Some(bytes) = job.document.take() {
        documents.push(Document::new(name::inline(&job.context, &bytes)?, bytes));
    }
    for (given, bytes) in std::mem::take(&mut job.documents) {
        documents.push(Document::new(name::given(&given, &bytes)?, bytes));
    }
    bounded(&documents)?;
    for document in &mut documents {
        if matches!(document.content, Content::Bytes(_)) {
            document.name = composed(&document.name).into_owned();
        }
    }
    let mut names = HashSet::new();
    for document in &documents {
        let top = document.name.split('/').next().unwrap_or_default();
        if top.eq_ignore_ascii_case("context.json") {
            let name = &document.name;
            return Err(format!(
                "a document is called `{name}`, and the job's context is written to `context.json`; rename it"
            ));
        }
        if matches!(document.content, Content::Bytes(_)) && !names.insert(import::alike(&document.name)) {
            return Err(format!("two documents are called `{}`; give one of them another name", document.name));
        }
    }
    for document in &documents {
        if let Some((folder, file)) = folder_that_is_a_file(&document.name, &names) {
            return Err(format!(
                "`{}` lies in a folder `{folder}`, and another document is called `{file}`; give one of them another name",
                document.name
            ));
        }
    }
    Ok(documents)
}

/// A folder in the document's path that is another document's name, as written here and as known.
fn folder_that_is_a_file<'a>(name: &'a str, names: &HashSet<String>) -> Option<(&'a str, String)> {
    let folders = name.match_indices('/').map(|(end, _)| &name[..end]);
    folders.map(|folder| (folder, folder.to_lowercase())).find(|(_, known)| names.contains(known))
}

pub(super) fn too_large() -> Refused {
    format!("the job's documents are larger than {} MiB together; split the job", import::MOST_BYTES >> 20)
}

/// Documents of several sources have the same bounds as those of one.
fn bounded(documents: &[Document]) -> Result<(), Refused> {
    let bytes: u64 = documents.iter().map(Document::size).sum();
    match documents.len() {
        0..=import::MOST_FILES if bytes <= import::MOST_BYTES => Ok(()),
        0..=import::MOST_FILES => Err(too_large()),
        count => Err(format!("the job has {count} documents, more than {}; split the job", import::MOST_FILES)),
    }
}

async fn imported(path: String, roots: Option<Vec<String>>, import_root: &Path) -> Result<Vec<Document>, Refused> {
    let root = import_root.to_owned();
    let done = on_files(move || import::read(&root, roots.as_deref(), &path)).await;
    done.unwrap_or_else(|error| Err(format!("the documents could not be read ({error}); try the job again")))
}

/// Queries the parser for each document: whether it can be opened, and its number of pages. One that cannot be opened
/// does not stop the others: it becomes a source without text, whose passage has the reason. If none can be opened,
/// there is nothing to do.
pub(crate) async fn probe(documents: &[Document], parser: &Parser) -> Result<Vec<Source>, IntakeRefusal> {
    let (mut sources, mut unreadable) = (Vec::with_capacity(documents.len()), Vec::new());
    for document in documents {
        let path = format!("input/{}", document.name);
        let mut source = Source { path, ..Source::default() };
        match &document.content {
            Content::Bytes(bytes) => {
                source.size = i64::try_from(bytes.len()).expect("a document is bounded to far less than 2^63 bytes");
                match parser.probe(&source.path, bytes).await {
                    Ok(probe) => source.pages = probe.pages.and_then(|pages| i32::try_from(pages).ok()),
                    Err(error) => unreadable.push(error.to_string()),
                }
            }
            Content::Unread(reason) => {
                unreadable.push(reason.clone());
                source.warnings.push(reason.clone());
            }
        }
        sources.push(source);
    }
    match unreadable.first() {
        Some(first) if unreadable.len() == documents.len() => {
            Err(IntakeRefusal { reason: first.clone(), no_text: true })
        }
        _ => Ok(sources),
    }
}

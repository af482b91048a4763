//! The documents of a new job. Their bytes are stored in the database, so the command and the workers may run on
//! different machines.

use crate::error::Failure;
use plumbline_store::{MOST_DOCUMENT_BYTES, NewDocument, NewJob};
use std::{
    collections::HashSet,
    fs::File,
    io::{self, Read as _},
    path::{Path, PathBuf},
};

/// Maximum documents of one job, and maximum nesting of their folders: the limits of a worker.
const MOST: usize = 1000;
const DEEPEST: usize = 16;
const MOST_BYTES: u64 = MOST_DOCUMENT_BYTES.unsigned_abs();

/// Adds documents to the job: a single one in its row, several in a separate table. A folder means the files in it,
/// with their relative paths; names that begin with a dot are skipped.
pub(crate) fn attach(job: &mut NewJob, documents: &[PathBuf]) -> Result<(), Failure> {
    let mut files = Vec::new();
    for document in documents {
        match document.is_dir() {
            true => list(document, "", 0, &mut files)?,
            false => files.push((file_name(document)?, document.clone())),
        }
    }
    check(&files)?;
    if let ([(name, path)], [document]) = (files.as_slice(), documents)
        && path == document
    {
        job.document_name = Some(name.clone());
        job.document_content = Some(read(path)?);
        return Ok(());
    }
    for (name, path) in files {
        job.documents.push(NewDocument { name, content: read(&path)? });
    }
    Ok(())
}

/// Collects the files below a folder with their relative paths.
fn list(folder: &Path, below: &str, depth: usize, files: &mut Vec<(String, PathBuf)>) -> Result<(), Failure> {
    let unreadable = |error: io::Error| {
        Failure::new(format!("the folder {} could not be read ({error}); make it readable", folder.display()))
    };
    let mut entries = std::fs::read_dir(folder)
        .and_then(|entries| entries.map(|entry| entry.map(|entry| entry.path())).collect::<Result<Vec<_>, _>>())
        .map_err(unreadable)?;
    entries.sort();
    for path in entries {
        let name = file_name(&path)?;
        if name.starts_with('.') {
            continue;
        }
        let name = format!("{below}{name}");
        if std::fs::metadata(&path).is_ok_and(|entry| !entry.is_file() && !entry.is_dir()) {
            return Err(Failure::usage(format!("{} is no regular file; take it out of the folder", path.display())));
        } else if !path.is_dir() {
            files.push((name, path));
        } else if depth == DEEPEST {
            return Err(Failure::usage(format!("{} is nested too deep; flatten it", path.display())));
        } else {
            list(&path, &format!("{name}/"), depth + 1, files)?;
        }
    }
    match files.is_empty() && depth == 0 {
        true => Err(Failure::usage(format!("the folder {} has no files; put the documents there", folder.display()))),
        false => Ok(()),
    }
}

/// Whether a worker would accept them, before any of them is read.
fn check(files: &[(String, PathBuf)]) -> Result<(), Failure> {
    if files.len() > MOST {
        return Err(Failure::usage(format!(
            "{} documents are more than the {MOST} that a job takes; split the job",
            files.len()
        )));
    }
    let mut names = HashSet::new();
    let mut bytes = 0;
    for (name, path) in files {
        // Not all file systems are case-sensitive.
        if !names.insert(name.to_lowercase()) {
            return Err(Failure::usage(format!("two documents are named {name}; rename one of them")));
        }
        bytes += std::fs::metadata(path).map_err(|error| unreadable(path, &error))?.len();
    }
    at_most(bytes)
}

fn at_most(bytes: u64) -> Result<(), Failure> {
    match bytes > MOST_BYTES {
        true => Err(Failure::usage(format!(
            "the documents are larger than {} MiB together; split the job, or put them into the worker's import folder and name \
             that in document_path",
            MOST_BYTES >> 20
        ))),
        false => Ok(()),
    }
}

fn file_name(path: &Path) -> Result<String, Failure> {
    let name = path.file_name().and_then(|name| name.to_str());
    name.map(str::to_string)
        .ok_or_else(|| Failure::usage(format!("{} is not a file name that can be used", path.display())))
}

/// A pipe and a device do not say how long they are, and may never end.
fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    let mut content = Vec::new();
    let read = File::open(path).and_then(|file| file.take(MOST_BYTES + 1).read_to_end(&mut content));
    read.map_err(|error| unreadable(path, &error))?;
    at_most(u64::try_from(content.len()).unwrap_or(u64::MAX))?;
    Ok(content)
}

fn unreadable(path: &Path, error: &io::Error) -> Failure {
    Failure::new(format!("the document {} could not be read ({error}); check its path", path.display()))
}

//! Workspace files of a step: at most one new version per path, regardless of intermediate changes.

use crate::{Error, Store, bind::text};
use plumbline_engine::{PlacedFile, is_placeholder};
use serde::Serialize;
use std::{borrow::Cow, collections::BTreeMap};
use uuid::Uuid;

/// One change of a file, in the step's order.
pub(super) enum FileChange<'a> {
    /// Created or replaced.
    Write { path: &'a str, content: &'a [u8] },
    /// Created or replaced by a staged blob.
    Place(&'a PlacedFile),
    /// Text added at the end.
    Append { path: &'a str, text: &'a str },
    /// Deleted.
    Delete { path: &'a str },
}

/// The step's result for the paths it touches, one vector per column.
#[derive(Debug, Default)]
pub(super) struct FileVersions {
    pub(super) paths: Vec<String>,
    /// None if the file is deleted.
    pub(super) contents: Vec<Option<Vec<u8>>>,
    pub(super) placeholders: Vec<bool>,
    /// Files whose contents are already stored; not among the columns.
    pub(super) staged: Vec<StagedFile>,
}

/// A file with a staged blob, as a row.
#[derive(Debug, Serialize)]
pub(super) struct StagedFile {
    path: String,
    /// In hexadecimal digits.
    sha256: String,
    size: u64,
}

/// A path's content after the step.
enum Version<'a, 's> {
    Content(Cow<'s, [u8]>),
    Placed(&'a PlacedFile),
    Deleted,
}

impl StagedFile {
    fn of(file: &PlacedFile) -> Self {
        Self { path: text(&file.path).into_owned(), sha256: hex::encode(file.sha256), size: file.size }
    }
}

impl FileVersions {
    /// Applies the changes in order. The stored content of appended files is read first, separately from the step's own
    /// statement: the holder of the lease is the only writer of the job's files, and without the lease the fence fails.
    pub(super) async fn of(store: &Store, job_id: Uuid, changes: &[FileChange<'_>]) -> Result<Self, Error> {
        let appended = appended(changes);
        let mut stored =
            if appended.is_empty() { BTreeMap::new() } else { store.read_files(job_id, &appended).await? };
        for file in changes.iter().filter_map(placed) {
            if appended.contains(&file.path)
                && let Some(content) = store.read_staged_blob(job_id, &file.sha256).await?
            {
                stored.insert(file.path.clone(), content);
            }
        }
        let mut versions = Self::default();
        for (path, version) in fold(changes, &stored) {
            let content = match version {
                Version::Placed(file) => {
                    versions.staged.push(StagedFile::of(file));
                    continue;
                }
                Version::Content(content) => Some(content.into_owned()),
                Version::Deleted => None,
            };
            versions.paths.push(text(path).into_owned());
            versions.placeholders.push(content.as_deref().is_some_and(is_placeholder));
            versions.contents.push(content);
        }
        Ok(versions)
    }
}

fn placed<'a>(change: &FileChange<'a>) -> Option<&'a PlacedFile> {
    if let FileChange::Place(file) = change { Some(*file) } else { None }
}

/// Files whose stored content the step needs.
fn appended(changes: &[FileChange<'_>]) -> Vec<String> {
    let appended = changes
        .iter()
        .filter_map(|change| if let FileChange::Append { path, .. } = change { Some(*path) } else { None });
    appended.map(str::to_owned).collect()
}

/// Folds the changes into one version per path.
fn fold<'a: 's, 's>(
    changes: &[FileChange<'a>],
    stored: &'s BTreeMap<String, Vec<u8>>,
) -> BTreeMap<&'a str, Version<'a, 's>> {
    let mut versions = BTreeMap::<_, Version<'a, 's>>::new();
    for change in changes {
        match *change {
            FileChange::Write { path, content } => {
                versions.insert(path, Version::Content(Cow::Borrowed(content)));
            }
            FileChange::Place(file) => {
                versions.insert(&file.path, Version::Placed(file));
            }
            FileChange::Delete { path } => {
                versions.insert(path, Version::Deleted);
            }
            FileChange::Append { path, text } => {
                let stored = || Cow::Borrowed(stored.get(path).map_or(&[][..], Vec::as_slice));
                let mut content = match versions.remove(path) {
                    Some(Version::Content(content)) => content,
                    Some(Version::Deleted) => Cow::Borrowed(&[][..]),
                    Some(Version::Placed(_)) | None => stored(),
                };
                content.to_mut().extend_from_slice(text.as_bytes());
                versions.insert(path, Version::Content(content));
            }
        }
    }
    versions
}

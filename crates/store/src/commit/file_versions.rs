//! Workspace files of a step: at most one new version per path, regardless of intermediate changes.

use crate::{Error, Store, bind::text};
use plumbline_engine::is_placeholder;
use std::{borrow::Cow, collections::BTreeMap};
use uuid::Uuid;

/// One change of a file, in the step's order.
pub(super) enum FileChange<'a> {
    /// Created or replaced.
    Write { path: &'a str, content: &'a [u8] },
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
}

impl FileVersions {
    /// Applies the changes in order. The stored content of appended files is read first, separately from the step's own
    /// statement: the holder of the lease is the only writer of the job's files, and without the lease the fence fails.
    pub(super) async fn of(store: &Store, job_id: Uuid, changes: &[FileChange<'_>]) -> Result<Self, Error> {
        let appended = appended(changes);
        let stored = if appended.is_empty() { BTreeMap::new() } else { store.read_files(job_id, &appended).await? };
        let mut versions = Self::default();
        for (path, content) in fold(changes, &stored) {
            let content = content.map(Cow::into_owned);
            versions.paths.push(text(path).into_owned());
            versions.placeholders.push(content.as_deref().is_some_and(is_placeholder));
            versions.contents.push(content);
        }
        Ok(versions)
    }
}

/// Files whose stored content the step needs.
fn appended(changes: &[FileChange<'_>]) -> Vec<String> {
    let appended = changes
        .iter()
        .filter_map(|change| if let FileChange::Append { path, .. } = change { Some(*path) } else { None });
    appended.map(str::to_owned).collect()
}

/// Folds the changes into one version per path; none for a deleted file.
fn fold<'a: 's, 's>(
    changes: &[FileChange<'a>],
    stored: &'s BTreeMap<String, Vec<u8>>,
) -> BTreeMap<&'a str, Option<Cow<'s, [u8]>>> {
    let mut versions = BTreeMap::<_, Option<Cow<'s, [u8]>>>::new();
    for change in changes {
        match *change {
            FileChange::Write { path, content } => {
                versions.insert(path, Some(Cow::Borrowed(content)));
            }
            FileChange::Delete { path } => {
                versions.insert(path, None);
            }
            FileChange::Append { path, text } => {
                let stored = || stored.get(path).map(|content| Cow::Borrowed(content.as_slice()));
                let content = versions.entry(path).or_insert_with(stored);
                content.get_or_insert_default().to_mut().extend_from_slice(text.as_bytes());
            }
        }
    }
    versions
}

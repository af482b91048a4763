//! Workspace files of a step: at most one new version a path, whatever happened to it in between.

use crate::{Error, Store, rows::text};
use plumbline_engine::is_placeholder;
use std::{borrow::Cow, collections::BTreeMap};
use uuid::Uuid;

/// One change of a file, in the order of the step.
pub(super) enum FileChange<'a> {
    /// Created or replaced.
    Write { path: &'a str, content: &'a [u8] },
    /// Text added at the end.
    Append { path: &'a str, text: &'a str },
    /// Deleted.
    Delete { path: &'a str },
}

/// What a step makes of the paths it touches, a column each.
#[derive(Default)]
pub(super) struct Versions {
    pub(super) paths: Vec<String>,
    /// None where the file is deleted.
    pub(super) contents: Vec<Option<Vec<u8>>>,
    pub(super) placeholders: Vec<bool>,
}

impl Versions {
    /// Plays the changes through. What the step appends to is read first, before and apart from the step's own
    /// statement: nobody else writes the job's files as long as the lease is ours, and if it is not, the fence says so.
    pub(super) async fn of(store: &Store, job_id: Uuid, changes: &[FileChange<'_>]) -> Result<Self, Error> {
        let appended = appended(changes);
        let stored = if appended.is_empty() { BTreeMap::new() } else { store.read_files(job_id, &appended).await? };
        let mut versions = Self::default();
        for (path, content) in fold(changes, &stored) {
            versions.paths.push(text(path).into_owned());
            versions.placeholders.push(content.as_deref().is_some_and(is_placeholder));
            versions.contents.push(content.map(Cow::into_owned));
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

/// A path's content after the changes, or none where it is deleted.
fn fold<'a>(
    changes: &[FileChange<'a>],
    stored: &'a BTreeMap<String, Vec<u8>>,
) -> BTreeMap<&'a str, Option<Cow<'a, [u8]>>> {
    let mut versions = BTreeMap::<_, Option<Cow<'a, [u8]>>>::new();
    for change in changes {
        match *change {
            FileChange::Write { path, content } => {
                versions.insert(path, Some(Cow::Borrowed(content)));
            }
            FileChange::Delete { path } => {
                versions.insert(path, None);
            }
            FileChange::Append { path, text } => {
                let version = versions
                    .entry(path)
                    .or_insert_with(|| stored.get(path).map(|content| Cow::Borrowed(content.as_slice())));
                version.get_or_insert_default().to_mut().extend_from_slice(text.as_bytes());
            }
        }
    }
    versions
}

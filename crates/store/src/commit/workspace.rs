//! Workspace files of a step: at most one new version a path, whatever happened to it in between.

use crate::{Error, error::During, files::read_files, rows::text};
use plumbline_engine::is_placeholder;
use sqlx::PgConnection;
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

/// What a step makes of a path: its content, or none where it is deleted.
type Versions<'a> = BTreeMap<&'a str, Option<Cow<'a, [u8]>>>;

/// Writes the new versions.
pub(super) async fn write_files(
    tx: &mut PgConnection,
    job_id: Uuid,
    step: i64,
    changes: &[FileChange<'_>],
) -> Result<(), Error> {
    if changes.is_empty() {
        return Ok(());
    }
    let stored = read_appended(tx, job_id, changes).await?;
    let versions = fold(changes, &stored);
    let paths: Vec<String> = versions.keys().map(|path| text(path).into_owned()).collect();
    let placeholders: Vec<bool> =
        versions.values().map(|content| content.as_deref().is_some_and(is_placeholder)).collect();
    let contents: Vec<Option<Vec<u8>>> = versions.into_values().map(|content| content.map(Cow::into_owned)).collect();
    sqlx::query_file!("queries/write_files.sql", job_id, step, &paths, &contents as &[Option<Vec<u8>>], &placeholders)
        .execute(tx)
        .await
        .during("write workspace files")?;
    Ok(())
}

/// The stored content of files that the step appends to.
async fn read_appended(
    tx: &mut PgConnection,
    job_id: Uuid,
    changes: &[FileChange<'_>],
) -> Result<BTreeMap<String, Vec<u8>>, Error> {
    let appended: Vec<String> = changes
        .iter()
        .filter_map(|change| if let FileChange::Append { path, .. } = change { Some((*path).to_owned()) } else { None })
        .collect();
    if appended.is_empty() {
        return Ok(BTreeMap::new());
    }
    read_files(tx, job_id, &appended).await
}

/// Plays the changes through, in order.
fn fold<'a>(changes: &[FileChange<'a>], stored: &'a BTreeMap<String, Vec<u8>>) -> Versions<'a> {
    let mut versions = Versions::new();
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

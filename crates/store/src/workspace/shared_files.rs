//! Files that jobs share: each set is stored once, before the first job refers to it.

use crate::{Error, Store, error::During};
use plumbline_engine::SharedFiles;
use std::{collections::HashSet, sync::Arc};
use tokio::sync::Mutex;

/// The sets that this process knows to be stored. They are never deleted.
pub(crate) type KnownSets = Arc<Mutex<HashSet<[u8; 32]>>>;

impl Store {
    /// Ensures that a set is stored, in a separate transaction: a step that refers to it must not wait for the end of
    /// another job's transaction. If many jobs start at once, the first stores it for all.
    pub(crate) async fn keep_shared(&self, shared: &SharedFiles) -> Result<(), Error> {
        let mut known = self.known_sets.lock().await;
        if known.contains(&shared.id) {
            return Ok(());
        }
        let files = &shared.files;
        let paths: Vec<&str> = files.iter().map(|file| file.path.as_str()).collect();
        let hashes: Vec<&[u8]> = files.iter().map(|file| &file.sha256[..]).collect();
        let placeholders: Vec<bool> = files.iter().map(|file| file.facts.placeholder).collect();
        let contents: Vec<&[u8]> = files.iter().map(|file| &*file.content).collect();
        sqlx::query_file!(
            "queries/workspace/put_shared_files.sql",
            &shared.id[..],
            &paths as &[&str],
            &hashes as &[&[u8]],
            &placeholders,
            &contents as &[&[u8]],
        )
        .execute(&self.pool)
        .await
        .during("store files that jobs share")?;
        known.insert(shared.id);
        Ok(())
    }
}

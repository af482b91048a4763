//! Compares the folder on disk with the rows that it mirrors.

use sha2::{Digest, Sha256};
use sqlx::PgPool;
use std::{collections::BTreeMap, fs, path::Path};
use uuid::Uuid;

/// Path below the workspace to SHA-256 in hex.
pub type Files = BTreeMap<String, String>;

/// The workspace's files according to the rows.
///
/// # Panics
/// When the rows cannot be read.
pub async fn rows(pool: &PgPool, job: Uuid) -> Files {
    let rows: Vec<(String, String)> = sqlx::query_as("SELECT path, sha256 FROM workspace_files WHERE job_id = $1")
        .bind(job)
        .fetch_all(pool)
        .await
        .expect("workspace_files can be read");
    rows.into_iter().collect()
}

/// The files below a folder, without the mirror's own (`.plumbline/`). A missing folder has no files.
///
/// # Panics
/// When an existing file cannot be read.
pub fn folder(root: &Path) -> Files {
    let mut files = Files::new();
    collect(root, root, &mut files);
    files
}

fn collect(root: &Path, folder: &Path, files: &mut Files) {
    let Ok(entries) = fs::read_dir(folder) else {
        return;
    };
    for entry in entries {
        let path = entry.expect("a folder's entries can be read").path();
        if path.is_dir() {
            if path != root.join(".plumbline") {
                collect(root, &path, files);
            }
        } else if let Ok(content) = fs::read(&path) {
            // If a file vanishes meanwhile, a running mirror has just replaced it.
            let below = path.strip_prefix(root).expect("what was found below a folder is below it");
            files.insert(below.display().to_string(), hex(&Sha256::digest(content)));
        }
    }
}

/// Lower-case hex, as Postgres's `encode(…, 'hex')`.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

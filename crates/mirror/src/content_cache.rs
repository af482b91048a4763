//! Caches the content of files that all folders share. A file with the same identity and modification time need not be
//! read again: there are forty of them in every folder.

use cap_std::fs::{Metadata, MetadataExt as _};
use sha2::{Digest, Sha256};
use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, SystemTime},
};

/// Maximum number of cached contents; a worker has few more than there are tools.
const MOST: usize = 256;
/// A file modified more recently than this may be modified again without a new timestamp.
const SETTLING: Duration = Duration::from_millis(100);

static SEEN: Mutex<Option<HashMap<Stamp, Content>>> = Mutex::new(None);

/// The file and its modification time.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Stamp {
    file: (u64, u64),
    size: u64,
    written: (i64, i64),
}

struct Content {
    bytes: Vec<u8>,
    sha256: String,
}

impl Stamp {
    fn of(metadata: &Metadata) -> Self {
        Self {
            file: (metadata.dev(), metadata.ino()),
            size: metadata.len(),
            written: (metadata.mtime(), metadata.mtime_nsec()),
        }
    }
}

/// Whether the file is known to have this content.
pub(crate) fn has(metadata: &Metadata, bytes: &[u8]) -> bool {
    seen().as_ref().and_then(|seen| seen.get(&Stamp::of(metadata))).is_some_and(|content| content.bytes == bytes)
}

/// Whether the file is known to have a content with this hash.
pub(crate) fn has_hash(metadata: &Metadata, sha256: &str) -> bool {
    seen().as_ref().and_then(|seen| seen.get(&Stamp::of(metadata))).is_some_and(|content| content.sha256 == sha256)
}

/// Caches the content of a file that was read.
pub(crate) fn remember(metadata: &Metadata, bytes: &[u8]) {
    let written = metadata.modified().ok().map(cap_std::time::SystemTime::into_std);
    let settled = written.and_then(|at| SystemTime::now().duration_since(at).ok()).is_some_and(|age| age >= SETTLING);
    if !settled || metadata.len() != bytes.len() as u64 {
        return;
    }
    let content = Content { bytes: bytes.to_vec(), sha256: digest(bytes) };
    let mut seen = seen();
    let seen = seen.get_or_insert_default();
    if seen.len() >= MOST {
        seen.clear();
    }
    seen.insert(Stamp::of(metadata), content);
}

fn seen() -> MutexGuard<'static, Option<HashMap<Stamp, Content>>> {
    SEEN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// SHA-256, in hexadecimal digits.
pub(crate) fn digest(bytes: &[u8]) -> String {
    hex::encode(Sha256::digest(bytes))
}

//! ZIP archives from untrusted sources, such as ODT and EPUB files. Runs in the parser child only.
//!
//! Only requested entries are unpacked. Their declared size and ratio are checked before a byte is inflated, and the
//! actual ones during inflation, because a declaration can lie.

use crate::child::protocol::Failure;
use crate::formats::text;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::{Cursor, Read as _, Write as _};
use zip::result::ZipError;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

/// An archive with more entries is refused; long books have some hundreds.
const MAX_ENTRIES: usize = 10_000;
/// Maximum size of an entry that is unpacked, in bytes.
const MAX_ENTRY_BYTES: u64 = 64 << 20;
/// Maximum bytes unpacked from one archive.
const MAX_TOTAL_BYTES: u64 = 256 << 20;
/// An entry that grows by more than this factor is a bomb, unless it is small.
const MAX_RATIO: u64 = 250;
/// What counts as small, in bytes.
const SMALL_BYTES: u64 = 8 << 20;

/// An archive and the remaining budget of bytes.
pub(crate) struct Archive<'a> {
    zip: ZipArchive<Cursor<&'a [u8]>>,
    left: u64,
    /// Unreadable parts of its texts, one sentence each.
    pub(crate) warnings: Vec<String>,
}

impl<'a> Archive<'a> {
    /// Reads the table of contents.
    pub(crate) fn open(bytes: &'a [u8]) -> Result<Self, Failure> {
        let zip = ZipArchive::new(Cursor::new(bytes)).map_err(Failure::damaged)?;
        if zip.len() > MAX_ENTRIES {
            return Err(Failure::damaged(format!(
                "its archive has {} entries, at most {MAX_ENTRIES} are read",
                zip.len()
            )));
        }
        Ok(Self { zip, left: MAX_TOTAL_BYTES, warnings: Vec::new() })
    }

    /// An entry's bytes; none when there is no such entry.
    pub(crate) fn read(&mut self, name: &str) -> Result<Option<Vec<u8>>, Failure> {
        let entry = match self.zip.by_name(name) {
            Ok(entry) => entry,
            Err(ZipError::FileNotFound) => return Ok(None),
            Err(ZipError::UnsupportedArchive(ZipError::PASSWORD_REQUIRED)) => return Err(Failure::Encrypted),
            Err(error) => return Err(Failure::damaged(error)),
        };
        let limit = entry_limit(entry.compressed_size()).min(self.left);
        if entry.size() > limit {
            return Err(too_large(name));
        }
        let mut content = Vec::new();
        entry.take(limit + 1).read_to_end(&mut content).map_err(Failure::damaged)?;
        let size = content.len() as u64;
        if size > limit {
            return Err(too_large(name));
        }
        self.left -= size;
        Ok(Some(content))
    }

    /// An entry's text, in the encoding of its byte order mark.
    pub(crate) fn text(&mut self, name: &str) -> Result<Option<String>, Failure> {
        let Some(bytes) = self.read(name)? else { return Ok(None) };
        let (text, warning) = text::decode(&bytes);
        self.warnings.extend(warning);
        Ok(Some(text.into_owned()))
    }

    /// Whether there is an entry of that name.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.zip.index_for_name(name).is_some()
    }

    /// The names of all entries.
    pub(crate) fn names(&self) -> Vec<String> {
        self.zip.file_names().flatten().map(Cow::into_owned).collect()
    }

    /// The archive with some texts and names replaced; unchanged entries are not unpacked.
    pub(crate) fn rewritten(
        &mut self,
        changed: &BTreeMap<String, String>,
        rename: impl Fn(&str) -> String,
    ) -> Result<Vec<u8>, Failure> {
        let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
        let stored = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
        for index in 0..self.zip.len() {
            let entry = self.zip.by_index_raw(index).map_err(Failure::damaged)?;
            let own = entry.name().map_err(Failure::damaged)?.into_owned();
            let name = rename(&own);
            match changed.get(&own) {
                Some(text) => {
                    writer.start_file(name, stored).map_err(Failure::damaged)?;
                    writer.write_all(text.as_bytes()).map_err(Failure::damaged)?;
                }
                None => writer.raw_copy_file_rename(entry, name).map_err(Failure::damaged)?,
            }
        }
        writer.finish().map(Cursor::into_inner).map_err(Failure::damaged)
    }
}

/// A path that a part in a folder names, as the name of an entry.
pub(crate) fn resolve(folder: &str, target: &str) -> String {
    let (folder, target) = target.strip_prefix('/').map_or((folder, target), |target| ("", target));
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    parts.join("/")
}

fn entry_limit(compressed: u64) -> u64 {
    compressed.saturating_mul(MAX_RATIO).clamp(SMALL_BYTES, MAX_ENTRY_BYTES)
}

fn too_large(name: &str) -> Failure {
    Failure::damaged(format!("its part {name} would unpack to more than a document needs"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn archive(entries: &[(&str, &[u8])]) -> Vec<u8> {
        let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
        for (name, content) in entries {
            writer.start_file(*name, SimpleFileOptions::default()).expect("an archive in memory");
            writer.write_all(content).expect("an archive in memory");
        }
        writer.finish().expect("an archive in memory").into_inner()
    }

    #[test]
    fn entries_are_read_within_their_bounds() {
        let bomb = vec![0; (SMALL_BYTES + 1) as usize];
        let bytes = archive(&[("a.xml", b"<a/>"), ("bomb.xml", &bomb)]);
        let mut archive = Archive::open(&bytes).expect("an archive");
        assert_eq!(archive.text("a.xml"), Ok(Some("<a/>".to_owned())));
        assert_eq!(archive.read("b.xml"), Ok(None));
        assert_eq!(archive.read("bomb.xml"), Err(too_large("bomb.xml")));
        archive.left = 3;
        assert_eq!(archive.read("a.xml"), Err(too_large("a.xml")), "the archive's own bound");
    }

    #[test]
    fn a_declared_size_that_lies_is_found_out() {
        let mut bytes = archive(&[("a.xml", &vec![b'a'; (SMALL_BYTES + 1) as usize])]);
        // The uncompressed size is in the entry's local header and in the central directory.
        let size = u32::try_from(SMALL_BYTES + 1).expect("a small number").to_le_bytes();
        let places: Vec<usize> = memchr::memmem::find_iter(&bytes, &size).collect();
        assert_eq!(places.len(), 2);
        places.into_iter().for_each(|at| bytes[at..at + 4].copy_from_slice(&9_u32.to_le_bytes()));
        let mut archive = Archive::open(&bytes).expect("an archive");
        assert!(matches!(archive.read("a.xml"), Err(Failure::Damaged { .. })));
    }

    #[test]
    fn too_many_entries_are_refused() {
        let names: Vec<String> = (0..=MAX_ENTRIES).map(|number| number.to_string()).collect();
        let entries: Vec<(&str, &[u8])> = names.iter().map(|name| (name.as_str(), b"".as_slice())).collect();
        assert!(Archive::open(&archive(&entries)).is_err());
    }
}

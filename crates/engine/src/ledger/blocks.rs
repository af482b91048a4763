//! Detects whether a text was shown, by blocks of words.
//!
//! A passage's words are split into blocks of eight. A result shows a block if it contains the same eight words
//! consecutively, in any context, with any line breaks, from any file. Marks added by tools (`[page 4]`, `[12]` before
//! a sentence, the line that names a chunk's source) are ignored.

use std::collections::{BTreeSet, HashSet};

/// Words per block. Eight consecutive words are specific to a passage, except in boilerplate, which was then shown as
/// well.
const WORDS: usize = 8;

/// Consecutive words, identified by their hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Block {
    /// Number of words: eight, or fewer if the passage has fewer.
    pub words: u8,
    /// Hash of the words in lower case.
    pub hash: u64,
}

impl Block {
    /// Bytes of a stored block.
    const BYTES: usize = 9;

    /// Blocks in their stored form: one byte for the number of words, eight for the hash.
    pub fn to_bytes(blocks: &[Self]) -> Vec<u8> {
        blocks.iter().flat_map(|block| std::iter::once(block.words).chain(block.hash.to_be_bytes())).collect()
    }

    /// Reads stored blocks; an incomplete one is ignored.
    pub fn from_bytes(bytes: &[u8]) -> Vec<Self> {
        let read = |bytes: &[u8]| Some(Self { words: bytes[0], hash: u64::from_be_bytes(bytes[1..].try_into().ok()?) });
        bytes.chunks_exact(Self::BYTES).filter_map(read).collect()
    }
}

/// The distinct blocks of a passage; they contain all of its words.
pub fn blocks(text: &str) -> Vec<Block> {
    let words = words(text);
    let size = WORDS.min(words.len());
    if size == 0 {
        return Vec::new();
    }
    // Words after the last whole block are covered by one that ends with the text.
    let last = words.len() - size;
    let starts = (0..=last).step_by(size).chain((!last.is_multiple_of(size)).then_some(last));
    let all: HashSet<Block> = starts.map(|start| block(&words[start..start + size])).collect();
    let mut all: Vec<Block> = all.into_iter().collect();
    all.sort_unstable();
    all
}

/// All runs in a text that are as long as one of these blocks.
pub(super) fn windows<'a>(text: &str, blocks: impl Iterator<Item = &'a Block>) -> HashSet<Block> {
    let lengths: BTreeSet<u8> = blocks.map(|block| block.words).collect();
    if lengths.is_empty() {
        return HashSet::new();
    }
    let words = words(text);
    let of_length = |length: u8| words.windows(usize::from(length).max(1)).map(block);
    lengths.into_iter().flat_map(of_length).collect()
}

fn block(words: &[u64]) -> Block {
    let hash = words.iter().fold(FNV_OFFSET, |hash, word| (hash ^ word).wrapping_mul(FNV_PRIME).rotate_left(23));
    Block { words: u8::try_from(words.len()).unwrap_or(u8::MAX), hash }
}

/// FNV-1a, 64 bit (draft-eastlake-fnv): stable across versions, as a stored hash must be.
const FNV_OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
const FNV_PRIME: u64 = 0x0000_0100_0000_01b3;

/// Hashes of the words of a text, without marks of tools.
fn words(text: &str) -> Vec<u64> {
    let mut words = Vec::with_capacity(text.len() / 6);
    let text = super::text::without_source_line(text);
    let mut rest = text;
    let mut word: Option<u64> = None;
    while let Some(first) = rest.chars().next() {
        let skipped = super::text::mark(rest);
        if skipped == 0 && first.is_alphanumeric() {
            let hash = first
                .to_lowercase()
                .fold(word.unwrap_or(FNV_OFFSET), |hash, c| (hash ^ u64::from(c)).wrapping_mul(FNV_PRIME));
            word = Some(hash);
        } else {
            words.extend(word.take());
        }
        rest = &rest[skipped.max(first.len_utf8())..];
    }
    words.extend(word);
    words
}

// Where a token stands in the table of its encoding. Part of the library, which looks tokens up, and of the build
// script, which lays the table out: both must agree.

/// The tokens of an encoding fill five eighths of the table's slots: free ones must be near, because most look-ups of a
/// count are of byte pairs that are no token.
pub(crate) const fn slots(tokens: usize) -> usize {
    tokens * 8 / 5
}

/// Bits of a slot that hold a rank, counted from one; zero is a free slot. The other bits hold the [`Place::tag`].
pub(crate) const RANK_BITS: u32 = 18;

/// Ranks between two that have their offset written down.
pub(crate) const STRIDE: usize = 16;

/// Where to begin looking for some bytes.
#[derive(Clone, Copy)]
pub(crate) struct Place {
    /// The first slot to look at; the following ones are next, up to a free one.
    pub(crate) slot: usize,
    /// What tells most other bytes apart without a look at them; in the position it has in a slot.
    pub(crate) tag: u32,
}

/// The place of some bytes in a table with so many slots.
pub(crate) fn place(bytes: &[u8], slots: usize) -> Place {
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut hash = (bytes.len() as u64).wrapping_mul(FACTOR);
    let mut words = bytes.chunks_exact(8);
    for word in &mut words {
        let word = u64::from_le_bytes([word[0], word[1], word[2], word[3], word[4], word[5], word[6], word[7]]);
        hash = (hash.rotate_left(23) ^ word).wrapping_mul(FACTOR);
    }
    let rest = words.remainder().iter().rev().fold(0, |rest, byte| (rest << 8) | u64::from(*byte));
    hash = (hash.rotate_left(23) ^ rest).wrapping_mul(FACTOR);
    hash = (hash ^ (hash >> 32)).wrapping_mul(FACTOR);
    Place { slot: (((hash >> 32) * slots as u64) >> 32) as usize, tag: ((hash as u32) >> RANK_BITS) << RANK_BITS }
}

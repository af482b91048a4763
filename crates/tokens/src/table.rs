//! The tokens of an encoding: a table that the build script lays out and that is read where it lies in the program.

use super::hash::{self, Place, RANK_BITS, STRIDE};

/// The ordinary tokens of one encoding.
#[derive(Clone, Copy)]
pub(crate) struct Table {
    slots: &'static [u8],
    offsets: &'static [u8],
    lengths: &'static [u8],
    bytes: &'static [u8],
}

pub(crate) static CL100K: Table = Table::of(include_bytes!(concat!(env!("OUT_DIR"), "/cl100k.table")), 100_256);
pub(crate) static O200K: Table = Table::of(include_bytes!(concat!(env!("OUT_DIR"), "/o200k.table")), 199_998);

impl Table {
    const fn of(table: &'static [u8], tokens: usize) -> Self {
        let (slots, rest) = table.split_at(hash::slots(tokens) * 4);
        let (offsets, rest) = rest.split_at(tokens.div_ceil(STRIDE) * 4);
        let (lengths, bytes) = rest.split_at(tokens);
        Self { slots, offsets, lengths, bytes }
    }

    /// The rank of the token with these bytes, if there is one.
    pub(crate) fn rank(&self, token: &[u8]) -> Option<u32> {
        let n_slots = self.slots.len() / 4;
        let Place { mut slot, tag } = hash::place(token, n_slots);
        loop {
            let found = word(self.slots, slot);
            let rank = (found & ((1 << RANK_BITS) - 1)).checked_sub(1)?;
            if found >> RANK_BITS == tag >> RANK_BITS && self.bytes_of(rank as usize) == token {
                return Some(rank);
            }
            slot = if slot + 1 == n_slots { 0 } else { slot + 1 };
        }
    }

    fn bytes_of(&self, rank: usize) -> &[u8] {
        let first = rank / STRIDE * STRIDE;
        let before: usize = self.lengths[first..rank].iter().map(|length| usize::from(*length)).sum();
        let start = word(self.offsets, rank / STRIDE) as usize + before;
        &self.bytes[start..start + usize::from(self.lengths[rank])]
    }
}

fn word(words: &[u8], at: usize) -> u32 {
    let bytes = &words[at * 4..at * 4 + 4];
    u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
}

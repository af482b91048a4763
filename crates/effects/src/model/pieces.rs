//! The pieces that request bodies are written into, used again and again.
//!
//! A long conversation is written anew at every turn. In a buffer of its own it would have to be asked of the system each
//! time, page by page, which takes longer than writing it.

use bytes::Bytes;
use std::{
    ops::{Deref, DerefMut},
    sync::{Mutex, PoisonError},
};

/// Bytes of one piece.
pub(super) const PIECE: usize = 64 * 1024;

/// Pieces kept at most, 1 MiB: the longest conversation, or the requests of jobs that ask at the same moment.
const KEPT: usize = 16;

static SPARE: Mutex<Vec<Vec<u8>>> = Mutex::new(Vec::new());

/// A piece of a body. It comes back when it is dropped, which is when it has been sent.
#[derive(Debug)]
pub(super) struct Piece(Vec<u8>);

impl Piece {
    /// An empty piece with room for this many bytes, and no less than [`PIECE`].
    pub(super) fn with_room(bytes: usize) -> Self {
        let spare = if bytes <= PIECE { spare().pop() } else { None };
        Self(spare.unwrap_or_else(|| Vec::with_capacity(bytes.max(PIECE))))
    }

    /// The piece as the HTTP client takes it.
    pub(super) fn into_bytes(self) -> Bytes {
        Bytes::from_owner(self)
    }
}

impl Drop for Piece {
    fn drop(&mut self) {
        // One that had to grow for a long message would stay that large.
        if self.0.capacity() != PIECE {
            return;
        }
        self.0.clear();
        let mut spare = spare();
        if spare.len() < KEPT {
            spare.push(std::mem::take(&mut self.0));
        }
    }
}

fn spare() -> std::sync::MutexGuard<'static, Vec<Vec<u8>>> {
    SPARE.lock().unwrap_or_else(PoisonError::into_inner)
}

impl AsRef<[u8]> for Piece {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl Deref for Piece {
    type Target = Vec<u8>;

    fn deref(&self) -> &Vec<u8> {
        &self.0
    }
}

impl DerefMut for Piece {
    fn deref_mut(&mut self) -> &mut Vec<u8> {
        &mut self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_piece_is_empty_and_no_larger_than_asked_for_whatever_it_was_used_for_before() {
        let mut piece = Piece::with_room(10);
        piece.extend_from_slice(b"what one job says");
        let mut grown = Piece::with_room(10);
        grown.extend_from_slice(&[b' '; 3 * PIECE]);
        drop((piece.into_bytes(), grown.into_bytes(), Piece::with_room(3 * PIECE)));
        let pieces: Vec<Piece> = (0..=KEPT).map(|_| Piece::with_room(PIECE)).collect();
        assert!(pieces.iter().all(|piece| piece.is_empty() && (PIECE..2 * PIECE).contains(&piece.capacity())));
    }

    #[test]
    fn no_more_are_kept_than_needed() {
        let pieces: Vec<Piece> = (0..2 * KEPT).map(|_| Piece::with_room(1)).collect();
        drop(pieces);
        assert!(spare().len() <= KEPT);
    }
}

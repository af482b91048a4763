//! Byte pair encoding, as far as a count needs it: of two neighbours in a piece that together are a token, those with
//! the lowest rank become one, again and again; what is left are the piece's tokens.

use super::table::Table;
use std::{cmp::Reverse, collections::BinaryHeap};

/// Pieces up to here are searched for the lowest rank anew each time, which needs no more than one small list. Of longer
/// ones, which no language has but hostile documents, that would take the square of their length.
const SHORT: usize = 100;

/// No token.
const NONE: u32 = u32::MAX;

/// Tokens of a piece.
pub(crate) fn count(table: &Table, piece: &[u8]) -> usize {
    match piece.len() {
        0 | 1 => piece.len(),
        length if length < SHORT => count_short(table, piece),
        _ => count_long(table, piece),
    }
}

fn count_short(table: &Table, piece: &[u8]) -> usize {
    // Where each part begins, and the rank of it and the next one together; then the piece's end.
    let mut parts = [(0u8, NONE); SHORT + 1];
    let mut n_parts = piece.len();
    let pair = |parts: &[(u8, u32)], at: usize, n_parts: usize| {
        let end = if at + 2 <= n_parts { usize::from(parts[at + 2].0) } else { return NONE };
        table.rank(&piece[usize::from(parts[at].0)..end]).unwrap_or(NONE)
    };
    for (at, part) in parts.iter_mut().enumerate().take(n_parts + 1) {
        part.0 = u8::try_from(at).expect("a short piece has fewer bytes than a byte can count");
    }
    for at in 0..n_parts - 1 {
        parts[at].1 = pair(&parts, at, n_parts);
    }
    loop {
        let pairs = parts[..n_parts].iter().enumerate();
        let Some((at, (_, rank))) = pairs.min_by_key(|(_, (_, rank))| *rank) else { return n_parts };
        if *rank == NONE {
            return n_parts;
        }
        parts.copy_within(at + 2..=n_parts, at + 1);
        n_parts -= 1;
        parts[at].1 = pair(&parts, at, n_parts);
        if at > 0 {
            parts[at - 1].1 = pair(&parts, at - 1, n_parts);
        }
    }
}

/// A part of a long piece; where it begins is its place in the list.
#[derive(Clone, Copy)]
struct Part {
    before: usize,
    /// Where it ends, and the next one begins.
    end: usize,
    /// Of it and the next one together.
    rank: u32,
}

fn count_long(table: &Table, piece: &[u8]) -> usize {
    let rank = |start: usize, end: usize| match piece.get(start..end) {
        Some(pair) => table.rank(pair).unwrap_or(NONE),
        None => NONE,
    };
    let mut parts: Vec<Part> =
        (0..piece.len()).map(|at| Part { before: at.saturating_sub(1), end: at + 1, rank: rank(at, at + 2) }).collect();
    let pairs = parts.iter().enumerate().filter(|(_, part)| part.rank != NONE);
    let mut lowest: BinaryHeap<Reverse<(u32, usize)>> = pairs.map(|(at, part)| Reverse((part.rank, at))).collect();
    let mut n_parts = piece.len();
    while let Some(Reverse((noted, at))) = lowest.pop() {
        // What was noted before a neighbour changed no longer holds.
        if parts[at].rank != noted {
            continue;
        }
        let next = parts[at].end;
        let end = parts[next].end;
        parts[next].rank = NONE;
        parts[at].end = end;
        n_parts -= 1;
        let behind = match parts.get_mut(end) {
            Some(part) => {
                part.before = at;
                part.end
            }
            None => usize::MAX,
        };
        let before = (at > 0).then(|| (parts[at].before, end));
        for (at, end) in before.into_iter().chain([(at, behind)]) {
            parts[at].rank = rank(at, end);
            if parts[at].rank != NONE {
                lowest.push(Reverse((parts[at].rank, at)));
            }
        }
    }
    n_parts
}

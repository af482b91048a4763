//! What of a job's last request can be sent again.
//!
//! A request begins with what the one before it said, and in a long conversation that is nearly all of it. Its full
//! pieces are kept as they were sent, and the next request is written from there on. A message never changes but by being
//! cleared, so its place in the history and that mark tell whether it is still the one that was written.

use bytes::Bytes;
use plumbline_engine::RequestMessage;
use std::sync::{
    Mutex, PoisonError,
    atomic::{AtomicUsize, Ordering::Relaxed},
};

/// Pieces from which on they are kept, 128 KiB. A shorter conversation is written anew sooner than memory is found for it
/// with a thousand others.
const WORTH_KEEPING: usize = 2;

/// Bytes that all jobs of the process keep at most. A job for which there is no room writes its requests anew.
const ROOM: usize = 32 << 20;

static TAKEN: AtomicUsize = AtomicUsize::new(0);

/// The beginning of a conversation's next request, for one job in its stay at a worker. Starts empty.
#[derive(Debug, Default)]
pub struct Prefix(Mutex<Kept>);

/// A written message, as far as it can differ from the one that the next request has in its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Written {
    seq: i64,
    cleared: bool,
}

/// Full pieces of a body.
#[derive(Debug, Default)]
pub(super) struct Kept {
    /// Bytes of the first piece that come before the messages.
    head: usize,
    pieces: Vec<Bytes>,
    /// For each piece, the messages up to its end.
    ends: Vec<usize>,
    written: Vec<Written>,
    room: Room,
}

/// What of [`ROOM`] a job has.
#[derive(Debug, Default)]
struct Room(usize);

impl Prefix {
    /// Takes out what is kept; whoever else asks meanwhile finds nothing.
    pub(super) fn take(&self) -> Kept {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Keeps this for the next request.
    pub(super) fn put(&self, kept: Kept) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = kept;
    }
}

impl Kept {
    /// What stays of it for a request with this head and these messages.
    pub(super) fn for_request<'a>(
        mut self,
        head: &[u8],
        mut messages: impl Iterator<Item = &'a RequestMessage<'a>>,
    ) -> Self {
        let same_head = self.pieces.first().is_some_and(|first| first[..self.head] == *head);
        let same = self.written.iter().take_while(|written| messages.next().and_then(Written::of) == Some(**written));
        let same = if same_head { same.count() } else { 0 };
        let pieces = self.ends.partition_point(|end| *end <= same);
        self.pieces.truncate(pieces);
        self.ends.truncate(pieces);
        self.written.truncate(self.messages());
        self
    }

    /// The pieces.
    pub(super) fn pieces(&self) -> &[Bytes] {
        &self.pieces
    }

    /// How many messages they hold.
    pub(super) fn messages(&self) -> usize {
        self.ends.last().copied().unwrap_or(0)
    }

    /// With the pieces that were filled behind them: each with the messages up to its end. `head` and `messages` are the
    /// request's. Empty where that is not worth its memory.
    pub(super) fn and<'a>(
        mut self,
        head: usize,
        filled: Vec<(Bytes, usize)>,
        messages: impl Iterator<Item = &'a RequestMessage<'a>>,
    ) -> Self {
        if self.pieces.len() + filled.len() < WORTH_KEEPING {
            return Self::default();
        }
        self.head = head;
        let (pieces, ends): (Vec<Bytes>, Vec<usize>) = filled.into_iter().unzip();
        self.pieces.extend(pieces);
        self.ends.extend(ends);
        let new = messages.take(self.messages()).skip(self.written.len());
        self.written.extend(new.map_while(Written::of));
        let bytes = self.pieces.iter().map(Bytes::len).sum();
        // A message without a place in the history, such as a todo list that comes early, is another one each time.
        if self.written.len() < self.messages() || !self.room.is_now(bytes) { Self::default() } else { self }
    }
}

impl Written {
    fn of(message: &RequestMessage<'_>) -> Option<Self> {
        match message {
            RequestMessage::Stored(message) => Some(Self { seq: message.seq, cleared: message.cleared }),
            RequestMessage::System(_) | RequestMessage::User(_) => None,
        }
    }
}

impl Room {
    /// Whether there is room for this many bytes in place of those before. What there is no room for takes none.
    fn is_now(&mut self, bytes: usize) -> bool {
        TAKEN.fetch_sub(std::mem::take(&mut self.0), Relaxed);
        let fits = |taken: usize| Some(taken + bytes).filter(|all| *all <= ROOM);
        let granted = TAKEN.fetch_update(Relaxed, Relaxed, fits).is_ok();
        if granted {
            self.0 = bytes;
        }
        granted
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        TAKEN.fetch_sub(self.0, Relaxed);
    }
}

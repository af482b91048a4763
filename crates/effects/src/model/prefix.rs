//! What of a job's last request can be sent again.
//!
//! A request begins with what the one before it said, and in a long conversation that is nearly all of it. Its
//! pieces are kept as they were sent, and the next request is written from there on. A message never changes but by being
//! cleared, so its place in the history and that mark tell whether it is still the one that was written.

use super::pieces::Piece;
use bytes::Bytes;
use plumbline_engine::RequestMessage;
use std::sync::{
    Mutex, PoisonError,
    atomic::{AtomicUsize, Ordering::Relaxed},
};

/// Pieces from which on they are kept, 128 KiB. A shorter conversation is written anew sooner than memory is found for it
/// with a thousand others.
const WORTH_KEEPING: usize = 2;

/// Bytes of memory that all jobs of the process keep at most. A job for which there is no room writes its requests anew.
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

/// A piece of a body.
#[derive(Clone, Debug)]
pub(super) struct Part {
    bytes: Bytes,
    /// Those of the request up to its end.
    messages: usize,
    /// Bytes of memory that it takes, used or not.
    memory: usize,
}

impl Part {
    /// A piece that is written, with the messages of the request up to its end.
    pub(super) fn of(piece: Piece, messages: usize) -> Self {
        let memory = piece.capacity();
        Self { bytes: piece.into_bytes(), messages, memory }
    }

    /// Its beginning, with the messages up to there. It takes as much memory as the whole.
    pub(super) fn beginning(&self, length: usize, messages: usize) -> Self {
        Self { bytes: self.bytes.slice(..length), messages, memory: self.memory }
    }

    /// What is sent.
    pub(super) fn bytes(&self) -> &Bytes {
        &self.bytes
    }
}

/// What is kept.
#[derive(Debug, Default)]
pub(super) struct Kept {
    /// Bytes of the first piece that come before the messages.
    head: usize,
    /// Full pieces, which are sent as they are.
    full: Vec<Part>,
    /// The beginning of the piece behind them, which is copied; without it nothing is kept.
    begun: Option<Bytes>,
    /// All of its messages.
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
    pub(super) fn for_request(mut self, head: &[u8], messages: &[&RequestMessage<'_>]) -> Self {
        if self.full.first().is_none_or(|first| first.bytes[..self.head] != *head) {
            return Self::default();
        }
        let pairs = self.written.iter().zip(messages);
        let same = pairs.take_while(|(written, message)| Written::of(message) == Some(**written)).count();
        if same < self.written.len() {
            self.full.truncate(self.full.partition_point(|part| part.messages <= same));
            let Some(last) = self.full.last() else { return Self::default() };
            self.written.truncate(last.messages);
            self.begun = Some(Bytes::new());
        }
        self
    }

    /// The full pieces.
    pub(super) fn full(&self) -> impl Iterator<Item = &Bytes> {
        self.full.iter().map(|part| &part.bytes)
    }

    /// What the piece behind them begins with; none if nothing is kept.
    pub(super) fn begun(&self) -> Option<&Bytes> {
        self.begun.as_ref()
    }

    /// How many messages it holds.
    pub(super) fn messages(&self) -> usize {
        self.written.len()
    }

    /// With the pieces that were filled behind it and the one that was begun. `head` and `messages` are the request's.
    /// Empty where that is not worth its memory.
    pub(super) fn and(mut self, head: usize, filled: Vec<Part>, begun: Part, messages: &[&RequestMessage<'_>]) -> Self {
        self.full.extend(filled);
        let Some(last) = self.full.last().filter(|_| self.full.len() >= WORTH_KEEPING) else {
            return Self::default();
        };
        let held = last.messages.max(begun.messages);
        self.written.extend(messages[self.written.len()..held].iter().map_while(|message| Written::of(message)));
        let memory = self.full.iter().map(|part| part.memory).sum::<usize>() + begun.memory;
        // A message without a place in the history, such as a todo list that comes early, is another one each time.
        if self.written.len() < held || !self.room.is_now(memory) {
            return Self::default();
        }
        Self { head, begun: Some(begun.bytes), ..self }
    }
}

impl Written {
    fn of(message: &RequestMessage<'_>) -> Option<Self> {
        match message {
            RequestMessage::Stored(message) => Some(Self { seq: message.seq(), cleared: message.cleared() }),
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

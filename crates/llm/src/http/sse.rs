//! Server-sent events: an answer is used only when its last event has arrived.

use crate::dialect::{Assembly, Begun, NoAnswer};
use crate::http::{Broken, Budget, Unanswered, budget::beyond_length};
use bytes::Bytes;
use futures_util::{Stream, StreamExt, stream};
use sse_stream::{Error, SseByteStream};
use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::time::Duration;
use tokio::time::timeout;

/// How long to wait for the end of a stream after its last event, so that the connection can be reused.
const LINGER: Duration = Duration::from_millis(100);

/// An answer that was read to its end.
pub(crate) struct Read {
    pub(crate) body: Result<Vec<u8>, NoAnswer>,
    /// For a stream, whether it ended with its end mark, not only by closing.
    pub(crate) has_own_end: Option<bool>,
    pub(crate) begun: Begun,
}

/// Reads events into an answer until it is complete or the stream ends, within the budget: of bytes and events in
/// total, and of memory per event and for all.
pub(crate) async fn read(
    pieces: impl Stream<Item = Result<Bytes, Broken>>,
    mut assembly: Assembly,
    budget: Budget,
) -> Result<Read, Unanswered> {
    // Since the last event, and in total.
    let (taken, came) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let counted = pieces.map(|piece| {
        let piece = piece?;
        let is_beyond = |count: &AtomicUsize, most| count.fetch_add(piece.len(), Relaxed) + piece.len() > most;
        if is_beyond(&came, budget.wire) {
            return Err(Broken::TooLarge(budget.wire));
        }
        if is_beyond(&taken, budget.kept) { Err(Broken::TooLarge(budget.kept)) } else { Ok(piece) }
    });
    // Some servers omit the blank line after the last event.
    let is_over = AtomicBool::new(false);
    let blank_line = stream::once(async {
        is_over.store(true, Relaxed);
        Ok(Bytes::from_static(b"\n\n"))
    });
    let mut events = pin!(SseByteStream::new(counted.chain(blank_line)));
    let (mut count, mut beyond) = (0, 0);
    while let Some(event) = events.next().await {
        count += 1;
        if count > budget.events {
            return Err(broken_off(Broken::TooMany(budget.events), &assembly));
        }
        let event = match event {
            Ok(event) => event,
            // A tail truncated within a character is not a last event.
            Err(Error::Utf8Parse(_)) if is_over.load(Relaxed) => break,
            Err(error) => return no_event(error, &assembly),
        };
        taken.store(0, Relaxed);
        let (name, data) = (event.event.as_deref(), event.data.as_deref().unwrap_or_default());
        beyond += beyond_length(data.as_bytes());
        if assembly.bytes() + beyond > budget.kept {
            return Err(broken_off(Broken::TooLarge(budget.kept), &assembly));
        }
        let added = match is_over.load(Relaxed) {
            true => assembly.add_last(name, data).map(|()| false),
            false => assembly.add(name, data),
        };
        match added {
            Ok(false) => {}
            Ok(true) => {
                let _ = timeout(LINGER, events.next()).await;
                break;
            }
            Err(no_answer) => return Ok(none(no_answer, &assembly)),
        }
    }
    if assembly.bytes() + beyond > budget.kept {
        return Err(broken_off(Broken::TooLarge(budget.kept), &assembly));
    }
    let (has_own_end, begun) = (Some(assembly.has_own_end()), assembly.begun());
    Ok(Read { body: assembly.into_body(), has_own_end, begun })
}

fn broken_off(broken: Broken, assembly: &Assembly) -> Unanswered {
    Unanswered { broken, begun: Some(assembly.begun()) }
}

fn none(no_answer: NoAnswer, assembly: &Assembly) -> Read {
    Read { body: Err(no_answer), has_own_end: None, begun: assembly.begun() }
}

fn no_event(error: Error, assembly: &Assembly) -> Result<Read, Unanswered> {
    let broken = match error {
        Error::Body(cause) => match cause.downcast::<Broken>() {
            Ok(broken) => *broken,
            Err(other) => Broken::Cut(other.to_string()),
        },
        error => return Ok(none(NoAnswer::Malformed(format!("its stream is none ({error})")), assembly)),
    };
    Err(broken_off(broken, assembly))
}

//! Server-sent events: the answer is used when its last event is there, and only then.

use crate::dialect::{Assembly, NoAnswer};
use crate::http::Broken;
use bytes::Bytes;
use futures_util::{Stream, StreamExt, stream};
use sse_stream::{Error, SseByteStream};
use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::time::Duration;
use tokio::time::timeout;

/// How long the end of a stream is waited for behind its last event, so that the connection can be used again.
const LINGER: Duration = Duration::from_millis(100);

/// An answer that was read to its end.
pub(crate) struct Read {
    pub(crate) body: Result<Vec<u8>, NoAnswer>,
    /// Of a stream, whether it ended by a mark of its own, not by its close alone.
    pub(crate) has_own_end: Option<bool>,
}

/// Reads events into an answer until it is whole or the stream ends. Neither an event nor what is held of all of them may
/// have more than `most` bytes.
pub(crate) async fn read(
    pieces: impl Stream<Item = Result<Bytes, Broken>>,
    mut assembly: Assembly,
    most: usize,
) -> Result<Read, Broken> {
    // Since the last event.
    let taken = AtomicUsize::new(0);
    let counted = pieces.map(|piece| {
        let piece = piece?;
        match taken.fetch_add(piece.len(), Relaxed) + piece.len() > most {
            true => Err(Broken::TooLarge(most)),
            false => Ok(piece),
        }
    });
    // Some servers leave out the blank line that makes the last event one.
    let is_over = AtomicBool::new(false);
    let blank_line = stream::once(async {
        is_over.store(true, Relaxed);
        Ok(Bytes::from_static(b"\n\n"))
    });
    let mut events = pin!(SseByteStream::new(counted.chain(blank_line)));
    while let Some(event) = events.next().await {
        let event = match event {
            Ok(event) => event,
            // What was cut inside a character is no last event.
            Err(Error::Utf8Parse(_)) if is_over.load(Relaxed) => break,
            Err(error) => return no_event(error),
        };
        taken.store(0, Relaxed);
        let (name, data) = (event.event.as_deref(), event.data.as_deref().unwrap_or_default());
        let added = match is_over.load(Relaxed) {
            true => assembly.add_last(name, data).map(|()| false),
            false => assembly.add(name, data),
        };
        match added {
            Ok(false) if assembly.bytes() > most => return Err(Broken::TooLarge(most)),
            Ok(false) => {}
            Ok(true) => {
                let _ = timeout(LINGER, events.next()).await;
                break;
            }
            Err(no_answer) => return Ok(none(no_answer)),
        }
    }
    let has_own_end = Some(assembly.has_own_end());
    Ok(Read { body: assembly.into_body(), has_own_end })
}

fn none(no_answer: NoAnswer) -> Read {
    Read { body: Err(no_answer), has_own_end: None }
}

fn no_event(error: Error) -> Result<Read, Broken> {
    match error {
        Error::Body(cause) => match cause.downcast::<Broken>() {
            Ok(broken) => Err(*broken),
            Err(other) => Err(Broken::Cut(other.to_string())),
        },
        error => Ok(none(NoAnswer::Malformed(format!("its stream is none ({error})")))),
    }
}

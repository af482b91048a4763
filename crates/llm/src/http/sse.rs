//! Server-sent events: the answer is used when its last event is there, and only then.

use crate::dialect::{Assembly, NoAnswer};
use crate::http::Broken;
use bytes::Bytes;
use futures_util::{Stream, StreamExt};
use sse_stream::{Error, SseByteStream};
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Duration;
use tokio::time::timeout;

/// How long the end of a stream is waited for behind its last event, so that the connection can be used again.
const LINGER: Duration = Duration::from_millis(100);

/// Reads events into an answer until it is whole or the stream ends. Neither an event nor what is held of all of them may
/// have more than `most` bytes.
pub(crate) async fn read(
    pieces: impl Stream<Item = Result<Bytes, Broken>>,
    mut assembly: Assembly,
    most: usize,
) -> Result<Result<Vec<u8>, NoAnswer>, Broken> {
    // Since the last event.
    let taken = AtomicUsize::new(0);
    let counted = pieces.map(|piece| {
        let piece = piece?;
        match taken.fetch_add(piece.len(), Relaxed) + piece.len() > most {
            true => Err(Broken::TooLarge(most)),
            false => Ok(piece),
        }
    });
    let mut events = pin!(SseByteStream::new(counted));
    while let Some(event) = events.next().await {
        let event = match event {
            Ok(event) => event,
            Err(error) => return no_event(error),
        };
        taken.store(0, Relaxed);
        match assembly.add(event.event.as_deref(), event.data.as_deref().unwrap_or_default()) {
            Ok(false) if assembly.bytes() > most => return Err(Broken::TooLarge(most)),
            Ok(false) => {}
            Ok(true) => {
                let _ = timeout(LINGER, events.next()).await;
                break;
            }
            Err(no_answer) => return Ok(Err(no_answer)),
        }
    }
    Ok(assembly.into_body())
}

fn no_event(error: Error) -> Result<Result<Vec<u8>, NoAnswer>, Broken> {
    match error {
        Error::Body(cause) => match cause.downcast::<Broken>() {
            Ok(broken) => Err(*broken),
            Err(other) => Err(Broken::Cut(other.to_string())),
        },
        error => Ok(Err(NoAnswer::Malformed(format!("its stream is none ({error})")))),
    }
}

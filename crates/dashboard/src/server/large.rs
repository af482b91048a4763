//! Large responses: their concurrency limit, and sending in parts. A slow client holds one part, not the whole.

use crate::pages::error::PageError;
use axum::{
    body::{Body, Bytes},
    http::StatusCode,
};
use futures_util::{StreamExt as _, stream};
use std::{io, sync::Arc};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Maximum concurrent large responses.
const AT_ONCE: usize = 16;
/// Bytes of a part, and maximum bytes of an ordinary response.
pub(crate) const PART: usize = 128 << 10;

/// The large responses in progress.
pub(crate) struct LargeAnswers(Arc<Semaphore>);

impl Default for LargeAnswers {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(AT_ONCE)))
    }
}

impl LargeAnswers {
    /// Acquires a permit, to be held until the response is sent.
    ///
    /// # Errors
    /// If there is none, with a sentence for the client.
    pub(crate) fn admit(&self) -> Result<OwnedSemaphorePermit, PageError> {
        Arc::clone(&self.0).try_acquire_owned().map_err(|_| PageError {
            status: StatusCode::SERVICE_UNAVAILABLE,
            sentence: format!("this worker is already sending {AT_ONCE} large responses; try again in a moment"),
        })
    }
}

/// A body from data in memory, sent in parts while the permit is held.
pub(crate) fn body(whole: impl Into<Bytes>, permit: OwnedSemaphorePermit) -> Body {
    let parts = stream::unfold((whole.into(), permit), |(mut rest, permit)| async move {
        let part = rest.split_to(rest.len().min(PART));
        (!part.is_empty()).then_some((Ok::<_, io::Error>(part), (rest, permit)))
    });
    Body::from_stream(parts.fuse())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn an_answer_is_whole_and_gives_its_permit_back() {
        let large = LargeAnswers::default();
        let bodies: Vec<Body> =
            (0..AT_ONCE).map(|_| body(vec![7; 3 * PART + 1], large.admit().expect("a permit"))).collect();
        let refused = large.admit().expect_err("all are taken");
        assert!(refused.status == StatusCode::SERVICE_UNAVAILABLE && refused.sentence.contains("16 large responses"));
        for body in bodies {
            let whole = axum::body::to_bytes(body, usize::MAX).await.expect("it can be read");
            assert_eq!(whole.len(), 3 * PART + 1);
        }
        assert!(large.admit().is_ok(), "what was sent holds no permit");
    }
}

//! Why the HTTP server cannot run.

/// A startup error.
#[derive(Debug, thiserror::Error)]
pub enum HttpError {
    /// The database cannot be used.
    #[error(transparent)]
    Store(#[from] plumbline_store::Error),
    /// The options contradict each other, or the machine does not permit them.
    #[error("{0}")]
    Options(String),
}

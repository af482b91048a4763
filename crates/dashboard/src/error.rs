//! Why the HTTP side cannot be served.

/// A reason not to begin.
#[derive(Debug, thiserror::Error)]
pub enum HttpError {
    /// The database cannot be used.
    #[error(transparent)]
    Store(#[from] plumbline_store::Error),
    /// The options contradict each other, or the machine does not allow what they ask for.
    #[error("{0}")]
    Options(String),
}

//! Why a worker process ends prematurely.

use plumbline_dashboard::HttpError;

/// A reason to stop the whole process; errors of one job are not among these.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The database cannot be used at all: not reachable at startup, or its schema does not match.
    #[error(transparent)]
    Store(#[from] plumbline_store::Error),
    /// The options contradict each other.
    #[error("{0}")]
    Options(String),
    /// An essential loop ended; without it the process would only appear to be alive.
    #[error("the worker's {0} stopped unexpectedly; exiting so that the supervisor restarts the process")]
    LoopEnded(&'static str),
}

impl From<HttpError> for Error {
    fn from(error: HttpError) -> Self {
        match error {
            HttpError::Store(error) => Self::Store(error),
            HttpError::Options(sentence) => Self::Options(sentence),
        }
    }
}

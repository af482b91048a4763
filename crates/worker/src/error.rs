//! Why a worker process ends early.

use plumbline_dashboard::HttpError;

/// A reason to stop the whole process; what concerns one job never gets here.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The database cannot be used at all: not reachable at the start, or its schema does not fit.
    #[error(transparent)]
    Store(#[from] plumbline_store::Error),
    /// The options contradict each other.
    #[error("{0}")]
    Options(String),
    /// A loop that everything depends on ended; a process without it would only look alive.
    #[error("the worker's {0} stopped unexpectedly; the process ends so that its supervisor starts it anew")]
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

//! Why a job's run at this worker ended without a decision of the engine.

use plumbline_store::Error as StoreError;
use plumbline_tools::{BatchError, WorkspaceError};

/// An end that the engine did not decide.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StepError {
    /// The fence refused: another claim or the user's command. Normal.
    #[error("the job is no longer this worker's")]
    LeaseLost,
    /// The database refuses permanently.
    #[error(transparent)]
    Store(StoreError),
    /// The job's rows could not be read for a tool.
    #[error("{0}")]
    Workspace(String),
    /// The engine and its driver disagree, which is a defect.
    #[error("internal error: {0}; please report it with the job's trace")]
    Internal(String),
}

impl From<StoreError> for StepError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::LeaseLost(_) => Self::LeaseLost,
            other => Self::Store(other),
        }
    }
}

/// A job whose rows could not be read may belong to another worker by now.
impl From<WorkspaceError> for StepError {
    fn from(error: WorkspaceError) -> Self {
        match error.0.downcast_ref() {
            Some(StoreError::LeaseLost(_)) => Self::LeaseLost,
            _ => Self::Workspace(error.to_string()),
        }
    }
}

/// The system's own work on documents needs no service.
impl From<BatchError> for StepError {
    fn from(error: BatchError) -> Self {
        match error {
            BatchError::Unavailable(outage) => Self::Workspace(outage.reason),
            BatchError::Workspace(error) => error.into(),
        }
    }
}

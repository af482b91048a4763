//! Errors between the engine and its driver.

/// An outcome that does not match what the run waits for. The run is unchanged.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("outcome {outcome} does not belong to a run that is at {stage}")]
pub struct Illegal {
    /// What the run waits for.
    pub stage: String,
    /// The outcome.
    pub outcome: &'static str,
}

/// Rows from which no run can be rebuilt.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the job's rows cannot be loaded: {0}")]
pub struct Corrupt(pub String);

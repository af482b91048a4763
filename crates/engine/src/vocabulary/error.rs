//! What can go wrong between the engine and its driver.

/// An outcome that does not answer what the run waits for. The run is unchanged.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("outcome {outcome} does not belong to a run that is at {stage}")]
pub struct Illegal {
    /// What the run waits for.
    pub stage: String,
    /// What came.
    pub outcome: &'static str,
}

/// Rows that no run can be rebuilt from.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the job's rows cannot be loaded: {0}")]
pub struct Corrupt(pub String);

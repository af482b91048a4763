//! The recording as a file: JSON, versioned, self-contained.

use super::{ReplayError, RequestDigest};
use plumbline_store::RecordedJob;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Version of the format that this release writes, and the newest that it reads.
pub const RECORDING_VERSION: u32 = 1;

/// A job's recording.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Recording {
    /// [`RECORDING_VERSION`] of the writer.
    pub version: u32,
    /// The release that wrote it.
    pub written_by: String,
    /// The job.
    pub job: RecordedJob,
    /// Digests of the requests by step; see [`super::add_digests`].
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub requests: BTreeMap<i64, RequestDigest>,
}

impl Recording {
    /// A recording of a job's rows.
    pub fn of(job: RecordedJob) -> Self {
        let written_by = env!("CARGO_PKG_VERSION").to_owned();
        Self { version: RECORDING_VERSION, written_by, job, requests: BTreeMap::new() }
    }

    /// Parses the output of [`Self::to_json`].
    ///
    /// # Errors
    /// [`ReplayError::Unreadable`] if it is not a recording, or one of a newer release.
    pub fn from_json(text: &[u8]) -> Result<Self, ReplayError> {
        #[derive(Deserialize)]
        struct Versioned {
            version: u32,
        }
        let unreadable = |error: serde_json::Error| {
            ReplayError::Unreadable(format!("it is not a recording written by `plumbline trace --export` ({error})"))
        };
        let Versioned { version } = serde_json::from_slice(text).map_err(unreadable)?;
        if version > RECORDING_VERSION {
            return Err(ReplayError::Unreadable(format!(
                "it has version {version}, but this release reads up to version {RECORDING_VERSION}: use a newer \
                 plumbline"
            )));
        }
        serde_json::from_slice(text).map_err(unreadable)
    }

    /// The file's text: one line for the job, then one per step, so that two recordings can be compared by line.
    ///
    /// # Panics
    /// Never: a recording has string keys and no failing serializer.
    pub fn to_json(&self) -> String {
        const STEPS: &str = "\"steps\":[]";
        let mut head = self.clone();
        let steps = std::mem::take(&mut head.job.steps);
        let steps: Vec<String> = steps.iter().map(line).collect();
        let head = line(&head);
        // The job's last key, followed only by numbers and digests. Within a text its quotes would be escaped.
        let at = head.rfind(STEPS).expect("a recording without steps has an empty list of them");
        let (before, after) = (&head[..at], &head[at + STEPS.len()..]);
        format!("{before}\"steps\":[\n{}\n]{after}\n", steps.join(",\n"))
    }
}

fn line(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("a recording has string keys and no failing serializer")
}

//! `plumbline trace JOB --export FILE`: a recording for `plumbline replay`.

use crate::{commands::replay, environment, error::Failure, output};
use plumbline_replay::add_digests;
use plumbline_store::Store;
use std::path::Path;
use uuid::Uuid;

/// Writes the recording. The job is replayed once, so that the recording also has digests of its requests; a job that
/// does not replay identically is recorded without them, with a message.
pub(super) async fn run(store: &Store, job: Uuid, path: &Path) -> Result<u8, Failure> {
    let mut recording = replay::of_job(store, job).await?;
    let replayed = add_digests(&mut recording, &environment::program()?)
        .await
        .map_err(|error| Failure::new(format!("job {job} cannot be recorded: {error}")))?;
    std::fs::write(path, recording.to_json()).map_err(|error| {
        Failure::new(format!("{} could not be written ({error}); choose another file", path.display()))
    })?;
    output::print(&format!(
        "{} steps and {} requests written to {}",
        recording.job.steps.len(),
        replayed.requests,
        path.display()
    ))?;
    if let Some(difference) = replayed.difference {
        eprintln!("plumbline: this version does not replay the job as it was recorded ({difference})");
    }
    Ok(0)
}

//! `plumbline report`: the documents of a job with its quotes marked.

use crate::{error::Failure, job_ref::JobRef, output};
use std::path::Path;

pub(crate) async fn run(job: &JobRef, file: Option<&Path>) -> Result<u8, Failure> {
    let (store, job) = job.open().await?;
    let html = plumbline_report::of_stored(&store, job).await?.ok_or_else(|| output::no_job(job))?;
    match file {
        None => output::print(String::from_utf8_lossy(&html).trim_end())?,
        Some(file) => {
            let written = std::fs::write(file, html);
            written.map_err(|error| {
                Failure::new(format!("{} could not be written ({error}); give another file", file.display()))
            })?;
            output::print(&format!("the report is in {}", file.display()))?;
        }
    }
    Ok(0)
}

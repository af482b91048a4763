//! `plumbline export`.

use crate::{environment, error::Failure, job_ref::JobRef, output};
use std::path::Path;

pub(crate) async fn run(job: &JobRef, dir: &Path) -> Result<u8, Failure> {
    let store = environment::store().await?;
    let job = job.find(&store).await?;
    if store.jobs_between(job, job).await?.is_empty() {
        return Err(output::no_job(job));
    }
    let mut files = Vec::new();
    for path in store.files_seen(job).await? {
        if let Some(content) = store.file_seen(job, &path).await? {
            files.push((path, content));
        }
    }
    let count = plumbline_mirror::export(dir, files).await.map_err(|error| Failure::new(error.to_string()))?;
    output::print(&format!("{count} files written to {}", dir.display()))?;
    Ok(0)
}

//! `plumbline export`.

use crate::{environment, failure::Failure, output};
use plumbline_worker::mirror;
use std::path::Path;
use uuid::Uuid;

pub(crate) async fn run(job: Uuid, dir: &Path) -> Result<u8, Failure> {
    let store = environment::store().await?;
    if store.job_detail(job).await?.is_none() {
        return Err(output::no_job(job));
    }
    let mut files = Vec::new();
    for row in store.file_index(job).await? {
        if let Some(content) = store.read_file(job, &row.path).await? {
            files.push((row.path, content));
        }
    }
    let count = mirror::export(dir, files).await.map_err(|error| Failure::new(error.to_string()))?;
    output::print(&format!("{count} files written to {}", dir.display()))?;
    Ok(0)
}

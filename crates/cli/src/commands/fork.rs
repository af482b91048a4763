//! `plumbline fork`: a new job that continues from a checkpoint of another.

use crate::{error::Failure, job_ref::JobRef, output};

pub(crate) async fn run(job: &JobRef, step: i64, new_config: bool) -> Result<u8, Failure> {
    let (store, job) = job.open().await?;
    let forked =
        if new_config { store.fork_with_new_settings(job, step).await? } else { store.fork(job, step).await? };
    output::print(&forked.to_string())?;
    Ok(0)
}

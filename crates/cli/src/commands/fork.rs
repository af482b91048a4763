//! `plumbline fork`: a new job that continues from a checkpoint of another.

use crate::{environment, failure::Failure, output};
use uuid::Uuid;

pub(crate) async fn run(job: Uuid, step: i64) -> Result<u8, Failure> {
    let forked = environment::store().await?.fork(job, step).await?;
    output::print(&forked.to_string())?;
    Ok(0)
}

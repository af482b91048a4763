//! `plumbline cancel|pause|resume|retry|approve`: the SQL functions of the same meaning.

use crate::{environment, failure::Failure, output};
use plumbline_store::Command;
use uuid::Uuid;

pub(crate) async fn run(job: Uuid, command: Command) -> Result<u8, Failure> {
    let status = environment::store().await?.command(job, &command).await?;
    output::print(&format!("job {job} is {status}"))?;
    Ok(0)
}

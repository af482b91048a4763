//! `plumbline cancel|pause|resume|retry|approve`: the SQL functions of the same meaning. Words given along are feedback
//! of the job, as `send_feedback` takes it: the agent reads them before it goes on, whenever that is.

use crate::{arguments::ControlArguments, environment, failure::Failure, output};
use plumbline_store::{Command, Store};
use uuid::Uuid;

/// Words to a cancelled job are read if it is retried; they are sent first, because an ended job takes none.
pub(crate) async fn cancel(ControlArguments { job, feedback }: ControlArguments) -> Result<u8, Failure> {
    let store = environment::store().await?;
    if let Some(words) = feedback {
        store.send_feedback(job, &words).await?;
    }
    tell(job, &store.command(job, &Command::Cancel).await?)
}

pub(crate) async fn pause(arguments: ControlArguments) -> Result<u8, Failure> {
    change_and_send(arguments, &Command::Pause).await
}

pub(crate) async fn resume(ControlArguments { job, feedback }: ControlArguments) -> Result<u8, Failure> {
    tell(job, &environment::store().await?.command(job, &Command::Resume { feedback }).await?)
}

pub(crate) async fn retry(arguments: ControlArguments) -> Result<u8, Failure> {
    change_and_send(arguments, &Command::Retry).await
}

pub(crate) async fn approve(ControlArguments { job, feedback }: ControlArguments) -> Result<u8, Failure> {
    if feedback.is_some() {
        return Err(Failure::usage(format!(
            "approve completes job {job}, and a completed job reads no feedback; `plumbline resume {job} --feedback …` \
             sends it back to work with it"
        )));
    }
    tell(job, &environment::store().await?.command(job, &Command::Approve).await?)
}

async fn change_and_send(
    ControlArguments { job, feedback }: ControlArguments,
    command: &Command,
) -> Result<u8, Failure> {
    let store: Store = environment::store().await?;
    let mut status = store.command(job, command).await?;
    if let Some(words) = feedback {
        status = store.send_feedback(job, &words).await?;
    }
    tell(job, &status)
}

fn tell(job: Uuid, status: &str) -> Result<u8, Failure> {
    output::print(&format!("job {job} is {status}"))?;
    Ok(0)
}

//! `plumbline cancel|pause|resume|retry|approve|feedback`: the SQL functions with the same meaning. A message is
//! feedback for the job, as with `send_feedback`: the agent reads it before it continues.

use crate::{
    arguments::{ApproveArguments, ControlArguments, FeedbackArguments, ResumeArguments, RetryArguments},
    environment,
    error::Failure,
    output,
};
use plumbline_store::{Command, Store};
use serde_json::{Map, Value};
use uuid::Uuid;

/// A message to a cancelled job is read if it is retried.
pub(crate) async fn cancel(ControlArguments { job, feedback }: ControlArguments) -> Result<u8, Failure> {
    let (store, job) = job.open().await?;
    change(&store, job, feedback.as_deref(), &Command::Cancel).await
}

pub(crate) async fn pause(ControlArguments { job, feedback }: ControlArguments) -> Result<u8, Failure> {
    let (store, job) = job.open().await?;
    change(&store, job, feedback.as_deref(), &Command::Pause).await
}

pub(crate) async fn resume(arguments: ResumeArguments) -> Result<u8, Failure> {
    let limits = limits(&arguments);
    let ControlArguments { job, feedback } = arguments.control;
    let (store, job) = job.open().await?;
    tell(job, &store.command(job, &Command::Resume { feedback, limits }).await?)
}

/// The given limits, by their configuration keys; the database validates them.
fn limits(arguments: &ResumeArguments) -> Option<Value> {
    let ResumeArguments { control: _, cost_budget, token_budget, max_iterations, deadline } = arguments;
    let given = [
        ("cost_budget_usd", cost_budget.map(Value::from)),
        ("token_budget", token_budget.map(Value::from)),
        ("max_iterations", max_iterations.map(Value::from)),
        ("deadline_s", deadline.map(Value::from)),
    ];
    let limits: Map<String, Value> =
        given.into_iter().filter_map(|(limit, value)| Some((limit.to_owned(), value?))).collect();
    (!limits.is_empty()).then_some(Value::Object(limits))
}

/// One job, or each that failed since a time. If another session has already retried one of those, it is reported and
/// skipped.
pub(crate) async fn retry(arguments: RetryArguments) -> Result<u8, Failure> {
    let store = environment::store().await?;
    let RetryArguments { job, failed_since, job_type, feedback } = arguments;
    if let Some(job) = job {
        return change(&store, job.find(&store).await?, feedback.as_deref(), &Command::Retry).await;
    }
    let since = failed_since.ok_or_else(|| Failure::usage("name a job, or a time with --failed-since"))?;
    let failed = store.failed_since(since, job_type.as_deref()).await?;
    if failed.is_empty() {
        output::print(&format!("no job has failed since {}", since.format("%Y-%m-%d %H:%M:%S UTC")))?;
    }
    for job in failed {
        match change(&store, job, feedback.as_deref(), &Command::Retry).await {
            Ok(_) => {}
            Err(failure) if failure.is_refusal() => eprintln!("plumbline: warning: {failure}"),
            Err(failure) => return Err(failure),
        }
    }
    Ok(0)
}

pub(crate) async fn approve(ApproveArguments { job, feedback }: ApproveArguments) -> Result<u8, Failure> {
    if feedback.is_some() {
        return Err(Failure::usage(format!(
            "approve completes job {job}, and a completed job reads no feedback; `plumbline feedback {job} TEXT` \
             sends it back to work with it; a login that may resume jobs can also use `plumbline resume {job} \
             --feedback TEXT`"
        )));
    }
    let (store, job) = job.open().await?;
    tell(job, &store.command(job, &Command::Approve).await?)
}

/// A job in review goes back to work with the message; any other active job reads it at its next step.
pub(crate) async fn feedback(FeedbackArguments { job, text }: FeedbackArguments) -> Result<u8, Failure> {
    let (store, job) = job.open().await?;
    tell(job, &store.send_feedback(job, &text).await?)
}

async fn change(store: &Store, job: Uuid, feedback: Option<&str>, command: &Command) -> Result<u8, Failure> {
    let status = match feedback {
        None => store.command(job, command).await?,
        Some(words) => store.command_with_feedback(job, command, words).await?,
    };
    tell(job, &status)
}

fn tell(job: Uuid, status: &str) -> Result<u8, Failure> {
    output::print(&format!("job {job} is {status}"))?;
    Ok(0)
}

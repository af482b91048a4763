//! `context.previous_job_id`: whether a job may build on the one that it names.

use plumbline_store::backoff::retry_transient;
use plumbline_store::{Error, PreviousStatus, Store};
use serde_json::Value;
use uuid::Uuid;

/// The key of a job's context.
const KEY: &str = "previous_job_id";

/// The completed job that a context names, if it names one; otherwise the sentence for the job's error.
pub(crate) async fn of(store: &Store, job_id: Uuid, context: &Value) -> Result<Result<Option<Uuid>, String>, Error> {
    let Some(named) = context.get(KEY) else { return Ok(Ok(None)) };
    // In no other spelling: rows that compare the text find it.
    let spelled = |id: &str| Uuid::try_parse(id).ok().filter(|parsed| parsed.to_string() == id);
    let Some(previous) = named.as_str().and_then(spelled) else {
        return Ok(Err(format!(
            "context.{KEY} is {named}, which is no job's id as jobs.id shows it; name a completed job, or leave it out"
        )));
    };
    let found = retry_transient(|| store.previous_status(job_id, previous)).await?;
    let wrong = match &found {
        None => "does not exist; name another, or leave it out",
        Some(PreviousStatus { is_own: false, .. }) => "is a job of another login; name one of your own",
        Some(PreviousStatus { status, .. }) if status != "completed" => {
            return Ok(Err(format!(
                "context.{KEY} names job {previous}, which is {status}; name a completed one, or enqueue this job again once it is"
            )));
        }
        Some(_) => return Ok(Ok(Some(previous))),
    };
    Ok(Err(format!("context.{KEY} names job {previous}, which {wrong}")))
}

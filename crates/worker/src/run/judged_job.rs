//! `context.parent_job_id` of a validator: whether there is the job whose requirements it is to judge.

use plumbline_config::Tools;
use plumbline_store::backoff::retry_transient;
use plumbline_store::{Error, Store};
use serde_json::Value;
use uuid::Uuid;

/// The key of a job's context.
const KEY: &str = "parent_job_id";
/// The tool of validators.
const JUDGES: &str = "next_requirement";

/// Why a validator cannot judge the job that its context names, as the sentence for its error. Without this check an
/// id with a typing error would mean the requirements of all jobs, and one of no job would mean none. For other jobs the
/// key is free data.
pub(crate) async fn wrong(
    store: &Store,
    job_id: Uuid,
    context: &Value,
    tools: &Tools,
) -> Result<Option<String>, Error> {
    let named = context.get(KEY).filter(|named| !named.is_null());
    let Some(named) = named.filter(|_| tools.all().any(|tool| tool == JUDGES)) else { return Ok(None) };
    // The form that the database's `validation_scope` reads.
    let hyphenated = |id: &str| Uuid::try_parse(id).ok().filter(|_| id.len() == 36);
    let Some(judged) = named.as_str().and_then(hyphenated) else {
        return Ok(Some(format!(
            "context.{KEY} is {named}, which is no job's id as jobs.id shows it; name the job to judge, or leave it out \
             to judge all"
        )));
    };
    let what = match retry_transient(|| store.previous_status(job_id, judged)).await? {
        None => "does not exist; name another, or leave it out to judge all",
        Some(found) if !found.is_own => "is a job of another login; name one of your own",
        Some(_) => return Ok(None),
    };
    Ok(Some(format!("context.{KEY} names job {judged}, which {what}")))
}

//! `plumbline enqueue`.

use super::documents;
use crate::{arguments::EnqueueArguments, environment, error::Failure, output, terminal::printable};
use plumbline_store::{NewJob, Store};
use serde_json::Value;
use uuid::Uuid;

pub(crate) async fn run(arguments: EnqueueArguments) -> Result<u8, Failure> {
    let mut job = NewJob::new(arguments.prompt);
    job.priority = arguments.priority;
    job.run_at = arguments.run_at;
    job.idempotency_key = arguments.key;
    if let Some(context) = &arguments.context {
        job.context = read_object("--context", "{\"customer\": \"ACME\"}", context)?;
    }
    if let Some(config) = &arguments.config {
        job.config = read_object("--config", "{\"limits\": {\"max_iterations\": 60}}", config)?;
    }
    documents::attach(&mut job, &arguments.documents)?;
    let store = environment::store().await?;
    job.job_type = match arguments.job_type.or_else(environment::default_job_type) {
        Some(job_type) => job_type,
        None => store.default_job_type().await?,
    };
    let id = insert(&store, &job).await?;
    warn_of_unknown(&store, &job.job_type).await?;
    output::print(&id.to_string())?;
    Ok(0)
}

/// Inserts the job.
pub(crate) async fn insert(store: &Store, job: &NewJob) -> Result<Uuid, Failure> {
    Ok(store.enqueue(job).await?)
}

fn read_object(flag: &str, example: &str, text: &str) -> Result<Value, Failure> {
    match serde_json::from_str(text) {
        Ok(Value::Object(map)) => Ok(Value::Object(map)),
        Ok(_) => Err(Failure::usage(format!("{flag} must be a JSON object such as '{example}'"))),
        Err(error) => Err(Failure::usage(format!("{flag} is not valid JSON ({error}); quote it for your shell"))),
    }
}

/// Warns if no live worker will claim the job. Without live workers, warns if the command's own configurations do not
/// know the type. A login that may not read workers gets no warning.
async fn warn_of_unknown(store: &Store, job_type: &str) -> Result<(), Failure> {
    let lease = u32::try_from(environment::timing()?.lease.as_secs()).unwrap_or(u32::MAX);
    let Ok(workers) = store.workers_knowing(job_type, lease).await else { return Ok(()) };
    if let (0, Some(reason)) = (workers.knowing, &workers.broken) {
        eprintln!(
            "plumbline: warning: the job waits until its type's configuration is fixed: {}",
            printable(reason, false)
        );
        return Ok(());
    }
    let known_here = || environment::configs().is_ok_and(|configs| configs.job_types().contains(&job_type));
    if workers.knowing == 0 && (workers.live > 0 || !known_here()) {
        let shown = printable(job_type, false);
        eprintln!(
            "plumbline: warning: no live worker knows the job type `{shown}`; the job waits for one that does (see \
             PLUMBLINE_UNKNOWN_TYPE_SECS)"
        );
    }
    Ok(())
}

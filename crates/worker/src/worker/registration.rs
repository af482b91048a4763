//! This worker's row in `workers`: what others, and the sweep, know of it.

use crate::{clock, context::Context};
use plumbline_store::NewWorker;

/// Writes the row, and asks for the time; again when somebody has swept the row away.
pub(super) async fn write(context: &Context) -> Result<(), plumbline_store::Error> {
    clock::set(&context.store).await?;
    context
        .store
        .register_worker(&NewWorker {
            id: context.worker_id,
            hostname: hostname(),
            version: env!("CARGO_PKG_VERSION").into(),
            concurrency: i32::try_from(context.options.concurrency).unwrap_or(i32::MAX),
            job_types: known_job_types(context),
        })
        .await
}

/// The job types that this worker has a configuration for and is asked to run: what others may leave to it.
fn known_job_types(context: &Context) -> Vec<String> {
    let asked = context.options.job_types.as_deref();
    let known = context.configs.job_types().into_iter().map(str::to_owned);
    known.filter(|known| asked.is_none_or(|asked| asked.contains(known))).collect()
}

fn hostname() -> String {
    let known = std::env::var("HOSTNAME").ok().filter(|name| !name.is_empty());
    known
        .or_else(|| std::fs::read_to_string("/etc/hostname").ok().map(|name| name.trim().to_string()))
        .unwrap_or_else(|| "unknown".into())
}

//! This worker's row in `workers`: what others, and the sweep, know of it.

use crate::{app::App, clock};
use plumbline_store::NewWorker;
use serde_json::Value;

/// Writes the row, and asks for the time; again when somebody has swept the row away.
pub(crate) async fn write(app: &App) -> Result<(), plumbline_store::Error> {
    clock::sync(&app.store).await?;
    app.store
        .register_worker(&NewWorker {
            id: app.worker_id,
            hostname: hostname(),
            version: env!("CARGO_PKG_VERSION").into(),
            concurrency: i32::try_from(app.options.concurrency).unwrap_or(i32::MAX),
            limits_ceilings: limits_ceilings(app),
            job_types: known_job_types(app),
        })
        .await
}

/// The job types that this worker has a configuration for and is asked to run: those it claims. Jobs of others wait for a
/// worker that knows them.
pub(super) fn known_job_types(app: &App) -> Vec<String> {
    let asked = app.options.job_types.as_deref();
    let configs = app.live.now();
    let known = configs.job_types().into_iter().map(str::to_owned);
    known.filter(|known| asked.is_none_or(|asked| asked.contains(known))).collect()
}

/// The ceilings of those types that have one, so that `resume_job` can refuse at once.
fn limits_ceilings(app: &App) -> Value {
    let env = &app.options.model_env;
    let of = |job_type: String| (app.live.now().limits_ceiling(&job_type, env), job_type);
    let known = known_job_types(app).into_iter().map(of);
    let set = known.filter(|(ceiling, _)| ceiling.as_object().is_some_and(|keys| !keys.is_empty()));
    Value::Object(set.map(|(ceiling, job_type)| (job_type, ceiling)).collect())
}

fn hostname() -> String {
    let known = std::env::var("HOSTNAME").ok().filter(|name| !name.is_empty());
    known
        .or_else(|| std::fs::read_to_string("/etc/hostname").ok().map(|name| name.trim().to_string()))
        .unwrap_or_else(|| "unknown".into())
}

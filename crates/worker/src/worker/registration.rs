//! This worker's row in `workers`, read by others and by the sweep.

use crate::{app::App, clock, served::Served};
use plumbline_config::ModelEnv;
use plumbline_store::NewWorker;
use serde_json::{Value, json};

/// Writes the row and queries the time; registers again if the row was swept.
pub(crate) async fn write(app: &App) -> Result<(), plumbline_store::Error> {
    clock::sync(&app.store).await?;
    let served = app.live.now();
    app.store
        .register_worker(&NewWorker {
            id: app.worker_id,
            hostname: hostname(),
            version: env!("CARGO_PKG_VERSION").into(),
            concurrency: i32::try_from(app.options.concurrency).unwrap_or(i32::MAX),
            limits_ceilings: limits_ceilings(&served, &app.options.model_env),
            job_types: served.job_types.clone(),
            broken_types: served.broken.iter().map(|(name, reason)| (name.clone(), json!(reason))).collect(),
        })
        .await
}

/// The ceilings of the types that have one, so that `resume_job` can refuse at once.
fn limits_ceilings(served: &Served, env: &ModelEnv) -> Value {
    let of = |job_type: &String| (job_type.clone(), served.configs.limits_ceiling(job_type, env));
    let known = served.job_types.iter().map(of);
    let set = known.filter(|(_, ceiling)| ceiling.as_object().is_some_and(|keys| !keys.is_empty()));
    Value::Object(set.collect())
}

fn hostname() -> String {
    let known = std::env::var("HOSTNAME").ok().filter(|name| !name.is_empty());
    known
        .or_else(|| std::fs::read_to_string("/etc/hostname").ok().map(|name| name.trim().to_string()))
        .unwrap_or_else(|| "unknown".into())
}

//! Jobs of a type that no live worker knows. No worker can claim them, so they stay `pending`; each sweep sets their
//! `status_reason`, and fails those that have waited longer than the operator permits.

use super::Worker;
use crate::app::App;
use plumbline_config::ModelEnv;
use plumbline_engine::JobError;
use plumbline_store::Error;
use serde_json::json;
use std::time::Duration;
use tracing::warn;

impl Worker {
    /// Checks all of them once.
    pub(super) async fn look_for_unknown_types(&self) -> Result<(), Error> {
        let (store, timing) = (&self.app.store, &self.app.options.timing);
        let lease_secs = u32::try_from(timing.lease.as_secs()).unwrap_or(u32::MAX);
        let patience = (!timing.unknown_type.is_zero()).then_some(timing.unknown_type);
        let Some(patience) = patience.filter(|_| self.heartbeat.lease_is_valid()) else {
            return store.note_unknown_types(lease_secs, None).await.map(drop);
        };
        if !store.note_unknown_types(lease_secs, Some(patience)).await? {
            return Ok(());
        }
        for job in store.take_unknown(self.app.worker_id, patience, lease_secs).await? {
            warn!(job.id = %job.lease.job_id, job.r#type = job.job_type, "job failed: no live worker knows its job type");
            let error = JobError::new("configuration", sentence(&self.app, &job.job_type, patience));
            match store.reject(&job.lease, &error.with("stage", "start")).await {
                Ok(()) | Err(Error::LeaseLost(_)) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

/// The configurations' statement about an unknown type, and how long the job waited for it.
fn sentence(app: &App, job_type: &str, patience: Duration) -> String {
    let shown: String = job_type.chars().take(200).collect();
    let waited = format!(
        "no live worker has known the job type `{shown}` for {} s (PLUMBLINE_UNKNOWN_TYPE_SECS)",
        patience.as_secs()
    );
    let configs = app.live.now().configs.clone();
    match configs.show(job_type, &json!({}), &ModelEnv::default()) {
        Err(unknown) if !configs.job_types().contains(&job_type) => format!("{waited}: {unknown}"),
        _ => format!("{waited}; start a worker that may run it, then run the job again with retry_job"),
    }
}

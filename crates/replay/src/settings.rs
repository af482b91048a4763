//! The settings that each step of a job had: a retry takes the present tools, so its steps have other ones than those
//! before.

use super::ReplayError;
use plumbline_config::Resolved;
use plumbline_engine::Settings;
use plumbline_job_setup::engine_settings;
use plumbline_store::RecordedJob;
use serde_json::Value;
use std::{fmt::Display, sync::Arc};

/// The settings of the engine by steps.
pub(crate) struct SettingsBySteps {
    /// Those that a retry replaced, each with its last step, in order.
    replaced: Vec<(i64, Arc<Settings>)>,
    last: Arc<Settings>,
}

impl SettingsBySteps {
    /// Those that the job had; `resolved` is its configuration in the end.
    pub(crate) fn of_job(job: &RecordedJob, resolved: &Resolved) -> Result<Self, ReplayError> {
        let replaced = job.replaced_settings.iter().map(|replaced| {
            let resolved = of_job(job, &replaced.resolved)?;
            Ok((replaced.until_step, of_engine(job, &resolved)?))
        });
        Ok(Self { replaced: replaced.collect::<Result<_, ReplayError>>()?, last: of_engine(job, resolved)? })
    }

    /// The same for all steps.
    pub(crate) fn of_all_steps(job: &RecordedJob, resolved: &Resolved) -> Result<Self, ReplayError> {
        Ok(Self { replaced: Vec::new(), last: of_engine(job, resolved)? })
    }

    /// Those of a step.
    pub(crate) fn of(&self, step: i64) -> Arc<Settings> {
        let replaced = self.replaced.iter().find(|(until, _)| step <= *until);
        replaced.map_or(&self.last, |(_, settings)| settings).clone()
    }
}

/// A configuration that was stored with the job, with the limits of its row.
pub(crate) fn of_job(job: &RecordedJob, stored: &Value) -> Result<Resolved, ReplayError> {
    let resolved = Resolved::from_stored(stored).and_then(|resolved| resolved.with_limits_of(&job.config));
    raised(job, resolved.map_err(unreadable)?)
}

/// A configuration with the limits that were given to `resume_job`.
pub(crate) fn raised(job: &RecordedJob, resolved: Resolved) -> Result<Resolved, ReplayError> {
    let limits = job.raised_limits.as_ref().unwrap_or(&Value::Null);
    resolved.with_raised_limits(limits, &Value::Null).map_err(unreadable)
}

fn of_engine(job: &RecordedJob, resolved: &Resolved) -> Result<Arc<Settings>, ReplayError> {
    let mut settings = engine_settings(resolved, &[]).map_err(unreadable)?;
    // The operator may have added tools between claims: the rows name them. A call that was refused has no row.
    settings.approval.asks_for.extend(job.approvals.iter().map(|row| row.approval.tool.clone()));
    Ok(Arc::new(settings))
}

fn unreadable(error: impl Display) -> ReplayError {
    ReplayError::Unreadable(error.to_string())
}

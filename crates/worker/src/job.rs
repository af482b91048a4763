//! One claimed job, from claim to leave.

use crate::{
    config::Resolved,
    context::Context,
    mirror_feed::MirrorFeed,
    signal::{Listener, Signal},
    step::{End, Stepper, Trouble},
};
use plumbline_effects::tokens;
use plumbline_engine::{JobError, Leave, Run, Settings};
use plumbline_store::{ClaimedJob, ReleaseReason};
use serde_json::Value;
use std::sync::Arc;
use tracing::{error, info, warn};

/// Runs a claimed job until it leaves this worker. Never fails: whatever goes wrong concerns this job alone.
pub(crate) async fn run(context: Arc<Context>, claimed: ClaimedJob, signal: Listener) {
    info!(job.id = %claimed.id, job.r#type = claimed.job_type, job.attempt = claimed.attempt, step = claimed.step, "job claimed");
    let end = tokio::select! {
        end = stay(&context, &claimed, signal.clone()) => end,
        () = signal.at_least(Signal::Abandon) => abandoned(&context, &claimed, &signal).await,
    };
    match end {
        Ok(End::Left(leave)) => log_leave(&claimed, &leave),
        Ok(End::Released) => info!(job.id = %claimed.id, "job released"),
        Err(Trouble::LeaseLost) => info!(job.id = %claimed.id, "job dropped: it is no longer this worker's"),
        Err(trouble) => give_up(&context, &claimed, &trouble).await,
    }
}

/// The effect in flight was dropped; nothing of it is stored.
async fn abandoned(context: &Context, claimed: &ClaimedJob, signal: &Listener) -> Result<End, Trouble> {
    if signal.now() == Signal::Lost {
        return Err(Trouble::LeaseLost);
    }
    context.store.release(&claimed.lease(), ReleaseReason::Abandoned).await?;
    Ok(End::Released)
}

async fn stay(context: &Context, claimed: &ClaimedJob, signal: Listener) -> Result<End, Trouble> {
    let (resolved, stored) = match settings_of(context, claimed).await? {
        Ok(found) => found,
        Err(reason) => return refuse(context, claimed, JobError::new("configuration", reason)).await,
    };
    let settings = match engine_settings(&resolved) {
        Ok(settings) => settings,
        Err(reason) => return refuse(context, claimed, JobError::new("configuration", reason)).await,
    };
    let loaded = context.store.load(&claimed.lease()).await?;
    let step = loaded.facts.step;
    let run = match Run::load(loaded.into_snapshot(settings)) {
        Ok(run) => run,
        Err(corrupt) => return refuse(context, claimed, JobError::new("corrupt", corrupt.to_string())).await,
    };
    let mirror = MirrorFeed::start(context, claimed);
    let mut stepper = Stepper {
        context,
        claimed,
        lease: claimed.lease(),
        resolved,
        new_settings: (!claimed.has_settings).then_some(stored),
        run,
        step,
        changes: Vec::new(),
        mirror,
        signal,
    };
    let end = stepper.drive().await;
    stepper.mirror.finish().await;
    end
}

/// The stored configuration, or a freshly resolved one. The inner error is the user's to mend.
async fn settings_of(context: &Context, claimed: &ClaimedJob) -> Result<Result<(Resolved, Value), String>, Trouble> {
    let stored = if claimed.has_settings { context.store.settings(claimed.id).await? } else { None };
    let resolved = match &stored {
        Some(stored) => Resolved::from_stored(stored)
            .map(|resolved| resolved.with_endpoint_of(&context.options.model_env))
            .and_then(|resolved| resolved.with_limits_of(&claimed.config)),
        None => context.configs.resolve(&claimed.job_type, &claimed.config, &context.options.model_env),
    };
    Ok(resolved.map_err(|error| error.to_string()).map(|resolved| {
        let value = stored.unwrap_or_else(|| resolved.to_stored());
        (resolved, value)
    }))
}

fn engine_settings(resolved: &Resolved) -> Result<Settings, String> {
    let mut catalog = plumbline_engine::tools::specs();
    catalog.extend(plumbline_effects::tools::catalog());
    let model = resolved.config.llm.model.clone().unwrap_or_default();
    let encoder = tokens::encoder_for(&model);
    resolved.settings(catalog, Arc::new(move |text| encoder.count(text))).map_err(|error| error.to_string())
}

async fn refuse(context: &Context, claimed: &ClaimedJob, error: JobError) -> Result<End, Trouble> {
    context.store.reject(&claimed.lease(), &error).await?;
    Ok(End::Left(Leave::Failed(error)))
}

fn log_leave(claimed: &ClaimedJob, leave: &Leave) {
    let id = claimed.id;
    match leave {
        Leave::Completed { .. } => info!(job.id = %id, "job completed"),
        Leave::Review { reason, .. } => info!(job.id = %id, reason, "job in review"),
        Leave::Paused { reason } => warn!(job.id = %id, reason, "job paused"),
        Leave::Parked { until, reason } => warn!(job.id = %id, %until, reason, "job parked"),
        Leave::Failed(error) => warn!(job.id = %id, error = error.message, "job failed"),
    }
}

/// Trouble that no retry at this worker mends: the job fails with the reason, if the database takes it; if not, the
/// job is given back or swept later.
async fn give_up(context: &Context, claimed: &ClaimedJob, trouble: &Trouble) {
    error!(job.id = %claimed.id, error = %trouble, "job stopped by trouble");
    let transient = matches!(trouble, Trouble::Store(error) if error.is_transient());
    let given_back = if transient {
        context.store.release(&claimed.lease(), ReleaseReason::Orphaned).await
    } else {
        context.store.reject(&claimed.lease(), &JobError::new("internal", trouble.to_string())).await
    };
    if let Err(error) = given_back {
        warn!(job.id = %claimed.id, %error, "job could not be given back; it is taken back once its lease ends");
    }
}

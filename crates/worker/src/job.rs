//! One claimed job, from claim to leave.

use crate::{
    config::Resolved,
    context::Context,
    inbox::Inbox,
    intake,
    known_lines::KnownLines,
    mirror_feed::MirrorFeed,
    patience::patiently,
    profiles::{Profile, Unusable},
    signal::{Listener, Signal},
    step::{End, Stepper, Trouble},
    telemetry::spans,
};
use plumbline_effects::{model::Prefix, tokens};
use plumbline_engine::{JobError, Leave, Run, Settings};
use plumbline_store::{
    ClaimedJob, JobInput, LoadedJob, Oversized, ReleaseReason,
    fail_points::{Point, part, reach},
};
use serde_json::Value;
use std::sync::Arc;
use tracing::{Instrument, error, info, warn};

/// Runs a claimed job until it leaves this worker. Never fails: whatever goes wrong concerns this job alone.
pub(crate) async fn run(context: Arc<Context>, claimed: ClaimedJob, signal: Listener) {
    info!(job.id = %claimed.id, job.r#type = claimed.job_type, job.attempt = claimed.attempt, step = claimed.step, "job claimed");
    let end = tokio::select! {
        end = stay(&context, &claimed, signal.clone()).instrument(spans::claim(&claimed, context.worker_id)) => end,
        () = signal.at_least(Signal::Abandon) => Box::pin(abandoned(&context, &claimed, &signal)).await,
    };
    match end {
        Ok(End::Left(leave)) => log_leave(&claimed, &leave),
        Ok(End::Released) => info!(job.id = %claimed.id, "job released"),
        Err(Trouble::LeaseLost) => info!(job.id = %claimed.id, "job dropped: it is no longer this worker's"),
        Err(trouble) => tokio::select! {
            () = Box::pin(give_up(&context, &claimed, &trouble)) => {}
            () = signal.at_least(Signal::Lost) => {}
        },
    }
}

/// The effect in flight was dropped; nothing of it is stored.
async fn abandoned(context: &Context, claimed: &ClaimedJob, signal: &Listener) -> Result<End, Trouble> {
    if signal.now() == Signal::Lost {
        return Err(Trouble::LeaseLost);
    }
    reach(Point::Releasing, "abandoned").await?;
    let lease = claimed.lease();
    let given_back = patiently(|| context.store.release(&lease, ReleaseReason::Abandoned));
    tokio::select! {
        given_back = given_back => given_back?,
        () = signal.at_least(Signal::Lost) => return Err(Trouble::LeaseLost),
    }
    Ok(End::Released)
}

async fn stay(context: &Context, claimed: &ClaimedJob, signal: Listener) -> Result<End, Trouble> {
    reach(Point::Claimed, "claim").await?;
    let input = match Box::pin(patiently(|| context.store.job_input(claimed.id))).await? {
        None => return Err(Trouble::LeaseLost),
        Some(Err(oversized)) => return Box::pin(refuse(context, claimed, too_large(oversized))).await,
        Some(Ok(input)) => input,
    };
    if let Some(error) = unreadable(&input) {
        return Box::pin(refuse(context, claimed, error)).await;
    }
    let profile = match Box::pin(profile_of(context, claimed, &input.config)).await? {
        Ok(found) => found,
        Err(_) if Box::pin(left_to_another(context, claimed)).await? => return Ok(End::Released),
        Err(reason) => return Box::pin(refuse(context, claimed, misconfigured(reason))).await,
    };
    let lease = claimed.lease();
    let loaded = match LoadedJob::new(claimed, &input) {
        Some(new) => new,
        None => Box::pin(patiently(|| context.store.load(&lease))).await?,
    };
    let step = loaded.facts.step;
    let run = match Run::load(loaded.into_snapshot(profile.settings.clone())) {
        Ok(run) => run,
        Err(corrupt) => {
            return Box::pin(refuse(
                context,
                claimed,
                JobError::new("corrupt", corrupt.to_string()).with("stage", "start"),
            ))
            .await;
        }
    };
    reach(Point::Loaded, part(run.state())).await?;
    let mirror = MirrorFeed::start(context, claimed);
    let mut stepper = Stepper {
        span: spans::Step::begin(claimed.id, step + 1, run.state().phase.kind),
        context,
        claimed,
        input: &input,
        lease,
        profile,
        stores_settings: !claimed.has_settings,
        run,
        step,
        start: None,
        changes: Vec::new(),
        prefix: Prefix::default(),
        mirror,
        inbox: Inbox::new(claimed.id),
        signal,
    };
    let end = stepper.drive().await;
    Box::pin(stepper.mirror.finish(end.is_ok())).await;
    end
}

/// What the user wrote and no worker can read. It says which column, and what to do about it.
fn unreadable(input: &JobInput) -> Option<JobError> {
    let columns = [("context", "input", &input.context), ("config", "configuration", &input.config)];
    columns.into_iter().find_map(|(column, kind, given)| {
        let reason = given.unreadable()?;
        let error = format!(
            "the job's `{column}` cannot be read: {reason}; write a number beyond 64-bit floating point as a string, and \
             nest at most 127 levels"
        );
        Some(JobError::new(kind, error).with("stage", "start"))
    })
}

/// A row from before there were bounds at the INSERT.
fn too_large(Oversized { column, bytes, most }: Oversized) -> JobError {
    let error = format!(
        "the job's `{column}` has {bytes} bytes, and a worker reads {most} at most; give long text as a document, and split a \
         large document"
    );
    JobError::new("input", error).with("stage", "start")
}

/// By the stored configuration, or a freshly resolved one. The inner error is the user's to mend.
async fn profile_of(
    context: &Context,
    claimed: &ClaimedJob,
    config: &Value,
) -> Result<Result<Arc<Profile>, Unusable>, Trouble> {
    let stored = if claimed.has_settings { patiently(|| context.store.settings(claimed.id)).await? } else { None };
    let (profiles, env) = (&context.profiles, &context.options.model_env);
    Ok(match stored {
        // What the row may set now holds for a job that began when it might set more.
        Some(stored) => match context.configs.check_levels(&claimed.job_type, config, env) {
            Ok(()) => profiles.stored(stored, config, env),
            Err(error) => Err(error.into()),
        },
        None => profiles.fresh(&claimed.job_type, config, || context.configs.resolve(&claimed.job_type, config, env)),
    })
}

fn misconfigured(reason: Unusable) -> JobError {
    let error = JobError::new("configuration", reason.sentence).with("stage", "start");
    match reason.forbidden {
        Some(forbidden) => error.with("key", forbidden.key).with("level", forbidden.level.as_str()),
        None => error,
    }
}

/// A job type that only a newer worker knows, in the middle of a rollout, is left to that worker.
async fn left_to_another(context: &Context, claimed: &ClaimedJob) -> Result<bool, Trouble> {
    if context.configs.job_types().contains(&claimed.job_type.as_str()) {
        return Ok(false);
    }
    let lease_secs = u32::try_from(context.options.timing.lease.as_secs()).unwrap_or(u32::MAX);
    let lease = claimed.lease();
    let deferred = patiently(|| context.store.defer_unknown_type(&lease, lease_secs)).await?;
    if deferred {
        info!(job.id = %claimed.id, job.r#type = claimed.job_type, "job left to a worker that knows its type");
    }
    Ok(deferred)
}

/// The engine's settings from a configuration, with every tool there is and the model's own count of tokens.
pub(crate) fn engine_settings(resolved: &Resolved) -> Result<Settings, String> {
    let mut catalog = plumbline_engine::tools::specs();
    catalog.extend(plumbline_effects::tools::catalog());
    let model = resolved.config.llm.model.clone().unwrap_or_default();
    let encoder = tokens::encoder_for(&model);
    let settings = resolved.settings(catalog, Arc::new(move |text| encoder.count(text)));
    let mut settings = settings.map_err(|error| error.to_string())?;
    let known = KnownLines::of(encoder, &settings.prompts, &[intake::WORKSPACE_FORM]);
    settings.count_tokens = Arc::new(move |text| known.count(text));
    Ok(settings)
}

async fn refuse(context: &Context, claimed: &ClaimedJob, error: JobError) -> Result<End, Trouble> {
    let lease = claimed.lease();
    patiently(|| context.store.reject(&lease, &error)).await?;
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
    let lease = claimed.lease();
    let given_back = if transient {
        patiently(|| context.store.release(&lease, ReleaseReason::Orphaned)).await
    } else {
        let reason = JobError::new("internal", trouble.to_string());
        patiently(|| context.store.reject(&lease, &reason)).await
    };
    if let Err(error) = given_back {
        warn!(job.id = %claimed.id, %error, "job could not be given back; it is taken back once its lease ends");
    }
}

#[cfg(test)]
mod tests {
    /// The size of what a function with three arguments returns.
    fn size_of_result<A, B, C, R>(_: fn(A, B, C) -> R) -> usize {
        size_of::<R>()
    }

    #[test]
    fn a_job_that_waits_for_its_model_takes_little_room_besides_its_conversation() {
        let size = size_of_result(super::run);
        assert!(size <= 24 << 10, "{size} bytes: is everything boxed that is large and not the call of the model?");
    }
}

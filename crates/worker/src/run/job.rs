//! One claimed job, from claim to leave.

use crate::{
    app::Context,
    config_cache::{Raised, Setup, Unusable},
    run::{
        cancellation::{StopLevel, StopListener},
        input_watcher::Inbox,
        step::{End, Stepper, Trouble},
    },
};
use plumbline_config::OVERRIDES;
use plumbline_engine::{JobError, JobExit, Run};
use plumbline_llm::Learnt;
use plumbline_mirror::MirrorFeed;
use plumbline_store::backoff::retry_transient;
use plumbline_store::{
    ClaimedJob, JobInput, LoadedJob, Oversized, ReleaseReason,
    fail_points::{Point, part, reach},
};
use plumbline_telemetry::spans;
use std::sync::Arc;
use tracing::{Instrument, error, info, warn};

/// Runs a claimed job until it leaves this worker. Never fails: whatever goes wrong concerns this job alone.
pub(crate) async fn run(context: Arc<Context>, claimed: ClaimedJob, signal: StopListener) {
    info!(job.id = %claimed.id, job.r#type = claimed.job_type, job.attempt = claimed.attempt, step = claimed.step, "job claimed");
    let end = tokio::select! {
        end = stay(&context, &claimed, signal.clone()).instrument(spans::claim(&claimed, context.worker_id)) => end,
        () = signal.at_least(StopLevel::Abort) => Box::pin(abandoned(&context, &claimed, &signal)).await,
    };
    match end {
        Ok(End::Left(leave)) => log_leave(&claimed, &leave),
        Ok(End::Released) => info!(job.id = %claimed.id, "job released"),
        Err(Trouble::LeaseLost) => info!(job.id = %claimed.id, "job dropped: it is no longer this worker's"),
        Err(trouble) => tokio::select! {
            () = Box::pin(give_up(&context, &claimed, &trouble)) => {}
            () = signal.at_least(StopLevel::LeaseLost) => {}
        },
    }
}

/// The effect in flight was dropped; nothing of it is stored.
async fn abandoned(context: &Context, claimed: &ClaimedJob, signal: &StopListener) -> Result<End, Trouble> {
    if signal.now() == StopLevel::LeaseLost {
        return Err(Trouble::LeaseLost);
    }
    reach(Point::Releasing, "abandoned").await?;
    let lease = claimed.lease();
    let given_back = retry_transient(|| context.store.release(&lease, ReleaseReason::Abandoned));
    tokio::select! {
        given_back = given_back => given_back?,
        () = signal.at_least(StopLevel::LeaseLost) => return Err(Trouble::LeaseLost),
    }
    Ok(End::Released)
}

async fn stay(context: &Context, claimed: &ClaimedJob, signal: StopListener) -> Result<End, Trouble> {
    reach(Point::Claimed, "claim").await?;
    let input = match Box::pin(retry_transient(|| context.store.job_input(claimed.id))).await? {
        None => return Err(Trouble::LeaseLost),
        Some(Err(oversized)) => return Box::pin(refuse(context, claimed, too_large(oversized))).await,
        Some(Ok(input)) => input,
    };
    if let Some(error) = unreadable(&input) {
        return Box::pin(refuse(context, claimed, error)).await;
    }
    let setup = match Box::pin(setup_of(context, claimed, &input)).await? {
        Ok(found) => found,
        Err(limits) if limits.is_raised_limit => return Box::pin(park(context, claimed, limits.sentence)).await,
        Err(_) if Box::pin(left_to_another(context, claimed)).await? => return Ok(End::Released),
        Err(reason) => return Box::pin(refuse(context, claimed, misconfigured(reason))).await,
    };
    let lease = claimed.lease();
    let loaded = match LoadedJob::new(claimed, &input) {
        Some(new) => new,
        None => Box::pin(retry_transient(|| context.store.load(&lease))).await?,
    };
    let step = loaded.facts.step;
    let run = match Run::load(loaded.into_snapshot(setup.settings.clone())) {
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
    let mirror = MirrorFeed::start(&context.mirror, claimed);
    let mut stepper = Stepper {
        span: spans::Step::begin(claimed.id, step + 1, run.state().phase.kind),
        context,
        claimed,
        input: &input,
        lease,
        setup,
        stores_settings: !claimed.has_settings,
        run,
        step,
        start: None,
        changes: Vec::new(),
        learnt: Learnt::default(),
        permit: None,
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
        Some(JobError::new(kind, error).with("stage", "start").with("hint", insert_anew(column)))
    })
}

/// What helps where the row itself is wrong, which keeps what it was inserted with.
fn insert_anew(column: &str) -> String {
    format!("insert the job anew with a `{column}` that is right; this row keeps the one it has")
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
async fn setup_of(
    context: &Context,
    claimed: &ClaimedJob,
    input: &JobInput,
) -> Result<Result<Arc<Setup>, Unusable>, Trouble> {
    let stored =
        if claimed.has_settings { retry_transient(|| context.store.settings(claimed.id)).await? } else { None };
    let (version, configs) = context.live.read();
    let (setups, env, config) = (&context.setups, &context.options.model_env, &*input.config);
    let ceiling = || configs.limits_ceiling(&claimed.job_type, env);
    let raised = match &input.raised_limits {
        Some(limits) => Raised { limits: limits.clone(), ceiling: ceiling() },
        None => Raised::default(),
    };
    Ok(match stored {
        // What the row may set now holds for a job that began when it might set more.
        Some(stored) => match configs.check_levels(&claimed.job_type, config, env) {
            Ok(()) => setups.stored(stored, config, &raised, env),
            Err(error) => Err(error.into()),
        },
        None => setups
            .fresh((version, &claimed.job_type), config, &raised, || configs.resolve(&claimed.job_type, config, env)),
    })
}

fn misconfigured(reason: Unusable) -> JobError {
    let is_of_row = reason.sentence.starts_with(OVERRIDES);
    let mut error = JobError::new("configuration", reason.sentence).with("stage", "start");
    if is_of_row {
        error = error.with("hint", insert_anew("config"));
    }
    match reason.forbidden {
        Some(forbidden) => error.with("key", forbidden.key).with("level", forbidden.level.as_str()),
        None => error,
    }
}

/// Only jobs of known types are claimed; one whose type was forgotten since, because its configuration went away, waits for
/// a worker that knows it.
async fn left_to_another(context: &Context, claimed: &ClaimedJob) -> Result<bool, Trouble> {
    if context.live.now().job_types().contains(&claimed.job_type.as_str()) {
        return Ok(false);
    }
    let lease = claimed.lease();
    retry_transient(|| context.store.release(&lease, ReleaseReason::UnknownType)).await?;
    Ok(true)
}

/// The job waits, with its work kept, for somebody who mends what `reason` says.
async fn park(context: &Context, claimed: &ClaimedJob, reason: String) -> Result<End, Trouble> {
    let lease = claimed.lease();
    retry_transient(|| context.store.park(&lease, &reason)).await?;
    Ok(End::Left(JobExit::Paused { reason }))
}

async fn refuse(context: &Context, claimed: &ClaimedJob, error: JobError) -> Result<End, Trouble> {
    let lease = claimed.lease();
    retry_transient(|| context.store.reject(&lease, &error)).await?;
    Ok(End::Left(JobExit::Failed(error)))
}

fn log_leave(claimed: &ClaimedJob, leave: &JobExit) {
    let id = claimed.id;
    match leave {
        JobExit::Completed { .. } => info!(job.id = %id, "job completed"),
        JobExit::Review { reason, .. } => info!(job.id = %id, reason, "job in review"),
        JobExit::Paused { reason } => warn!(job.id = %id, reason, "job paused"),
        JobExit::Parked { until, reason } => warn!(job.id = %id, %until, reason, "job parked"),
        JobExit::Failed(error) => warn!(job.id = %id, error = error.message, "job failed"),
    }
}

/// Trouble that no retry at this worker mends: the job fails with the reason, if the database takes it; if not, the
/// job is given back or swept later.
async fn give_up(context: &Context, claimed: &ClaimedJob, trouble: &Trouble) {
    error!(job.id = %claimed.id, error = %trouble, "job stopped by trouble");
    let transient = matches!(trouble, Trouble::Store(error) if error.is_transient());
    let lease = claimed.lease();
    let given_back = if transient {
        retry_transient(|| context.store.release(&lease, ReleaseReason::Orphaned)).await
    } else {
        let reason = JobError::new("internal", trouble.to_string());
        retry_transient(|| context.store.reject(&lease, &reason)).await
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

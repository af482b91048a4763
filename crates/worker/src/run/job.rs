//! One claimed job, from its claim to its exit.

use crate::{
    app::App,
    config_cache::{LimitOverride, ResolvedConfig, Unusable},
    run::{
        abandoned::Sent,
        cancellation::{StopLevel, StopListener},
        error::StepError,
        input_watcher::InputWatcher,
        step::{Exit, StepLoop},
    },
};
use plumbline_config::{OVERRIDES, Resolved};
use plumbline_engine::{JobError, JobExit, Run};
use plumbline_job_setup::to_stored;
use plumbline_llm::Learnt;
use plumbline_mirror::MirrorFeed;
use plumbline_store::backoff::{LostTime, retry_transient};
use plumbline_store::{
    ClaimedJob, JobInput, JobSettings, Oversized, ReleaseReason,
    fail_points::{Point, part, reach},
};
use plumbline_telemetry::spans;
use std::{sync::Arc, time::Duration};
use tracing::{Instrument, error, info, warn};

/// Time after which a job without a model is tried again, like one whose key was rejected.
const MODEL_AGAIN: Duration = Duration::from_secs(300);

/// Runs a claimed job until it leaves this worker. Never fails: every error affects only this job.
pub(crate) async fn run(app: Arc<App>, claimed: ClaimedJob, signal: StopListener) {
    info!(job.id = %claimed.id, job.r#type = claimed.job_type, job.attempt = claimed.attempt, step = claimed.step, "job claimed");
    let sent = Sent::default();
    let end = tokio::select! {
        end = run_claimed(&app, &claimed, signal.clone(), sent.clone()).instrument(spans::claim(&claimed, app.worker_id)) => end,
        () = signal.at_least(StopLevel::Abort) => Box::pin(on_abort(&app, &claimed, &signal)).await,
    };
    app.tool_runner.forget(claimed.id);
    Box::pin(sent.put_on_record(&app, &claimed.lease())).await;
    match end {
        Ok(Exit::Left(leave)) => log_exit(&claimed, &leave),
        Ok(Exit::Released) => info!(job.id = %claimed.id, "job released"),
        Err(StepError::LeaseLost) => info!(job.id = %claimed.id, "job dropped: this worker no longer holds its lease"),
        Err(trouble) => tokio::select! {
            () = Box::pin(fail_or_release(&app, &claimed, &trouble)) => {}
            () = signal.at_least(StopLevel::LeaseLost) => {}
        },
    }
}

/// The effect in flight was dropped; nothing of it is stored.
async fn on_abort(app: &App, claimed: &ClaimedJob, signal: &StopListener) -> Result<Exit, StepError> {
    if signal.now() == StopLevel::LeaseLost {
        return Err(StepError::LeaseLost);
    }
    reach(Point::Releasing, "abandoned").await?;
    let lease = claimed.lease();
    let given_back = retry_transient(|| app.store.release(&lease, ReleaseReason::Abandoned));
    tokio::select! {
        given_back = given_back => given_back?,
        () = signal.at_least(StopLevel::LeaseLost) => return Err(StepError::LeaseLost),
    }
    Ok(Exit::Released)
}

async fn run_claimed(app: &App, claimed: &ClaimedJob, signal: StopListener, sent: Sent) -> Result<Exit, StepError> {
    reach(Point::Claimed, "claim").await?;
    let input = match Box::pin(retry_transient(|| app.store.job_input(claimed.id))).await? {
        None => return Err(StepError::LeaseLost),
        Some(Err(oversized)) => return Box::pin(reject(app, claimed, too_large(oversized))).await,
        Some(Ok(input)) => input,
    };
    if let Some(error) = invalid_json_column(&input) {
        return Box::pin(reject(app, claimed, error)).await;
    }
    app.load_token_tables().await;
    let (config, stores_settings) = match Box::pin(load_config(app, claimed, &input)).await? {
        Ok(found) => found,
        Err(limits) if limits.is_raised_limit => return Box::pin(park(app, claimed, limits.sentence)).await,
        Err(_) if Box::pin(defer_unknown_type(app, claimed)).await? => return Ok(Exit::Released),
        Err(missing) if missing.lacks_model => return Box::pin(wait_for_model(app, claimed, missing.sentence)).await,
        Err(reason) => return Box::pin(reject(app, claimed, misconfigured(reason))).await,
    };
    let lease = claimed.lease();
    let run = match Box::pin(load_run(app, claimed, &input, &config)).await? {
        Ok(run) => run,
        Err(corrupt) => return Box::pin(reject(app, claimed, corrupt)).await,
    };
    let step = run.job().step;
    reach(Point::Loaded, part(run.state())).await?;
    let mirror = MirrorFeed::start(&app.mirror, claimed);
    let mut step_loop = StepLoop {
        span: spans::Step::begin(claimed.id, step + 1, run.state().phase.kind),
        app,
        claimed,
        input: &input,
        lease,
        config,
        stores_settings,
        run,
        step,
        start: None,
        changes: Vec::new(),
        sent,
        learnt: Learnt::default(),
        permit: None,
        mirror,
        input_watcher: InputWatcher::new(claimed.id, claimed.step),
        signal,
        lost_time: LostTime::default(),
        tokens: spans::ClaimTokens::of_current(),
    };
    let end = step_loop.run().await;
    Box::pin(step_loop.mirror.finish(end.is_ok())).await;
    end
}

/// The run as its rows have it, or why they cannot be read.
async fn load_run(
    app: &App,
    claimed: &ClaimedJob,
    input: &JobInput,
    config: &ResolvedConfig,
) -> Result<Result<Run, JobError>, StepError> {
    let lease = claimed.lease();
    let loaded = match claimed.unstarted(input) {
        Some(new) => new,
        None => Box::pin(retry_transient(|| app.store.load(&lease))).await?,
    };
    Ok(match Run::load(loaded, config.settings.clone()) {
        Ok(run) => Ok(run.with_patience(app.options.timing.give_up)),
        Err(corrupt) => Err(JobError::new("corrupt", corrupt.to_string()).with("stage", "start")),
    })
}

/// An unreadable value in the user's row. The error names the column and the remedy.
fn invalid_json_column(input: &JobInput) -> Option<JobError> {
    let columns = [("context", "input", &input.context), ("config", "configuration", &input.config)];
    columns.into_iter().find_map(|(column, kind, given)| {
        let reason = given.unreadable()?;
        let error = format!(
            "the job's `{column}` cannot be read: {reason}; write a number beyond 64-bit floating point as a string, and \
             nest at most 127 levels"
        );
        Some(JobError::new(kind, error).with("stage", "start").with("hint", insert_again_hint(column)))
    })
}

/// The remedy if the row itself is wrong, because it keeps the inserted value.
fn insert_again_hint(column: &str) -> String {
    format!("insert the job anew with a `{column}` that is right; this row keeps the one it has")
}

/// A row from before the bounds were checked at the INSERT.
fn too_large(Oversized { column, bytes, most }: Oversized) -> JobError {
    let error = format!(
        "the job's `{column}` has {bytes} bytes, and a worker reads {most} at most; give long text as a document, and split a \
         large document"
    );
    JobError::new("input", error).with("stage", "start")
}

/// The stored configuration, or a newly resolved one, and whether the next step stores it. The inner error is for the
/// user to fix.
async fn load_config(
    app: &App,
    claimed: &ClaimedJob,
    input: &JobInput,
) -> Result<Result<(Arc<ResolvedConfig>, bool), Unusable>, StepError> {
    let stored = if claimed.has_settings { retry_transient(|| app.store.settings(claimed.id)).await? } else { None };
    let served = app.live.now();
    let (version, configs) = (served.version, &served.configs);
    let (cache, env, overrides) = (&app.config_cache, &app.options.model_env, &*input.config);
    let ceiling = || configs.limits_ceiling(&claimed.job_type, env);
    let raised = match &input.raised_limits {
        Some(limits) => LimitOverride { limits: limits.clone(), ceiling: ceiling() },
        None => LimitOverride::default(),
    };
    let Some(JobSettings { resolved, takes_present_tools }) = stored else {
        let resolve = || configs.resolve(&claimed.job_type, overrides, env);
        let config = cache.resolve((version, &claimed.job_type), overrides, &raised, resolve);
        return Ok(config.map(|config| (config, true)));
    };
    // The current levels also apply to a job that started when its row could set more.
    let present = match configs.present(&claimed.job_type, overrides, env) {
        Ok(present) => present,
        Err(error) => return Ok(Err(error.into())),
    };
    // Without readable files it keeps its tools until it is claimed with some.
    let renewed = present.as_ref().filter(|_| takes_present_tools);
    let stores = renewed.is_some();
    let stored = match renewed {
        Some(present) => Resolved::with_present_tools(resolved, &to_stored(present)),
        None => resolved,
    };
    let config = cache.restore(stored, overrides, &raised, present.map(|present| present.call_rules()), env);
    Ok(config.map(|config| (config, stores)))
}

fn misconfigured(reason: Unusable) -> JobError {
    let is_of_row = reason.sentence.starts_with(OVERRIDES);
    let mut error = JobError::new("configuration", reason.sentence).with("stage", "start");
    if is_of_row {
        error = error.with("hint", insert_again_hint("config"));
    }
    match reason.forbidden {
        Some(forbidden) => error.with("key", forbidden.key).with("level", forbidden.level.as_str()),
        None => error,
    }
}

/// Only jobs of types that resolve are claimed; if the type was lost since, because its files were removed or broken,
/// the job waits for a worker that knows it.
async fn defer_unknown_type(app: &App, claimed: &ClaimedJob) -> Result<bool, StepError> {
    if app.live.now().job_types.contains(&claimed.job_type) {
        return Ok(false);
    }
    let lease = claimed.lease();
    retry_transient(|| app.store.release(&lease, ReleaseReason::UnknownType)).await?;
    Ok(true)
}

/// The job waits for a worker with a model for it, and is retried periodically; a worker that starts, or uses new
/// files, tries it at once.
async fn wait_for_model(app: &App, claimed: &ClaimedJob, reason: String) -> Result<Exit, StepError> {
    let lease = claimed.lease();
    warn!(job.id = %claimed.id, reason, "job waits for a worker with a model");
    retry_transient(|| app.store.release_for(&lease, &reason, MODEL_AGAIN)).await?;
    Ok(Exit::Released)
}

/// The job waits, with its work kept, for a person to fix what `reason` says.
async fn park(app: &App, claimed: &ClaimedJob, reason: String) -> Result<Exit, StepError> {
    let lease = claimed.lease();
    retry_transient(|| app.store.park(&lease, &reason)).await?;
    Ok(Exit::Left(JobExit::Paused { reason }))
}

async fn reject(app: &App, claimed: &ClaimedJob, error: JobError) -> Result<Exit, StepError> {
    let lease = claimed.lease();
    retry_transient(|| app.store.reject(&lease, &error)).await?;
    Ok(Exit::Left(JobExit::Failed(error)))
}

fn log_exit(claimed: &ClaimedJob, leave: &JobExit) {
    let id = claimed.id;
    match leave {
        JobExit::Completed { .. } => info!(job.id = %id, "job completed"),
        JobExit::Review { reason, .. } => info!(job.id = %id, reason, "job in review"),
        JobExit::AwaitsDecision { calls } => info!(job.id = %id, n_calls = calls, "job waits for approval of calls"),
        JobExit::Paused { reason } => warn!(job.id = %id, reason, "job paused"),
        JobExit::Parked { until, reason } => warn!(job.id = %id, %until, reason, "job parked"),
        JobExit::Failed(error) => warn!(job.id = %id, error = error.message, "job failed"),
    }
}

/// An error that no retry at this worker resolves. An error caused by the job's own rows fails the job, if the database
/// accepts that; any other error gives the job back, with the reason and a growing backoff. If neither can be written,
/// the job is swept later.
async fn fail_or_release(app: &App, claimed: &ClaimedJob, trouble: &StepError) {
    error!(job.id = %claimed.id, error = %trouble, "job run stopped by an error");
    let lease = claimed.lease();
    let (is_of_the_job, code) = match trouble {
        StepError::Store(error) => (error.is_of_the_job(), error.kind()),
        StepError::Workspace(_) => (false, "workspace".to_owned()),
        StepError::LeaseLost | StepError::Internal(_) => (true, String::new()),
    };
    if matches!(trouble, StepError::Store(error) if error.wants_new_connections()) {
        app.store.renew_connections().await;
    }
    let (sentence, patience) = (trouble.to_string(), app.options.timing.give_up);
    let given_back = match is_of_the_job {
        true => {
            let reason = JobError::new("internal", sentence);
            retry_transient(|| app.store.reject(&lease, &reason)).await
        }
        false => match retry_transient(|| app.store.give_back(&lease, &sentence, &code, patience)).await {
            Ok(failed) => {
                warn!(job.id = %claimed.id, reason = sentence, failed, "job released for a retry: the job did not cause the error");
                Ok(())
            }
            Err(error) => Err(error),
        },
    };
    if let Err(error) = given_back {
        warn!(job.id = %claimed.id, %error, "could not release the job; it is reclaimed when its lease expires");
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

//! A service needed by the next call is unavailable: this call and those after it wait until the service is back.
//! Results of earlier calls are kept. The model is not called meanwhile: it could only retry, at a cost.

use super::{calls::take_returns, leave};
use crate::{
    JobError, JobExit, Outage, Retry, Run,
    guardrail::{
        budget,
        retry::{self, Streak, Verdict},
    },
};
use chrono::{DateTime, Utc};

pub(super) fn apply(run: &mut Run, outage: Outage, now: DateTime<Utc>) {
    let Outage { returns, reason, needs_operator, jitter } = outage;
    take_returns(run, returns);
    if needs_operator {
        // The next attempt starts with a clean count once the operator has resumed the job.
        run.state_mut().retry = Retry::default();
        return run.leave(JobExit::Paused { reason });
    }
    let retry = &mut run.state_mut().retry;
    retry.note(&reason, now);
    let (failures, since) = (retry.failures, retry.since.unwrap_or(now));
    let patience = run.patience();
    let streak = Streak { failures, since, patience: patience.most, in_place: retry::OUTAGE_IN_PLACE };
    // Calls may be made after a deadline, but waiting for them ends at it.
    if let Some(reason) = budget::deadline_passed(&run.settings().limits, patience, now) {
        return run.leave(budget::pause(&run.state().retry, &reason));
    }
    match retry::decide_outage(jitter, streak, now) {
        Verdict::Wait(until) => run.state_mut().retry.not_before = Some(patience.in_time(until)),
        Verdict::Park(until) => run.leave(JobExit::Parked { until: patience.in_time(until), reason }),
        // The calls stay open, so that a retried job repeats them.
        Verdict::GiveUp => {
            let retry = std::mem::take(&mut run.state_mut().retry);
            let error = JobError::new("service", format!("a service that the job needs stayed away: {reason}"))
                .with("stage", run.state().stage_name());
            leave(run, JobExit::Failed(retry.explain(error, now)));
        }
    }
}

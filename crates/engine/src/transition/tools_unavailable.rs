//! A service needed by the next call is unavailable: this call and those after it wait until the service is back.
//! Results of earlier calls are kept. The model is not called meanwhile: it could only retry, at a cost.

use crate::{
    JobError, JobExit, Outage, Retry, Run,
    guardrail::{
        budget,
        retry::{self, Streak, Verdict},
    },
};
use chrono::{DateTime, Utc};

impl Run {
    pub(super) fn tools_unavailable(&mut self, outage: Outage, now: DateTime<Utc>) {
        let Outage { returns, reason, needs_operator, jitter } = outage;
        if !returns.is_empty() {
            self.take_returns(returns);
            self.state.retry = Retry::default();
        }
        if needs_operator {
            // The next attempt starts with a clean count once the operator has resumed the job.
            self.state.retry = Retry::default();
            return self.leave(JobExit::Paused { reason });
        }
        let retry = &mut self.state.retry;
        retry.note(&reason, now);
        let (failures, since) = (retry.failures, retry.since.unwrap_or(now));
        let streak = Streak { failures, since, patience: self.patience, in_place: retry::OUTAGE_IN_PLACE };
        // Calls may be made after a deadline, but waiting for them ends at it.
        if let Some(reason) = budget::deadline_passed(&self.settings.limits, self.deadline, now) {
            return self.leave(budget::pause(&self.state.retry, &reason));
        }
        let in_time = |until: DateTime<Utc>| self.deadline.map_or(until, |deadline| until.min(deadline));
        match retry::decide_outage(jitter, streak, now) {
            Verdict::Wait(until) => self.state.retry.not_before = Some(in_time(until)),
            Verdict::Park(until) => self.leave(JobExit::Parked { until: in_time(until), reason }),
            Verdict::GiveUp => self.give_up_waiting(&reason, now),
        }
    }

    /// The calls stay open, so that a retried job repeats them.
    fn give_up_waiting(&mut self, reason: &str, now: DateTime<Utc>) {
        let retry = std::mem::take(&mut self.state.retry);
        let error = JobError::new("service", format!("a service that the job needs stayed away: {reason}"))
            .with("stage", self.stage_name());
        self.leave(JobExit::Failed(retry.explain(error, now)));
    }
}

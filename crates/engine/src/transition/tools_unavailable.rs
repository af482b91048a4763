//! A service that the calls at hand need is away: they wait for it, as they are, and are run when it is back. The model is
//! not asked meanwhile: it could only try again, at a price.

use crate::{
    JobError, JobExit, Outage, Replay, Retry, Run, ToolReturn,
    guardrail::{
        budget,
        retry::{self, Streak, Verdict},
    },
};
use chrono::{DateTime, Utc};

impl Run {
    pub(super) fn tools_unavailable(&mut self, outage: Outage, now: DateTime<Utc>) {
        if let Some(returns) = self.instead_of_waiting(&outage.reason) {
            return self.tools_returned(returns, now);
        }
        if outage.needs_operator {
            // The next try starts with a clean count once the operator has resumed the job.
            self.state.retry = Retry::default();
            return self.leave(JobExit::Paused { reason: outage.reason });
        }
        let retry = &mut self.state.retry;
        retry.failures += 1;
        retry.first_error.get_or_insert_with(|| outage.reason.clone());
        retry.last_error = Some(outage.reason.clone());
        let since = *retry.since.get_or_insert(now);
        let streak = Streak { failures: retry.failures, since, in_place: retry::OUTAGE_IN_PLACE };
        // Calls may be made beyond a deadline, waiting for them may not.
        if let Some(reason) = budget::deadline_passed(self, now) {
            return self.leave(budget::pause(self, &reason));
        }
        let in_time = |until: DateTime<Utc>| budget::deadline(self).map_or(until, |deadline| until.min(deadline));
        match retry::decide_outage(outage.jitter, streak, now) {
            Verdict::Wait(until) => self.state.retry.not_before = Some(in_time(until)),
            Verdict::Park(until) => self.leave(JobExit::Parked { until: in_time(until), reason: outage.reason }),
            Verdict::GiveUp => self.give_up_waiting(&outage.reason),
        }
    }

    /// A call that was in flight when a worker died, and may not be made twice, is known for it by this run alone: its
    /// turn is answered at once, since after a wait elsewhere it would be made again.
    fn instead_of_waiting(&self, reason: &str) -> Option<Vec<ToolReturn>> {
        let held_back = |name: &str| self.bound_tool(name).is_some_and(|tool| tool.replay == Replay::Unsafe);
        let unsafe_in_flight = self.interrupted && self.calls.iter().any(|call| held_back(&call.name));
        unsafe_in_flight.then(|| self.external_calls().iter().map(|call| ToolReturn::error(&call.id, reason)).collect())
    }

    /// The calls stay open, so that a retried job makes them again.
    fn give_up_waiting(&mut self, reason: &str) {
        let retry = std::mem::take(&mut self.state.retry);
        let error = JobError::new("service", format!("a service that the job needs stayed away for a day: {reason}"))
            .with("stage", self.stage_name())
            .with("attempts", retry.failures)
            .with("first_error", retry.first_error)
            .with("last_error", retry.last_error);
        self.leave(JobExit::Failed(error));
    }
}

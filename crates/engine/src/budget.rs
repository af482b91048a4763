//! Budgets: hard limits of a job. Using one up pauses the job with the reason and keeps the work (lesson 15); raising
//! it and resuming goes on.

use crate::Run;
use chrono::{DateTime, Utc};

/// Why the job may not make another request, if so. Time is checked by [`deadline_passed`].
pub(crate) fn used_up(run: &Run) -> Option<String> {
    let (limits, totals) = (&run.settings.limits, &run.state.totals);
    if totals.requests >= i64::from(limits.max_iterations) {
        return Some(format!("limit of {} iterations reached", limits.max_iterations));
    }
    if let Some(budget) = limits.token_budget
        && totals.tokens >= i64::try_from(budget).unwrap_or(i64::MAX)
    {
        return Some(format!("token budget of {budget} tokens reached"));
    }
    if let Some(budget) = limits.cost_budget_microusd
        && totals.cost_microusd >= budget
    {
        return Some(format!("cost budget of {:.2} USD reached", budget as f64 / 1e6));
    }
    None
}

/// Why the job may not go on at this moment, if its time is over.
pub(crate) fn deadline_passed(run: &Run, now: DateTime<Utc>) -> Option<String> {
    let seconds = run.settings.limits.deadline_s?;
    let elapsed = (now - run.state.started_at).num_seconds();
    (elapsed >= i64::try_from(seconds).unwrap_or(i64::MAX)).then(|| format!("deadline of {seconds} s reached"))
}

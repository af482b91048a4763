//! Budgets: hard limits of a job. A used-up budget pauses the job with the reason, without losing work; the
//! job continues when the budget is raised.

use super::retry::Patience;
use crate::{JobExit, Limits, Retry, Totals};
use chrono::{DateTime, TimeDelta, Utc};

/// Why the job may not make another request, if it may not. Time is checked by [`deadline_passed`].
pub(crate) fn used_up(limits: &Limits, totals: &Totals) -> Option<String> {
    limit_used_up(limits, totals).map(|(_, reason)| reason)
}

/// The limit that is used up: its name in `limits`, and the sentence.
pub(crate) fn limit_used_up(limits: &Limits, totals: &Totals) -> Option<(&'static str, String)> {
    if totals.requests >= i64::from(limits.max_iterations) {
        return Some(("max_iterations", format!("limit of {} iterations reached", limits.max_iterations)));
    }
    if let Some(budget) = limits.token_budget
        && totals.tokens >= i64::try_from(budget).unwrap_or(i64::MAX)
    {
        return Some(("token_budget", format!("token budget of {budget} tokens reached")));
    }
    if let Some(budget) = limits.cost_budget_microusd()
        && totals.cost_microusd >= budget
    {
        return Some(("cost_budget_usd", format!("cost budget of {} USD reached", dollars(budget))));
    }
    None
}

/// Two decimals, more only if needed: `5.00`, `0.001`.
fn dollars(microusd: i64) -> String {
    let (whole, part) = (microusd / 1_000_000, microusd % 1_000_000);
    let decimals = format!("{part:06}");
    let decimals = decimals.trim_end_matches('0');
    format!("{whole}.{decimals:0<2}")
}

/// The pause for a budget. If the model only fails, its last error is appended to the budget that the failures used up.
pub(crate) fn pause(retry: &Retry, reason: &str) -> JobExit {
    let failing =
        retry.last_error.as_ref().map(|error| format!("; the last request failed: {error}")).unwrap_or_default();
    JobExit::Paused { reason: format!("{reason}{failing}") }
}

/// Why the job must stop now, if its deadline has passed.
pub(crate) fn deadline_passed(limits: &Limits, patience: Patience, now: DateTime<Utc>) -> Option<String> {
    let seconds = limits.deadline_s?;
    patience.deadline.filter(|deadline| now >= *deadline).map(|_| format!("deadline of {seconds} s reached"))
}

/// The deadline of a job, if it has one. Time spent waiting for people does not count.
pub(crate) fn deadline(limits: &Limits, started_at: DateTime<Utc>, waited_s: i64) -> Option<DateTime<Utc>> {
    let seconds = i64::try_from(limits.deadline_s?).ok()?.checked_add(waited_s)?;
    started_at.checked_add_signed(TimeDelta::try_seconds(seconds)?)
}

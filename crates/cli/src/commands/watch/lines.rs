//! Progress as a line of text, for pipes and logs.

use crate::output::{cost, short, thousands};
use plumbline_store::WatchRow;

/// Status, phase, number of done and all todos, the current todo or why there is no progress.
pub(super) fn line(row: &WatchRow) -> String {
    format!("{} {}/{} {}", phase(row), row.todos_done, row.todos_total, what(row))
}

/// What it took: tokens, those of them that the provider had in its cache, and the cost where there is one or a budget for it.
pub(super) fn used(row: &WatchRow, budget: Option<f64>) -> String {
    let cached = (row.cached_tokens > 0).then(|| format!("{} cached", thousands(row.cached_tokens)));
    let paid = (row.cost_usd > 0.0 || budget.is_some()).then(|| cost(row.cost_usd, budget));
    let tokens = format!("{} tokens", thousands(row.total_tokens_used));
    [Some(tokens), cached, paid].into_iter().flatten().collect::<Vec<_>>().join(", ")
}

fn phase(row: &WatchRow) -> String {
    match (&row.phase, &row.phase_name) {
        (Some(kind), Some(name)) => format!("{} [{kind} {}: {}]", row.status, row.phase_number, short(name, 32)),
        _ => row.status.clone(),
    }
}

/// A reason is not truncated: it may contain a command.
fn what(row: &WatchRow) -> String {
    let reason = row.error_message.as_ref().or(row.status_reason.as_ref()).map(|reason| short(reason, usize::MAX));
    reason.or_else(|| row.current_todo.as_ref().map(|todo| short(todo, 80))).unwrap_or_default()
}

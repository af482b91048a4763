//! Continues after the calls of an answer: with the next request, the end of the phase, or the end of the job.

use super::{
    held_calls::{end_phase, push_left_out_calls},
    leave,
    phases::{close_phase, fail_at_the_end},
    prepared::prepare_or_ask,
    replan::replan,
};
use crate::{
    JobError, JobExit, PhaseOutcome, Run, Stage, State, guardrail::loop_detection::MAX_FORCED_REPLANS,
    run::CallProgress,
};
use chrono::{DateTime, Utc};

/// Returns whether there are calls that the next phase goes on with.
pub(super) fn after_calls(run: &mut Run, now: DateTime<Utc>) -> bool {
    // The calls are answered, whether the job continues or ends: a retry must not run them again.
    let Stage::Tools { message_seq, mut calls } = std::mem::replace(&mut run.state_mut().stage, Stage::Model) else {
        return false;
    };
    if !calls.loading.is_empty() {
        // Only now, because it was decided when the answer arrived which of its calls run outside.
        run.state_mut().load_tools(std::mem::take(&mut calls.loading));
        let loaded = run.state().loaded_tools.clone();
        run.conversation_mut().0.count_tools(&loaded);
    }
    let (exit, broken) = (run.calls_mut().exit.take(), run.calls_mut().broken.take());
    let left = run.calls_mut().begin([]);
    if let Some((tool, why)) = broken {
        leave(run, stopped_for(&tool, &why));
        return false;
    }
    let guards = &mut run.state_mut().guards;
    guards.idle_turns = match (calls.progress, calls.held.is_empty()) {
        (true, _) => 0,
        (false, true) => guards.idle_turns + 1,
        // Calls executed on behalf of the last phase are not a turn of this one.
        (false, false) => guards.idle_turns,
    };
    if calls.held.is_empty() {
        let effects = &run.state().effects;
        let rework = effects.rework.clone().after_turn(effects.closed, run.ledger());
        run.state_mut().effects.rework = rework;
    }
    match (exit, calls.end.take()) {
        (Some(exit), _) => end_job(run, exit, now),
        (None, Some(end)) => {
            let left = left.get(calls.answered..).unwrap_or_default();
            return end_phase(run, message_seq, left, calls, end, now);
        }
        (None, None) => continue_after_calls(run, calls, now),
    }
    false
}

fn continue_after_calls(run: &mut Run, calls: CallProgress, now: DateTime<Utc>) {
    if !calls.held.is_empty() {
        push_left_out_calls(run);
    }
    let bound = run.settings().limits.turns_without_progress;
    let State { guards, effects, .. } = run.state();
    let idle = || guards.idle_too_long(bound).or_else(|| effects.rework.too_long(bound));
    match calls.stuck.or_else(idle) {
        Some(issue) => replan(run, MAX_FORCED_REPLANS, &issue, now),
        None => prepare_or_ask(run, now),
    }
}

fn end_job(run: &mut Run, exit: JobExit, now: DateTime<Utc>) {
    let exit = match exit {
        JobExit::Failed(error) => return fail_at_the_end(run, error, now),
        other => other,
    };
    if matches!(exit, JobExit::Completed { .. } | JobExit::Review { .. }) {
        close_phase(run, PhaseOutcome::Completed, None);
    }
    // A completed job keeps the review stage: user feedback that arrived while it ended reopens it.
    if let JobExit::Review { result, .. } | JobExit::Completed { result } = &exit {
        run.state_mut().stage = Stage::Review { result: result.clone() };
    }
    run.leave(exit);
}

/// `limits.on_tool_failure: stop`. The calls are answered, and a retry continues from there.
fn stopped_for(tool: &str, why: &str) -> JobExit {
    let why = why.trim_start_matches("Error: ");
    let error = JobError::new("tool", format!("{tool} failed and was not to be gone on without: {why}"));
    JobExit::Failed(error.with("tool", tool).with("last_error", why))
}

//! The model call failed: wait, park, pause, shrink, or fail. A provider's outage costs no job.

use super::{
    context::{Shrunk, bound_context, cut, shrink},
    leave, note_request,
    phases::restore_primary_model,
};
use crate::{
    Failure, FailureClass, JobError, JobExit, MessageKind, RequestRecord, Retry, Run, Stage, State, Suspicion,
    conversation::compaction::MAX_COMPACTIONS_IN_ROW,
    guardrail::retry::{self, Patience, Streak, Verdict},
    run::request::{estimate, output_cap, turn_model},
};
use chrono::{DateTime, TimeDelta, Utc};

/// From this share of the window on, a refusal without a clear reason is attributed to the request's size.
const AS_GOOD_AS_FULL: f64 = 0.9;

/// The text for the model about a call that its provider could not parse.
const CALL_NOT_PARSED: &str = "Your last answer held a tool call that could not be parsed, and nothing of it was carried out. Send \
                               the call again with arguments that are one valid JSON object, and write a long text in \
                               several shorter calls.";

/// The beginning of the reason of a job that waits for a worker with another key.
pub const KEY_REFUSED: &str = "the model's key was refused";

/// The failure's sentence, with the operator's remedy.
fn with_hint(failure: &Failure) -> String {
    let hint = failure.hint.as_deref().map(|hint| format!("; {hint}")).unwrap_or_default();
    format!("{}{hint}", failure.message)
}

/// A refusal without a clear reason is attributed to the size if by our own count the window is nearly full: no list of
/// the messages for an overflow is complete.
fn seen_with_its_size(mut failure: Failure, estimate: u32, window: u32) -> Failure {
    let is_large = f64::from(estimate) >= f64::from(window) * AS_GOOD_AS_FULL;
    if failure.suspicion == Some(Suspicion::Size) && failure.class == FailureClass::Permanent && is_large {
        failure.class = FailureClass::ContextTooLong;
        let words =
            format!("; taken for an overflow: the request has about {estimate} of the window's {window} tokens");
        failure.message.push_str(&words);
        failure.record.error = Some(failure.message.clone());
    }
    failure
}

/// Whether a permanent refusal by the provider is worth a retry: it has answered the job before.
fn may_pass(failure: &Failure, has_answered: bool) -> bool {
    failure.suspicion == Some(Suspicion::Passing) && has_answered
}

pub(super) fn apply(run: &mut Run, failure: Failure, now: DateTime<Utc>) {
    let window = run.model_for(failure.record.purpose).context_window;
    let failure = seen_with_its_size(failure, estimate(run), window);
    note_request(run, RequestRecord { failure_class: Some(failure.class), ..failure.record.clone() });
    // The next request is different: it is made at once, to the same model. An endpoint teaches only a bounded
    // number of things.
    if failure.learnt {
        return;
    }
    run.state_mut().retry.note(&failure.message, now);
    if failure.class == FailureClass::Permanent && has_raised_cap(run) {
        // The provider may not allow more.
        run.state_mut().guards.truncated_turns += 1;
        return;
    }
    if fall_back(run, &failure, now) {
        return;
    }
    match reaction(run, &failure, now) {
        Reaction::Shrunk => {}
        Reaction::Retry(verdict) => follow(run, verdict, &failure, now),
        Reaction::Leave(exit) => {
            // The next attempt starts with a clean count: what it waits for is no outage of the provider.
            run.state_mut().retry = Retry::default();
            run.leave(exit);
        }
    }
    let last = run.conversation().tail().next_back();
    let is_said = last.is_some_and(|last| last.visible_content() == CALL_NOT_PARSED);
    if failure.suspicion == Some(Suspicion::Call) && matches!(run.state().stage, Stage::Model) && !is_said {
        // The same request would produce the same call; so the model gets a hint, once.
        run.say(MessageKind::Nudge, CALL_NOT_PARSED.to_owned());
    }
    // A job that is parked or paused returns to its own model.
    if matches!(run.exit(), Some(JobExit::Parked { .. } | JobExit::Paused { .. })) {
        restore_primary_model(run);
    }
}

/// What a failure leads to.
enum Reaction {
    /// The context was made smaller, for a request at once.
    Shrunk,
    /// The same request later, or none.
    Retry(Verdict),
    /// The job waits for an operator.
    Leave(JobExit),
}

fn reaction(run: &mut Run, failure: &Failure, now: DateTime<Utc>) -> Reaction {
    let in_summary = matches!(run.state().stage, Stage::Summary { .. });
    let has_answered = run.state().totals.tokens > 0;
    let (in_place, patience) = (run.model_for(failure.record.purpose).max_retries, run.patience());
    let retry = &mut run.state_mut().retry;
    let refused = retry::decide_refused(failure, retry.failures, now);
    let mut again = || try_again(retry, failure, in_place, patience.most, now);
    Reaction::Retry(match failure.class {
        FailureClass::Quota => return Reaction::Leave(JobExit::Paused { reason: with_hint(failure) }),
        FailureClass::Unauthorized => return Reaction::Leave(parked_for_key(failure, patience, now)),
        FailureClass::Transient | FailureClass::RateLimited | FailureClass::Overloaded | FailureClass::Malformed => {
            again()
        }
        FailureClass::Permanent if may_pass(failure, has_answered) => again(),
        FailureClass::ContextTooLong => {
            run.conversation_mut().0.forget_anchor();
            let may_shrink = run.state().guards.compactions_in_row < MAX_COMPACTIONS_IN_ROW;
            match in_summary {
                // The conversation is too large even for a summary.
                true => Verdict::GiveUp,
                false if may_shrink && shrink(run, now) == Shrunk::Something => return Reaction::Shrunk,
                false => refused,
            }
        }
        // A content filter that refused by mistake accepts the next attempt; otherwise the job ends with its message.
        FailureClass::Refused if !in_summary => refused,
        FailureClass::Refused | FailureClass::Permanent | FailureClass::Abandoned => Verdict::GiveUp,
    })
}

/// Whether the cap of the answer was raised.
fn has_raised_cap(run: &Run) -> bool {
    matches!(run.state().stage, Stage::Model) && output_cap(run) > turn_model(run).max_output_tokens
}

fn try_again(retry: &mut Retry, failure: &Failure, in_place: u32, patience: TimeDelta, now: DateTime<Utc>) -> Verdict {
    let streak = Streak { failures: retry.failures, since: retry.since.unwrap_or(now), patience, in_place };
    let verdict = retry::decide(failure, streak, now);
    if let (Verdict::Park(until), true) = (verdict, retry::is_sent_away(failure)) {
        // Otherwise the next failure would exhaust the patience because of the time that the provider requested.
        retry.since = Some(until);
    }
    verdict
}

fn follow(run: &mut Run, verdict: Verdict, failure: &Failure, now: DateTime<Utc>) {
    let patience = run.patience();
    match (verdict, &run.state().stage) {
        (Verdict::Wait(until), _) => run.state_mut().retry.not_before = Some(patience.in_time(until)),
        (Verdict::Park(until), _) => {
            let until = patience.in_time(until);
            run.leave(JobExit::Parked { until, reason: format!("model unavailable: {}", failure.message) });
        }
        // A job can continue without a summary.
        (Verdict::GiveUp, &Stage::Summary { keep_from }) => {
            run.state_mut().retry = Retry::default();
            cut(run, keep_from, None, now);
        }
        (Verdict::GiveUp, _) => {
            let error = failed(run.state_mut(), failure, now);
            leave(run, JobExit::Failed(error));
        }
    }
}

/// A wrong key is corrected at the worker, so the job waits for a worker with a valid one, however long that takes, and
/// continues there by itself.
fn parked_for_key(failure: &Failure, patience: Patience, now: DateTime<Utc>) -> JobExit {
    let until = patience.in_time(retry::after_refused_key(failure, now));
    JobExit::Parked { until, reason: format!("{KEY_REFUSED}: {}", with_hint(failure)) }
}

/// The error of a job that gives up on its model. A retried job does not inherit the count that ended it.
fn failed(state: &mut State, failure: &Failure, now: DateTime<Utc>) -> JobError {
    let retry = std::mem::take(&mut state.retry);
    let error = JobError::new("model", format!("the model call failed: {}", failure.message))
        .with("class", serde_json::to_value(failure.class).unwrap_or_default())
        .with("stage", state.stage_name());
    let error = retry.explain(error, now);
    match &failure.hint {
        Some(hint) => error.with("hint", hint.clone()),
        None => error,
    }
}

/// Switches to the next model configured for this failure; returns whether there is one.
fn fall_back(run: &mut Run, failure: &Failure, now: DateTime<Utc>) -> bool {
    let failures = run.state().retry.failures;
    let after_present = run.state().fallback.map_or(0, |place| place + 1);
    let mut entries = run.settings().fallbacks.iter().enumerate().skip(after_present);
    let Some((place, _)) = entries.find(|(_, entry)| entry.answers(failure, failures)) else { return false };
    run.state_mut().fallback = Some(place);
    run.state_mut().retry = Retry::default();
    // It has a different window and tokenizer.
    run.conversation_mut().0.forget_anchor();
    if matches!(run.state().stage, Stage::Model) {
        bound_context(run, now);
    }
    true
}

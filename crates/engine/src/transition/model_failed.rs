//! The model call failed: wait, park, pause, shrink, or fail. A provider's outage costs no job (lesson 39).

use crate::{
    Change, Failure, FailureClass, JobError, JobExit, MessageKind, RequestRecord, Run, Stage, Suspicion,
    conversation::{
        Conversation,
        compaction::{MAX_COMPACTIONS_IN_ROW, Shrunk, bound_context, cut_mechanically, shrink},
    },
    guardrail::retry::{self, Streak, Verdict},
    run::Step,
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
    let failure = seen_with_its_size(failure, run.estimate(), window);
    run.note_request(RequestRecord { failure_class: Some(failure.class), ..failure.record.clone() });
    // The next request is different: it is made at once, to the same model. An endpoint teaches only a bounded
    // number of things.
    if failure.learnt {
        return;
    }
    run.state.retry.note(&failure.message, now);
    if failure.class == FailureClass::Permanent && reset_output_cap(run) {
        return;
    }
    if fall_back(run, &failure, now) {
        return;
    }
    match failure.class {
        FailureClass::Transient | FailureClass::RateLimited | FailureClass::Overloaded | FailureClass::Malformed => {
            try_again(run, &failure, now)
        }
        FailureClass::Quota => pause_for_operator(run, &failure),
        FailureClass::Unauthorized => park_for_key(run, &failure, now),
        FailureClass::ContextTooLong => shrink_after_refusal(run, &failure, now),
        FailureClass::Refused => ask_again(run, &failure, now),
        FailureClass::Permanent if may_pass(&failure, run.state.totals.tokens > 0) => try_again(run, &failure, now),
        FailureClass::Permanent | FailureClass::Abandoned => give_up(run, &failure, now),
    }
    if failure.suspicion == Some(Suspicion::Call) && matches!(run.state.stage, Stage::Model) {
        remark_on_call(&mut run.conversation, &mut run.step);
    }
    // A job that is parked or paused returns to its own model.
    if matches!(run.exit, Some(JobExit::Parked { .. } | JobExit::Paused { .. })) {
        run.restore_primary_model();
    }
}

/// The same request would produce the same call; so the model gets a hint, once.
fn remark_on_call(conversation: &mut Conversation, step: &mut Step) {
    if conversation.tail().next_back().is_none_or(|last| last.visible_content() != CALL_NOT_PARSED) {
        conversation.say(step, MessageKind::Nudge, CALL_NOT_PARSED.to_owned());
    }
}

/// Resets the cap of the answer, if it was raised: the provider may not allow more. Returns whether it was raised.
fn reset_output_cap(run: &mut Run) -> bool {
    let raised = matches!(run.state.stage, Stage::Model)
        && run.output_cap() > run.model_for(run.state.phase.kind.purpose()).max_output_tokens;
    run.state.guards.truncated_turns += u32::from(raised);
    raised
}

fn try_again(run: &mut Run, failure: &Failure, now: DateTime<Utc>) {
    let streak = Streak {
        failures: run.state.retry.failures,
        since: run.state.retry.since.unwrap_or(now),
        patience: run.patience,
        in_place: run.model_for(failure.record.purpose).max_retries,
    };
    let verdict = retry::decide(failure, streak, now);
    if let (Verdict::Park(until), true) = (verdict, retry::is_sent_away(failure)) {
        // Otherwise the next failure would exhaust the patience because of the time that the provider requested.
        run.state.retry.since = Some(until);
    }
    follow(run, verdict, failure, now);
}

fn follow(run: &mut Run, verdict: Verdict, failure: &Failure, now: DateTime<Utc>) {
    // The wait does not extend beyond the job's deadline: there it is paused with that reason.
    let in_time = |until: DateTime<Utc>| run.deadline.map_or(until, |deadline| until.min(deadline));
    match verdict {
        Verdict::Wait(until) => run.state.retry.not_before = Some(in_time(until)),
        Verdict::Park(until) => {
            let until = in_time(until);
            run.leave(JobExit::Parked { until, reason: format!("model unavailable: {}", failure.message) });
        }
        // A job can continue without a summary.
        Verdict::GiveUp if matches!(run.state.stage, Stage::Summary { .. }) => cut_mechanically(run, now),
        Verdict::GiveUp => fail(run, failure, now),
    }
}

/// A wrong key is corrected at the worker, so the job waits for a worker with a valid one and continues there by
/// itself.
fn park_for_key(run: &mut Run, failure: &Failure, now: DateTime<Utc>) {
    let until = retry::after_refused_key(failure, now);
    let until = run.deadline.map_or(until, |deadline| until.min(deadline));
    // However long that takes, it is not an outage of the provider.
    run.state.retry = crate::Retry::default();
    let reason = format!("{KEY_REFUSED}: {}", with_hint(failure));
    run.leave(JobExit::Parked { until, reason });
}

/// Only a person can add funds; waiting does not help. The work is kept.
fn pause_for_operator(run: &mut Run, failure: &Failure) {
    // The next attempt starts with a clean count once the operator has resumed the job.
    run.state.retry = crate::Retry::default();
    run.leave(JobExit::Paused { reason: with_hint(failure) });
}

fn shrink_after_refusal(run: &mut Run, failure: &Failure, now: DateTime<Utc>) {
    run.conversation.forget_anchor();
    if matches!(run.state.stage, Stage::Summary { .. }) {
        // The conversation is too large even for a summary: cut it without a model.
        cut_mechanically(run, now);
    } else if run.state.guards.compactions_in_row >= MAX_COMPACTIONS_IN_ROW || shrink(run, now) == Shrunk::Nothing {
        follow(run, retry::decide_refused(failure, run.state.retry.failures, now), failure, now);
    }
}

/// A content filter that refused by mistake accepts the next attempt; otherwise the job ends with its message.
fn ask_again(run: &mut Run, failure: &Failure, now: DateTime<Utc>) {
    match run.state.stage {
        Stage::Summary { .. } => cut_mechanically(run, now),
        Stage::Intake | Stage::Prepare { .. } | Stage::Model | Stage::Tools { .. } | Stage::Review { .. } => {
            follow(run, retry::decide_refused(failure, run.state.retry.failures, now), failure, now);
        }
    }
}

fn give_up(run: &mut Run, failure: &Failure, now: DateTime<Utc>) {
    if matches!(run.state.stage, Stage::Summary { .. }) {
        cut_mechanically(run, now);
    } else {
        fail(run, failure, now);
    }
}

fn fail(run: &mut Run, failure: &Failure, now: DateTime<Utc>) {
    // A retried job must not inherit the count that ended it (lesson 25).
    let retry = std::mem::take(&mut run.state.retry);
    let error = JobError::new("model", format!("the model call failed: {}", failure.message))
        .with("class", serde_json::to_value(failure.class).unwrap_or_default())
        .with("stage", run.state.stage_name());
    let mut error = retry.explain(error, now);
    if let Some(hint) = &failure.hint {
        error = error.with("hint", hint.clone());
    }
    run.leave(JobExit::Failed(error));
}

/// Switches to the next model configured for this failure; returns whether there is one.
fn fall_back(run: &mut Run, failure: &Failure, now: DateTime<Utc>) -> bool {
    let failures = run.state.retry.failures;
    let after_present = run.state.fallback.map_or(0, |place| place + 1);
    let mut entries = run.settings.fallbacks.iter().enumerate().skip(after_present);
    let Some((place, _)) = entries.find(|(_, entry)| entry.answers(failure, failures)) else { return false };
    run.state.fallback = Some(place);
    run.state.retry = crate::Retry::default();
    // It has a different window and tokenizer.
    run.conversation.forget_anchor();
    if matches!(run.state.stage, Stage::Model) {
        bound_context(run, now);
    }
    true
}

impl Run {
    /// Records a request, failed or not.
    pub(crate) fn note_request(&mut self, mut record: RequestRecord) {
        if std::mem::take(&mut self.state.shows_untrusted) {
            self.state.untrusted_step.get_or_insert(self.step.number());
        }
        let usage = record.usage();
        record.fallback = self.fallback_for(record.purpose).is_some();
        let by_prices = || self.model_for(record.purpose).prices.cost_microusd(&usage);
        record.cost_microusd = record.said_cost_microusd().unwrap_or_else(by_prices);
        let took = TimeDelta::try_milliseconds(record.duration_ms).unwrap_or_default();
        self.state.elapsed_s = (record.created_at + took - self.state.started_at).num_seconds().max(0);
        let totals = &mut self.state.totals;
        totals.requests += 1;
        totals.tokens += i64::from(usage.prompt_tokens) + i64::from(usage.completion_tokens);
        totals.cached_tokens += i64::from(usage.cached_tokens);
        totals.cost_microusd += record.cost_microusd;
        self.step.push(Change::Request(record));
    }
}

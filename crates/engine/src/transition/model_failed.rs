//! The model call failed: wait, park, pause, shrink, or fail. A provider's outage costs no job (lesson 39).

use crate::{
    Change, Failure, FailureClass, JobError, JobExit, MessageKind, RequestRecord, Run, Stage, Suspicion,
    conversation::compaction::{MAX_COMPACTIONS_IN_ROW, Shrunk},
    guardrail::retry::{self, Streak, Verdict},
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

impl Run {
    pub(super) fn model_failed(&mut self, failure: Failure, now: DateTime<Utc>) {
        let failure = self.seen_with_its_size(failure);
        self.note_request(RequestRecord { failure_class: Some(failure.class), ..failure.record.clone() });
        // The next request is different: it is made at once, to the same model. An endpoint teaches only a bounded
        // number of things.
        if failure.learnt {
            return;
        }
        self.state.retry.note(&failure.message, now);
        if failure.class == FailureClass::Permanent && self.reset_output_cap() {
            return;
        }
        if self.fall_back(&failure, now) {
            return;
        }
        match failure.class {
            FailureClass::Transient
            | FailureClass::RateLimited
            | FailureClass::Overloaded
            | FailureClass::Malformed => self.try_again(&failure, now),
            FailureClass::Quota => self.pause_for_operator(&failure),
            FailureClass::Unauthorized => self.park_for_key(&failure, now),
            FailureClass::ContextTooLong => self.shrink_after_refusal(&failure, now),
            FailureClass::Refused => self.ask_again(&failure, now),
            FailureClass::Permanent if self.may_pass(&failure) => self.try_again(&failure, now),
            FailureClass::Permanent | FailureClass::Abandoned => self.give_up(&failure, now),
        }
        if failure.suspicion == Some(Suspicion::Call) && matches!(self.state.stage, Stage::Model) {
            self.remark_on_call();
        }
        self.come_back_if_left();
    }

    /// A refusal without a clear reason is attributed to the size if by our own count the window is nearly full: no
    /// list of the messages for an overflow is complete.
    fn seen_with_its_size(&self, mut failure: Failure) -> Failure {
        let window = self.model_for(failure.record.purpose).context_window;
        let estimate = self.estimate();
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
    fn may_pass(&self, failure: &Failure) -> bool {
        failure.suspicion == Some(Suspicion::Passing) && self.state.totals.tokens > 0
    }

    /// The same request would produce the same call; so the model gets a hint, once.
    fn remark_on_call(&mut self) {
        if self.conversation.tail().next_back().is_none_or(|last| last.visible_content() != CALL_NOT_PARSED) {
            self.conversation.say(&mut self.step, MessageKind::Nudge, CALL_NOT_PARSED.to_owned());
        }
    }

    fn try_again(&mut self, failure: &Failure, now: DateTime<Utc>) {
        let streak = Streak {
            failures: self.state.retry.failures,
            since: self.state.retry.since.unwrap_or(now),
            patience: self.patience,
            in_place: self.model_for(failure.record.purpose).max_retries,
        };
        let verdict = retry::decide(failure, streak, now);
        if let (Verdict::Park(until), true) = (verdict, retry::is_sent_away(failure)) {
            // Otherwise the next failure would exhaust the patience because of the time that the provider requested.
            self.state.retry.since = Some(until);
        }
        self.follow(verdict, failure, now);
    }

    fn follow(&mut self, verdict: Verdict, failure: &Failure, now: DateTime<Utc>) {
        // The wait does not extend beyond the job's deadline: there it is paused with that reason.
        let in_time = |until: DateTime<Utc>| self.deadline.map_or(until, |deadline| until.min(deadline));
        match verdict {
            Verdict::Wait(until) => self.state.retry.not_before = Some(in_time(until)),
            Verdict::Park(until) => {
                let until = in_time(until);
                self.leave(JobExit::Parked { until, reason: format!("model unavailable: {}", failure.message) });
            }
            // A job can continue without a summary.
            Verdict::GiveUp if matches!(self.state.stage, Stage::Summary { .. }) => self.cut_mechanically(now),
            Verdict::GiveUp => self.fail(failure, now),
        }
    }

    /// A wrong key is corrected at the worker, so the job waits for a worker with a valid one and continues there by
    /// itself.
    fn park_for_key(&mut self, failure: &Failure, now: DateTime<Utc>) {
        let until = retry::after_refused_key(failure, now);
        let until = self.deadline.map_or(until, |deadline| until.min(deadline));
        // However long that takes, it is not an outage of the provider.
        self.state.retry = crate::Retry::default();
        let reason = format!("{KEY_REFUSED}: {}", with_hint(failure));
        self.leave(JobExit::Parked { until, reason });
    }

    /// Only a person can add funds; waiting does not help. The work is kept.
    fn pause_for_operator(&mut self, failure: &Failure) {
        // The next attempt starts with a clean count once the operator has resumed the job.
        self.state.retry = crate::Retry::default();
        self.leave(JobExit::Paused { reason: with_hint(failure) });
    }

    fn shrink_after_refusal(&mut self, failure: &Failure, now: DateTime<Utc>) {
        self.conversation.forget_anchor();
        if matches!(self.state.stage, Stage::Summary { .. }) {
            // The conversation is too large even for a summary: cut it without a model.
            self.cut_mechanically(now);
        } else if self.state.guards.compactions_in_row >= MAX_COMPACTIONS_IN_ROW || self.shrink(now) == Shrunk::Nothing
        {
            self.follow(retry::decide_refused(failure, self.state.retry.failures, now), failure, now);
        }
    }

    /// A content filter that refused by mistake accepts the next attempt; otherwise the job ends with its message.
    fn ask_again(&mut self, failure: &Failure, now: DateTime<Utc>) {
        match self.state.stage {
            Stage::Summary { .. } => self.cut_mechanically(now),
            Stage::Intake | Stage::Prepare { .. } | Stage::Model | Stage::Tools { .. } | Stage::Review { .. } => {
                self.follow(retry::decide_refused(failure, self.state.retry.failures, now), failure, now);
            }
        }
    }

    fn give_up(&mut self, failure: &Failure, now: DateTime<Utc>) {
        if matches!(self.state.stage, Stage::Summary { .. }) {
            self.cut_mechanically(now);
        } else {
            self.fail(failure, now);
        }
    }

    fn fail(&mut self, failure: &Failure, now: DateTime<Utc>) {
        // A retried job must not inherit the count that ended it (lesson 25).
        let retry = std::mem::take(&mut self.state.retry);
        let error = JobError::new("model", format!("the model call failed: {}", failure.message))
            .with("class", serde_json::to_value(failure.class).unwrap_or_default())
            .with("stage", self.stage_name());
        let mut error = retry.explain(error, now);
        if let Some(hint) = &failure.hint {
            error = error.with("hint", hint.clone());
        }
        self.leave(JobExit::Failed(error));
    }

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

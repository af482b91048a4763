//! The model call failed: wait, park, pause, shrink, or fail. A provider's outage costs no job (lesson 39).

use crate::{
    Change, Failure, FailureClass, JobError, Leave, Run, Stage, budget,
    compaction::{MAX_COMPACTIONS_IN_ROW, Shrunk},
    retry::{self, Streak, Verdict},
};
use chrono::{DateTime, Utc};

impl Run {
    pub(super) fn model_failed(&mut self, failure: Failure, now: DateTime<Utc>) {
        self.note_request(failure.record.clone());
        self.note_failure(&failure, now);
        if failure.class == FailureClass::Permanent && self.lower_the_cap() {
            return;
        }
        match failure.class {
            FailureClass::Transient
            | FailureClass::RateLimited
            | FailureClass::Overloaded
            | FailureClass::Malformed => self.try_again(&failure, now),
            FailureClass::Quota | FailureClass::Unauthorized => self.pause_for_operator(&failure),
            FailureClass::ContextTooLong => self.shrink_after_refusal(&failure, now),
            FailureClass::Refused => self.ask_again(&failure, now),
            FailureClass::Permanent => self.give_up(&failure, now),
        }
    }

    fn note_failure(&mut self, failure: &Failure, now: DateTime<Utc>) {
        let retry = &mut self.state.retry;
        retry.failures += 1;
        retry.since.get_or_insert(now);
        retry.first_error.get_or_insert_with(|| failure.message.clone());
        retry.last_error = Some(failure.message.clone());
    }

    fn try_again(&mut self, failure: &Failure, now: DateTime<Utc>) {
        let streak = Streak {
            failures: self.state.retry.failures,
            since: self.state.retry.since.unwrap_or(now),
            in_place: self.settings.model_for(failure.record.purpose).max_retries,
        };
        self.follow(retry::decide(failure, streak, now), failure);
    }

    fn follow(&mut self, verdict: Verdict, failure: &Failure) {
        // Nobody waits for longer than the job may last: at its deadline it is paused with that reason.
        let in_time = |until: DateTime<Utc>| budget::deadline(self).map_or(until, |deadline| until.min(deadline));
        match verdict {
            Verdict::Wait(until) => self.state.retry.not_before = Some(in_time(until)),
            Verdict::Park(until) => {
                let until = in_time(until);
                self.leave(Leave::Parked { until, reason: format!("model unavailable: {}", failure.message) });
            }
            Verdict::GiveUp => self.fail(failure),
        }
    }

    /// Waiting does not bring money or a key; a person does. The work is kept.
    fn pause_for_operator(&mut self, failure: &Failure) {
        let hint = failure.hint.as_deref().map(|hint| format!("; {hint}")).unwrap_or_default();
        // The next try starts with a clean count once the operator has resumed the job.
        self.state.retry = crate::Retry::default();
        self.leave(Leave::Paused { reason: format!("{}{hint}", failure.message) });
    }

    fn shrink_after_refusal(&mut self, failure: &Failure, now: DateTime<Utc>) {
        self.state.context.anchor = None;
        if matches!(self.state.stage, Stage::Summary { .. }) {
            // The conversation does not even fit for summarizing: the mechanical rung of the ladder.
            self.cut_mechanically(now);
        } else if self.state.guards.compactions_in_row >= MAX_COMPACTIONS_IN_ROW || self.shrink(now) == Shrunk::Nothing
        {
            self.follow(retry::decide_refused(failure, self.state.retry.failures, now), failure);
        }
    }

    /// A filter that took offence by mistake says otherwise the next time, or does not: then the job ends by its word.
    fn ask_again(&mut self, failure: &Failure, now: DateTime<Utc>) {
        match self.state.stage {
            Stage::Summary { .. } => self.cut_mechanically(now),
            Stage::Intake | Stage::Model | Stage::Tools { .. } | Stage::Review { .. } => {
                self.follow(retry::decide_refused(failure, self.state.retry.failures, now), failure);
            }
        }
    }

    fn give_up(&mut self, failure: &Failure, now: DateTime<Utc>) {
        if matches!(self.state.stage, Stage::Summary { .. }) {
            self.cut_mechanically(now);
        } else {
            self.fail(failure);
        }
    }

    fn fail(&mut self, failure: &Failure) {
        let retry = &self.state.retry;
        let mut error = JobError::new("model", format!("the model call failed: {}", failure.message))
            .with("class", serde_json::to_value(failure.class).unwrap_or_default())
            .with("stage", self.stage_name())
            .with("attempts", retry.failures)
            .with("first_error", retry.first_error.clone())
            .with("last_error", retry.last_error.clone());
        if let Some(hint) = &failure.hint {
            error = error.with("hint", hint.clone());
        }
        // A retried job must not inherit the count that ended it (lesson 25).
        self.state.retry = crate::Retry::default();
        self.leave(Leave::Failed(error));
    }

    /// Books a request, failed or not.
    pub(crate) fn note_request(&mut self, record: crate::RequestRecord) {
        let usage = record.usage();
        let totals = &mut self.state.totals;
        totals.requests += 1;
        totals.tokens += i64::from(usage.prompt_tokens) + i64::from(usage.completion_tokens);
        totals.cached_tokens += i64::from(usage.cached_tokens);
        totals.cost_microusd += self.settings.model_for(record.purpose).prices.cost_microusd(&usage);
        self.pending.push(Change::Request(record));
    }
}

//! Applies an outcome to a run: one file per outcome, one `match` over stage and outcome here. An outcome that does not
//! match the stage is [`Illegal`] and leaves the run unchanged.

mod after_calls;
mod approvals;
mod calls;
mod carried;
mod cut_input;
pub(crate) mod error_file;
mod fate;
mod feedback;
mod files_placed;
mod held_calls;
mod intake;
mod model_failed;
mod model_replied;
mod prepared;
pub(crate) mod replan;
mod tools_unavailable;
mod turn;

use crate::{
    Change, ClosedTodos, Illegal, Inspected, JobError, JobExit, Outcome, OutcomeKind, Reply, Run, Stage,
    conversation::compaction::{bound_context, refuse_summary, summarized},
    guardrail::budget,
    ledger::Ledger,
    phase::transition::{forget_failure, record_failure},
    run::Step,
};
use calls::{dispatch_refused, tools_returned};
use chrono::{DateTime, Utc};
use cut_input::Asked;
use model_replied::model_replied;
use serde_json::json;

pub use approvals::EDITED;
pub(crate) use fate::MAX_CALLS;
pub use held_calls::HELD_RESULT;
pub use model_failed::KEY_REFUSED;
pub(crate) use model_replied::{CUT_OFF, INVALID_JSON, WHY};
pub(crate) use prepared::start_preparation;
pub(crate) use turn::{is_unsafe, load_calls};

/// The consequence of a call beyond its result.
#[derive(Debug, Default)]
pub(crate) enum Consequence {
    /// The phase continues.
    #[default]
    None,
    /// The phase ends and this one begins.
    NextPhase(crate::phase::NextPhase),
    /// The job leaves.
    Exit(JobExit),
}

/// Adds what was counted in the job's files, and what they rest on, to the result, if the return has it.
fn count(exit: &mut JobExit, content: &str) {
    if let JobExit::Completed { result } | JobExit::Review { result, .. } = exit
        && let Ok(Inspected { counts, rests_on }) = serde_json::from_str(content)
    {
        result["counts"] = json!(counts);
        if !rests_on.is_empty() {
            result["rests_on"] = json!(rests_on);
        }
    }
}

/// The kind of error of a job in which no document has text (INTERFACE 9.1).
const NO_TEXT: &str = "no_text";

/// The job cannot work with its documents.
fn refuse_intake(run: &mut Run, reason: String, no_text: bool) {
    let kind = if no_text { NO_TEXT } else { "input" };
    run.leave(JobExit::Failed(JobError::new(kind, reason).with("stage", "intake")));
}

/// Adds the rows of the ledger changed by an outcome to the step.
fn record_coverage(ledger: &mut Ledger, step: &mut Step) {
    let (put, dropped) = ledger.take_changes();
    if !dropped.is_empty() {
        step.push(Change::PassagesDropped(dropped));
    }
    if !put.is_empty() {
        step.push(Change::PassagesPut(put));
    }
}

fn replied(run: &mut Run, reply: Reply, now: DateTime<Utc>) {
    let model = run.model_for(reply.record.purpose);
    let (window, is_whole) = (model.context_window, model.reports_whole_prompt);
    let own = match run.state.stage {
        Stage::Summary { keep_from } => run.conversation.count_before(keep_from),
        Stage::Intake | Stage::Prepare { .. } | Stage::Model | Stage::Tools { .. } | Stage::Review { .. } => {
            run.conversation.own_count(run.frame())
        }
    };
    let asked = Asked { own, window, is_whole };
    let (conversation, kind) = (&run.conversation, run.state.phase.kind);
    let fixed = || conversation.call_tokens().saturating_add(conversation.tool_tokens(kind));
    let texts = || asked.own.saturating_sub(fixed());
    let reads_a_part = asked.reads_a_part(&mut run.state.guards.small_counts, &reply.record, texts);
    let reply = asked.with_own_count(reply);
    match run.state.stage {
        // A summary of a part would be mistaken for one of the whole.
        Stage::Summary { .. } if reads_a_part.is_some() => refuse_summary(run, reply.record, now),
        Stage::Summary { keep_from } => summarized(run, reply, keep_from, now),
        Stage::Intake | Stage::Prepare { .. } | Stage::Model | Stage::Tools { .. } | Stage::Review { .. } => {
            model_replied(run, reply, now)
        }
    }
    // The server's answer is kept, in case a person resumes the job.
    if let (Some(reason), None) = (reads_a_part, &run.exit) {
        run.leave(JobExit::Paused { reason });
    }
}

fn check_legal(run: &Run, outcome: &Outcome) -> Result<(), Illegal> {
    let waiting = run.state.retry.not_before.is_some();
    let legal = run.exit.is_none()
        && match (&run.state.stage, outcome) {
            (_, Outcome::FeedbackReceived(_)) => true,
            (_, Outcome::Woken) => waiting,
            (Stage::Intake, Outcome::IntakeDone(_) | Outcome::IntakeRefused { .. })
            | (Stage::Model, Outcome::FilesPlaced(_)) => true,
            (Stage::Prepare { .. }, Outcome::Prepared(prepared)) => {
                run.workspace.unprepared(&run.ledger).next() == Some(prepared.document.as_str())
            }
            (Stage::Prepare { .. }, Outcome::Carried(_)) => {
                run.workspace.unprepared(&run.ledger).next().is_none() && run.state.carries_over().is_some()
            }
            (Stage::Model | Stage::Summary { .. }, Outcome::ModelReplied(_) | Outcome::ModelFailed(_)) => !waiting,
            (Stage::Tools { .. }, Outcome::ToolsReturned(returns)) => {
                run.calls.are_answered(run.state.stage.next_call(), returns)
            }
            (Stage::Tools { .. }, Outcome::ToolsUnavailable(outage)) => {
                !waiting && run.calls.are_answered_before(run.state.stage.next_call(), &outage.returns)
            }
            (Stage::Tools { calls, .. }, Outcome::DispatchRefused) => calls.dispatched && !run.calls.committed,
            (
                Stage::Intake
                | Stage::Prepare { .. }
                | Stage::Model
                | Stage::Tools { .. }
                | Stage::Summary { .. }
                | Stage::Review { .. },
                Outcome::IntakeDone(_)
                | Outcome::IntakeRefused { .. }
                | Outcome::Prepared(_)
                | Outcome::Carried(_)
                | Outcome::ModelReplied(_)
                | Outcome::ModelFailed(_)
                | Outcome::ToolsReturned(_)
                | Outcome::ToolsUnavailable(_)
                | Outcome::DispatchRefused
                | Outcome::FilesPlaced(_),
            ) => false,
        };
    if legal {
        Ok(())
    } else {
        Err(Illegal {
            stage: run.exit.as_ref().map_or_else(|| run.state.stage_name(), |_| "left".into()),
            outcome: OutcomeKind::from(outcome).into(),
        })
    }
}

/// No request is made beyond a budget, whether it is a turn, a summary or a retry.
fn enforce_budgets(run: &mut Run, now: DateTime<Utc>) {
    let asks_next = matches!(run.state.stage, Stage::Model | Stage::Summary { .. });
    if run.exit.is_none()
        && asks_next
        && let Some(reason) = run.limit_reached(now).map(|(_, reason)| reason)
    {
        run.leave(budget::pause(&run.state.retry, &reason));
    }
}

impl Run {
    /// Applies an outcome and returns the changes to write. `now` is the caller's clock.
    ///
    /// # Errors
    /// [`Illegal`] if the outcome does not match what the run waits for; the run is unchanged.
    pub fn apply(&mut self, outcome: Outcome, now: DateTime<Utc>) -> Result<Vec<Change>, Illegal> {
        check_legal(self, &outcome)?;
        forget_failure(self);
        match outcome {
            Outcome::IntakeDone(intake) => intake::done(self, intake, now),
            Outcome::IntakeRefused { reason, no_text } => refuse_intake(self, reason, no_text),
            Outcome::Prepared(prepared) => prepared::apply(self, prepared, now),
            Outcome::Carried(carried) => carried::apply(self, carried, now),
            Outcome::ModelReplied(reply) => replied(self, reply, now),
            Outcome::ModelFailed(failure) => model_failed::apply(self, failure, now),
            Outcome::ToolsReturned(returns) => tools_returned(self, returns, now),
            Outcome::ToolsUnavailable(outage) => tools_unavailable::apply(self, outage, now),
            Outcome::DispatchRefused => dispatch_refused(self, now),
            Outcome::Woken => self.state.retry.not_before = None,
            Outcome::FeedbackReceived(feedback) => feedback::received(self, feedback, now),
            Outcome::FilesPlaced(placed) => files_placed::apply(self, placed, now),
        }
        enforce_budgets(self, now);
        record_coverage(&mut self.ledger, &mut self.step);
        (self.state.context, self.state.next_seq) = self.conversation.checkpoint();
        Ok(self.step.take())
    }

    /// The job leaves this worker.
    pub(crate) fn leave(&mut self, leave: JobExit) {
        if let JobExit::Failed(error) = &leave {
            record_failure(self, error);
        }
        self.go(leave);
    }

    /// The same, once everything about it is recorded.
    pub(crate) fn go(&mut self, leave: JobExit) {
        self.step.push(Change::Exited(leave.clone()));
        self.exit = Some(leave);
    }

    /// The run is about to call the model again: adds feedback, enforces the budgets, bounds the context.
    pub(crate) fn ready_for_model(&mut self, now: DateTime<Utc>) {
        self.state.stage = Stage::Model;
        self.conversation.clear_judged(&mut self.step, self.state.given.take_judged());
        let drops = self.settings.limits.closed_todos == ClosedTodos::Drop;
        if drops || !self.model_for(self.state.phase.kind.purpose()).prefix_cache {
            self.conversation.clear_closed_todos(&mut self.step, &self.state.given, &self.ledger);
        }
        feedback::take(&mut self.feedback, &mut self.conversation, &mut self.step);
        enforce_budgets(self, now);
        bound_context(self, now);
    }
}

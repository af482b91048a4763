//! Applies an outcome to a run: one file per outcome, one `match` over stage and outcome here. An outcome that does not
//! match the stage is [`Illegal`] and leaves the run unchanged.

mod after_calls;
mod approvals;
mod calls;
mod carried;
mod close_todo;
mod context;
mod cut_input;
mod deliver;
mod error_file;
mod fate;
mod feedback;
mod files_placed;
mod held_calls;
mod intake;
mod model_failed;
mod model_replied;
mod own_tools;
mod phases;
mod prepared;
mod replan;
mod run;
mod tools_unavailable;
mod turn;

use crate::{
    Change, ClosedTodos, Illegal, Inspected, JobError, JobExit, Outcome, OutcomeKind, Reply, RequestRecord, Stage,
    guardrail::budget,
    run::request::{frame, turn_model},
};
use calls::{dispatch_refused, go_on_with_calls, take_returns};
use chrono::{DateTime, Utc};
use context::{bound_context, summarized};
use cut_input::Asked;
use model_replied::model_replied;
use phases::{files_after_failure, files_of_failure};
use serde_json::json;

pub use approvals::EDITED;
pub use deliver::SystemStatements;
pub(crate) use fate::MAX_CALLS;
pub use held_calls::HELD_RESULT;
pub use model_failed::KEY_REFUSED;
pub(crate) use model_replied::{CUT_OFF, INVALID_JSON, WHY};
pub use run::Run;
pub(crate) use turn::is_unsafe;

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

/// The kind of error of a job in which no document has text.
const NO_TEXT: &str = "no_text";

/// The exit of a job that cannot work with its documents.
fn refused_intake(reason: String, no_text: bool) -> JobExit {
    let kind = if no_text { NO_TEXT } else { "input" };
    JobExit::Failed(JobError::new(kind, reason).with("stage", "intake"))
}

fn replied(run: &mut Run, reply: Reply, now: DateTime<Utc>) {
    let model = run.model_for(reply.record.purpose);
    let (window, is_whole) = (model.context_window, model.reports_whole_prompt);
    let own = match run.state().stage {
        Stage::Summary { keep_from } => run.conversation().count_before(keep_from),
        Stage::Intake | Stage::Prepare { .. } | Stage::Model | Stage::Tools { .. } | Stage::Review { .. } => {
            run.conversation().own_count(frame(run))
        }
    };
    let asked = Asked { own, window, is_whole };
    let (conversation, kind) = (run.conversation(), run.state().phase.kind);
    let fixed = || conversation.call_tokens().saturating_add(conversation.tool_tokens(kind));
    let texts = || asked.own.saturating_sub(fixed());
    let mut counts = run.state().guards.small_counts;
    let reads_a_part = asked.reads_a_part(&mut counts, &reply.record, texts);
    run.state_mut().guards.small_counts = counts;
    let reply = asked.with_own_count(reply);
    match run.state().stage {
        Stage::Summary { keep_from } => summarized(run, reply, keep_from, reads_a_part.is_none(), now),
        Stage::Intake | Stage::Prepare { .. } | Stage::Model | Stage::Tools { .. } | Stage::Review { .. } => {
            model_replied(run, reply, now)
        }
    }
    // The server's answer is kept, in case a person resumes the job.
    if let (Some(reason), None) = (reads_a_part, run.exit()) {
        run.leave(JobExit::Paused { reason });
    }
}

fn check_legal(run: &Run, outcome: &Outcome) -> Result<(), Illegal> {
    let waiting = run.state().retry.not_before.is_some();
    let legal = run.exit().is_none()
        && match (&run.state().stage, outcome) {
            (_, Outcome::FeedbackReceived(_)) => true,
            (_, Outcome::Woken) => waiting,
            (Stage::Intake, Outcome::IntakeDone(_) | Outcome::IntakeRefused { .. })
            | (Stage::Model, Outcome::FilesPlaced(_)) => true,
            (Stage::Prepare { .. }, Outcome::Prepared(prepared)) => {
                run.workspace().unprepared(run.ledger()).next() == Some(prepared.document.as_str())
            }
            (Stage::Prepare { .. }, Outcome::Carried(_)) => {
                run.workspace().unprepared(run.ledger()).next().is_none() && run.state().carries_over().is_some()
            }
            (Stage::Model | Stage::Summary { .. }, Outcome::ModelReplied(_) | Outcome::ModelFailed(_)) => !waiting,
            (Stage::Tools { .. }, Outcome::ToolsReturned(returns)) => {
                run.calls().are_answered(run.state().stage.next_call(), returns)
            }
            (Stage::Tools { .. }, Outcome::ToolsUnavailable(outage)) => {
                !waiting && run.calls().are_answered_before(run.state().stage.next_call(), &outage.returns)
            }
            (Stage::Tools { calls, .. }, Outcome::DispatchRefused) => calls.dispatched && !run.calls().committed,
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
            stage: run.exit().map_or_else(|| run.state().stage_name(), |_| "left".into()),
            outcome: OutcomeKind::from(outcome).into(),
        })
    }
}

/// No request is made beyond a budget, whether it is a turn, a summary or a retry.
fn enforce_budgets(run: &mut Run, now: DateTime<Utc>) {
    let asks_next = matches!(run.state().stage, Stage::Model | Stage::Summary { .. });
    if run.exit().is_none()
        && asks_next
        && let Some(reason) = run.limit_reached(now).map(|(_, reason)| reason)
    {
        run.leave(budget::pause(&run.state().retry, &reason));
    }
}

impl Run {
    /// Applies an outcome and returns the changes to write. `now` is the caller's clock.
    ///
    /// # Errors
    /// [`Illegal`] if the outcome does not match what the run waits for; the run is unchanged.
    pub fn apply(&mut self, outcome: Outcome, now: DateTime<Utc>) -> Result<Vec<Change>, Illegal> {
        check_legal(self, &outcome)?;
        files_after_failure(self).into_iter().for_each(|product| self.record_product(product));
        match outcome {
            Outcome::IntakeDone(intake) => intake::done(self, intake, now),
            Outcome::IntakeRefused { reason, no_text } => leave(self, refused_intake(reason, no_text)),
            Outcome::Prepared(prepared) => prepared::apply(self, prepared, now),
            Outcome::Carried(carried) => carried::apply(self, carried, now),
            Outcome::ModelReplied(reply) => replied(self, reply, now),
            Outcome::ModelFailed(failure) => model_failed::apply(self, failure, now),
            Outcome::ToolsReturned(returns) => {
                take_returns(self, returns);
                go_on_with_calls(self, now);
            }
            Outcome::ToolsUnavailable(outage) => tools_unavailable::apply(self, outage, now),
            Outcome::DispatchRefused => dispatch_refused(self, now),
            Outcome::Woken => self.state_mut().retry.not_before = None,
            Outcome::FeedbackReceived(feedback) => feedback::received(self, feedback, now),
            Outcome::FilesPlaced(placed) => files_placed::apply(self, placed, now),
        }
        enforce_budgets(self, now);
        Ok(self.take_changes())
    }
}

/// The job leaves this worker. A failure is recorded in files, too.
fn leave(run: &mut Run, exit: JobExit) {
    if let JobExit::Failed(error) = &exit {
        files_of_failure(run, error).into_iter().for_each(|product| run.record_product(product));
    }
    run.leave(exit);
}

/// The run is about to call the model again: adds feedback, enforces the budgets, bounds the context.
fn ready_for_model(run: &mut Run, now: DateTime<Utc>) {
    run.state_mut().stage = Stage::Model;
    let judged = run.state_mut().given.take_judged();
    let (conversation, step) = run.conversation_mut();
    conversation.clear_judged(step, judged);
    let drops = run.settings().limits.closed_todos == ClosedTodos::Drop || !turn_model(run).prefix_cache;
    if drops && run.conversation().has_closed_todo() {
        let done = run.conversation().of_closed_todos(&run.state().given, run.ledger());
        let (conversation, step) = run.conversation_mut();
        conversation.clear(step, done.results);
    }
    feedback::take(run);
    enforce_budgets(run, now);
    bound_context(run, now);
}

/// Records a request, failed or not.
fn note_request(run: &mut Run, mut record: RequestRecord) {
    let usage = record.usage();
    record.fallback = run.fallback_for(record.purpose).is_some();
    let by_prices = || run.model_for(record.purpose).prices.cost_microusd(&usage);
    record.cost_microusd = record.said_cost_microusd().unwrap_or_else(by_prices);
    let step = run.ledger_mut().1;
    run.state_mut().note_request(&record, &usage, step);
    run.push(Change::Request(record));
}

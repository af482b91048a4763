//! The calls of the current answer: their state in the checkpoint ([`CallProgress`]), and the data derived from it when
//! a run is loaded ([`AnswerCalls`]).

use crate::{
    Approval, Check, JobExit, NextPhase, Room, ToolCall, ToolReturn, ledger::ShownPassage, run::is_default,
    tools::parsed_call::ParsedCall, vocabulary::Approvals,
};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The progress of an answer's calls. It is committed before the run waits for the outside, if that wait needs a
/// commit.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct CallProgress {
    /// Number of calls that have their result.
    pub answered: usize,
    /// Number of these that were executed.
    pub done: usize,
    /// Whether the next call, which must not be repeated, is dispatched: without a result, its outcome is unknown to
    /// every later claim.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub dispatched: bool,
    /// Whether a call other than a gate has failed.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub failed: bool,
    /// Whether a call has changed something.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub progress: bool,
    /// The todo whose closing was refused: a later closing in the same answer was meant for the next todo.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused_closing: Option<i32>,
    /// How many todos the system has closed beside those of the answer, because the state answered them: as many
    /// closings of the answer were meant for them.
    #[serde(skip_serializing_if = "is_default")]
    pub closed_beside: u32,
    /// Why the phase is to be planned again: a call that repeats itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stuck: Option<String>,
    /// Remaining room for the results.
    pub room: Room,
    /// Deferred tools that are bound from the next request on.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub loading: Vec<String>,
    /// The end of the phase, once a call has caused it: it takes effect after the remaining calls that belong to the
    /// phase.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end: Option<PhaseEnd>,
    /// Held calls from the end of the last phase, which this phase executes before its first request; they replace the
    /// answer's calls.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub held: Vec<ToolCall>,
}

/// The end of a phase that is followed by calls of the same answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PhaseEnd {
    /// The next phase.
    pub next: NextPhase,
    /// `seq` of the results of calls that were executed after it, in the ending phase.
    pub results: Vec<i64>,
}

/// A call and its parsed arguments.
#[derive(Debug)]
pub(crate) struct AnswerCall {
    pub(crate) call: ToolCall,
    pub(crate) parsed: ParsedCall,
}

/// The calls of the current answer; empty while no results are awaited.
#[derive(Debug, Default)]
pub(crate) struct AnswerCalls {
    calls: Vec<Arc<AnswerCall>>,
    /// People's decisions on calls that have no outcome yet, of any answer.
    pub(crate) approvals: Approvals,
    /// How many calls, from the next one on, the outside executes or checks now.
    pub(crate) waiting: usize,
    /// What the outside checks before the engine executes the next call.
    pub(crate) check: Option<Check>,
    /// Whether the next call was dispatched by an earlier claim.
    pub(crate) in_doubt: bool,
    /// Whether the answer, and the dispatch of the next call if it has one, is committed.
    pub(crate) committed: bool,
    /// The exit that a call has caused; the remaining calls of the answer are not executed.
    pub(crate) exit: Option<JobExit>,
    /// The tool that failed through no fault of its call, and why, if the job must not continue without it.
    pub(crate) broken: Option<(String, String)>,
    /// The passage that was read for the current call.
    pub(crate) shown: Option<ShownPassage>,
}

impl AnswerCalls {
    pub(crate) fn new(approvals: Vec<Approval>) -> Self {
        Self { approvals: approvals.into(), ..Self::default() }
    }

    /// Those of another answer begin, or none; returns those before.
    pub(crate) fn begin(&mut self, calls: impl IntoIterator<Item = (ToolCall, ParsedCall)>) -> Vec<Arc<AnswerCall>> {
        let calls = calls.into_iter().map(|(call, parsed)| Arc::new(AnswerCall { call, parsed })).collect();
        let approvals = std::mem::take(&mut self.approvals);
        std::mem::replace(self, Self { calls, approvals, ..Self::default() }).calls
    }

    /// The outside executes or checks this many calls now.
    pub(crate) fn wait_for(&mut self, (waiting, check): (usize, Option<Check>)) {
        (self.waiting, self.check) = (waiting, check);
    }

    pub(crate) fn get(&self, at: usize) -> Option<Arc<AnswerCall>> {
        self.calls.get(at).cloned()
    }

    /// The calls that the outside executes or checks now, in order, from this one on.
    pub(crate) fn waiting_from(&self, at: usize) -> impl Iterator<Item = &AnswerCall> {
        self.from(at).iter().take(self.waiting).map(AsRef::as_ref)
    }

    /// Whether there is one return per requested call, in order.
    pub(crate) fn are_answered(&self, at: usize, returns: &[ToolReturn]) -> bool {
        self.waiting == returns.len() && self.are_first(at, returns)
    }

    /// Whether the returns are those of the first calls, and some are left.
    pub(crate) fn are_answered_before(&self, at: usize, returns: &[ToolReturn]) -> bool {
        returns.len() < self.waiting && self.are_first(at, returns)
    }

    fn are_first(&self, at: usize, returns: &[ToolReturn]) -> bool {
        self.waiting_from(at).zip(returns).all(|(item, given)| item.call.id == given.call_id)
    }

    /// The calls from index `at` on.
    pub(crate) fn from(&self, at: usize) -> &[Arc<AnswerCall>] {
        self.calls.get(at..).unwrap_or_default()
    }
}

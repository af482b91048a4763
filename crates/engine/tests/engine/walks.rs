//! Random walks: legal outcomes with mostly sensible calls, in hundreds of short lives. The kit checks every request
//! and every rebuild; here are the other invariants after each step.

mod choices;
mod invariants;

use crate::kit::{Dialogue, call, failure, intake, reply, says};
use choices::Choices;
use chrono::TimeDelta;
use invariants::Watch;
use plumbline_engine::{
    Autonomy, Effect, Failure, FailureClass, Feedback, FinishReason, HistoryAtBoundary, JobExit, Outcome, PhaseKind,
    Purpose, Reply, Settings, Stage, Suspicion, TodoListPosition, ToolCall,
};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use serde_json::json;

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 200,
        rng_seed: RngSeed::Fixed(20_260_101),
        failure_persistence: None,
        max_shrink_iters: 100,
        ..ProptestConfig::default()
    })]

    #[test]
    fn a_job_keeps_its_invariants_whatever_happens(choices in proptest::collection::vec(any::<u16>(), 100..300)) {
        let mut walk = Walk::new(Choices::new(choices));
        while !walk.choices.are_over() && walk.step() {}
    }
}

/// The life of a job, driven by choices.
struct Walk {
    dialogue: Dialogue,
    choices: Choices,
    watch: Watch,
}

impl Walk {
    fn new(mut choices: Choices) -> Self {
        let mut dialogue = Dialogue::new(narrow(&mut choices));
        dialogue.counts = true;
        Self { dialogue, choices, watch: Watch::default() }
    }

    /// One step; false if the job is over.
    fn step(&mut self) -> bool {
        if self.dialogue.run.exit().is_some() {
            return self.take_up_again();
        }
        self.dialogue.later(TimeDelta::seconds(1));
        let outcome = self.outcome();
        let changes = self.dialogue.apply(outcome);
        self.watch.look(&self.dialogue, &changes);
        true
    }

    fn outcome(&mut self) -> Outcome {
        if self.dialogue.run.feedback_waiting()
            && matches!(self.dialogue.run.state().stage, Stage::Model | Stage::Review { .. })
        {
            return Outcome::FeedbackReceived(Vec::new());
        }
        match self.choices.below(100) {
            0..3 => return self.feedback(),
            3 => self.watch.refuses_what_does_not_belong(&mut self.dialogue),
            4..8 => self.dialogue.crash(),
            _ => {}
        }
        match self.dialogue.run.next() {
            Effect::Intake => intake(),
            Effect::Carry { .. } => Outcome::Carried(plumbline_engine::Carried::default()),
            Effect::Prepare { document } => Outcome::Prepared(crate::kit::prepare(document, &self.dialogue.toy)),
            Effect::RunTools { .. } => Outcome::ToolsReturned(self.dialogue.returns()),
            Effect::Wait { until } => {
                self.dialogue.now = until;
                Outcome::Woken
            }
            Effect::CallModel(request) if request.purpose == Purpose::Summary => self.summary(),
            Effect::CallModel(_) => self.turn(),
            Effect::Exit(leave) => panic!("a job that left is taken up again elsewhere: {leave:?}"),
        }
    }

    fn feedback(&mut self) -> Outcome {
        let id = self.dialogue.toy.feedback.len() as i64 + 1;
        let row = Feedback { id, text: format!("Mind annex {id}."), created_at: self.dialogue.now };
        self.dialogue.toy.feedback.push(row.clone());
        Outcome::FeedbackReceived(vec![row])
    }

    fn summary(&mut self) -> Outcome {
        match self.choices.below(10) {
            0 => self.answers(says("")),
            1 => self.answers(says(&"blah ".repeat(3000))),
            2 => self.failed(),
            _ => self.answers(says("What was found is in the files.")),
        }
    }

    fn turn(&mut self) -> Outcome {
        // Failures come in sequences.
        if self.dialogue.run.state().retry.failures > 0 && self.choices.below(3) > 0 {
            return self.failed();
        }
        match self.choices.below(100) {
            0..6 => self.answers(says("Let me think about this.")),
            6..11 => {
                let calls = self.calls();
                self.answers(Reply { finish: FinishReason::Truncated, ..reply("", calls) })
            }
            11..15 => self.failed(),
            _ => {
                let calls = self.calls();
                self.answers(reply("", calls))
            }
        }
    }

    fn answers(&self, mut reply: Reply) -> Outcome {
        reply.record.prompt_tokens = self.dialogue.request_tokens();
        Outcome::ModelReplied(reply)
    }

    fn failed(&mut self) -> Outcome {
        use FailureClass as C;
        let class = match self.choices.below(20) {
            0..8 => C::Transient,
            8..11 => C::Overloaded,
            11..14 => C::RateLimited,
            14..16 => C::ContextTooLong,
            16 => C::Quota,
            17..19 => C::Malformed,
            _ => C::Permanent,
        };
        let suspicion = match self.choices.below(4) {
            0 => Some(Suspicion::Call),
            1 => Some(Suspicion::Passing),
            2 => Some(Suspicion::Size),
            _ => None,
        };
        Outcome::ModelFailed(Failure { suspicion, ..failure(class) })
    }

    fn calls(&mut self) -> Vec<ToolCall> {
        let count = [1, 1, 1, 1, 2, 3][self.choices.below(6)];
        (0..count).map(|_| self.call()).collect()
    }

    fn call(&mut self) -> ToolCall {
        let state = self.dialogue.run.state();
        let (kind, staged) = (state.phase.kind, state.staged.is_some());
        let (name, arguments) = match kind {
            PhaseKind::Strategic => self.choices.strategic(staged),
            PhaseKind::Tactical => self.choices.tactical(),
        };
        let broken = self.choices.below(60) == 0;
        ToolCall {
            arguments: if broken { "{\"path\": ".into() } else { arguments.to_string() },
            ..call(name, &json!({}))
        }
    }

    /// Acts as a person or the queue on a job that left the worker; false if the job has ended.
    fn take_up_again(&mut self) -> bool {
        self.watch.stays_left(&mut self.dialogue);
        match self.dialogue.exit().clone() {
            JobExit::Completed { .. } | JobExit::AwaitsDecision { .. } => return false,
            JobExit::Failed(_) => self.dialogue.resume(|_| {}),
            JobExit::Parked { until, .. } => {
                self.dialogue.now = until;
                self.dialogue.resume(|_| {});
            }
            JobExit::Paused { .. } => self.dialogue.resume(|settings| {
                settings.limits.max_iterations += 20;
                settings.limits.token_budget = settings.limits.token_budget.map(|budget| budget + 40_000);
                settings.limits.deadline_s = None;
            }),
            JobExit::Review { .. } => {
                self.feedback();
                self.dialogue.resume(|_| {});
            }
        }
        true
    }
}

/// Bounds so low that a short life reaches them.
fn narrow(choices: &mut Choices) -> Settings {
    Dialogue::with(|settings| {
        settings.phases.history_at_boundary = [HistoryAtBoundary::Reset, HistoryAtBoundary::Compact][choices.below(2)];
        settings.phases.archive_on_transition = choices.below(4) > 0;
        settings.model.todo_list_position = [TodoListPosition::Last, TodoListPosition::AfterSystem][choices.below(2)];
        settings.autonomy = [Autonomy::Full, Autonomy::Review][choices.below(2)];
        settings.limits.context_threshold_tokens = [2200, 3000, 5000, 100_000][choices.below(4)];
        settings.limits.max_tool_result_tokens = [60, 800][choices.below(2)];
        settings.limits.max_iterations = [15, 40, 1000][choices.below(3)];
        settings.limits.token_budget = [None, Some(40_000)][choices.below(2)];
        settings.limits.deadline_s = [None, Some(60)][choices.below(2)];
        settings.limits.turns_without_progress = [2, 25][choices.below(2)];
    })
}

//! Invariants after each step of a walk.

use crate::kit::{Dialogue, Line, failure, intake, says};
use plumbline_engine::{Change, Effect, FailureClass, MessageKind, Outcome, Purpose, Stage, TodoStatus, ToolReturn};

/// Remembers the results of earlier steps.
#[derive(Default)]
pub(super) struct Watch {
    /// The first message of the current phase.
    phase_from: i64,
    /// The last turn's request, while only appending is allowed.
    shown: Option<Vec<Line>>,
}

impl Watch {
    pub(super) fn look(&mut self, dialogue: &Dialogue, changes: &[Change]) {
        for change in changes {
            match change {
                Change::PhaseOpened { .. } => self.phase_from = first_message(changes),
                // The only reasons for a changed prefix: a new system prompt, or cleared results.
                Change::Message(message) if message.kind == MessageKind::System => self.shown = None,
                Change::ResultsCleared(_) => self.shown = None,
                _ => {}
            }
        }
        todos_are_worked_in_order(dialogue);
        budgets_are_kept(dialogue);
        the_checkpoint_is_small(dialogue);
        if let Effect::CallModel(request) = dialogue.run.next()
            && request.purpose != Purpose::Summary
            && !matches!(dialogue.run.state().stage, Stage::Review { .. })
        {
            self.requests_only_grow(dialogue.request());
            self.feedback_is_heard(dialogue);
        }
    }

    /// Shown messages other than the todo list stay unchanged, wherever the list is placed.
    fn requests_only_grow(&mut self, mut request: Vec<Line>) {
        request.retain(|line| !line.text.contains("ACTIVE TODO LIST"));
        if let Some(shown) = &self.shown {
            assert_eq!(&request[..shown.len()], shown);
        }
        self.shown = Some(request);
    }

    fn feedback_is_heard(&self, dialogue: &Dialogue) {
        let request = dialogue.request();
        let said = |message: &&plumbline_engine::Message| {
            message.kind == MessageKind::Feedback && message.seq >= self.phase_from
        };
        for message in dialogue.toy.messages.iter().filter(said) {
            let times = request.iter().filter(|line| line.text == message.content).count();
            assert_eq!(times, 1, "the user's words stay: {}", message.content);
        }
    }

    /// Outcomes that do not match are refused, and leave the run unchanged.
    pub(super) fn refuses_what_does_not_belong(&self, dialogue: &mut Dialogue) {
        let before = format!("{:?}", dialogue.run);
        let stage = dialogue.run.state().stage.clone();
        let stranger = ToolReturn::ok("call_0_0", "?", Vec::new());
        let mut wrong = vec![Outcome::ToolsReturned(vec![stranger])];
        match stage {
            Stage::Intake | Stage::Prepare { .. } => wrong.push(Outcome::ModelReplied(says("Hm."))),
            Stage::Model | Stage::Summary { .. } => wrong.push(intake()),
            Stage::Tools { .. } | Stage::Review { .. } => {
                wrong.push(Outcome::ModelFailed(failure(FailureClass::Transient)));
                wrong.push(Outcome::Woken);
            }
        }
        for outcome in wrong {
            assert!(dialogue.try_apply(outcome).is_err());
            assert_eq!(format!("{:?}", dialogue.run), before);
        }
    }

    /// No outcome changes a job that left the worker.
    pub(super) fn stays_left(&mut self, dialogue: &mut Dialogue) {
        self.shown = None;
        for outcome in
            [intake(), Outcome::ModelReplied(says("Hm.")), Outcome::Woken, Outcome::FeedbackReceived(Vec::new())]
        {
            assert!(dialogue.try_apply(outcome).is_err());
        }
    }
}

fn first_message(changes: &[Change]) -> i64 {
    let opened = changes.iter().position(|change| matches!(change, Change::PhaseOpened { .. })).unwrap_or(0);
    let after = changes[opened..].iter().find_map(|change| match change {
        Change::Message(message) => Some(message.seq),
        _ => None,
    });
    after.expect("a phase opens with messages")
}

/// At most one todo is in progress, and it is the first open one.
fn todos_are_worked_in_order(dialogue: &Dialogue) {
    let todos = dialogue.run.todos();
    let in_progress: Vec<i32> =
        todos.iter().filter(|todo| todo.status == TodoStatus::InProgress).map(|todo| todo.position).collect();
    let first_open: Vec<i32> =
        todos.iter().find(|todo| todo.status.is_open()).map(|todo| todo.position).into_iter().collect();
    assert_eq!(in_progress, first_open);
}

/// No request is started beyond a budget: the excess is at most the call that was in flight.
fn budgets_are_kept(dialogue: &Dialogue) {
    let (limits, totals) = (&dialogue.toy.settings.limits, dialogue.run.state().totals);
    assert!(totals.requests <= i64::from(limits.max_iterations), "{} requests", totals.requests);
    assert_eq!(totals.requests, dialogue.toy.requests.len() as i64, "every request is booked");
    if let (Some(budget), Some(last)) = (limits.token_budget, dialogue.toy.requests.last()) {
        let before = totals.tokens - i64::from(last.prompt_tokens) - i64::from(last.completion_tokens);
        assert!(before < budget as i64, "{before} tokens were used before the last request");
    }
}

/// Its size does not depend on the job's run time.
fn the_checkpoint_is_small(dialogue: &Dialogue) {
    let size = serde_json::to_string(dialogue.run.state()).expect("a checkpoint is JSON").len();
    assert!(size < 3000, "{size} bytes");
}

//! Which calls of an answer are executed, where, and what the opening names.

use super::{Call, End, Job, Said, effect};
use plumbline_engine::PhaseOutcome;

/// The fate of a call.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Fate {
    /// Its result is in the conversation, even if it is an error.
    Answered(Said),
    /// It followed the end of a phase and was executed in the phase of this number; the opening shows its result.
    Held { phase: i32, said: Said },
    /// It followed the end of a phase or of the job and was not executed; an opening names it.
    NotCarriedOut,
}

impl Fate {
    /// Its result, if it has one.
    pub(crate) fn said(&self) -> Option<&Said> {
        match self {
            Self::Answered(said) | Self::Held { said, .. } => Some(said),
            Self::NotCarriedOut => None,
        }
    }
}

/// The calls of one answer take effect in order.
pub(crate) fn answer(job: &mut Job, calls: &[Call]) -> Vec<Fate> {
    let mut answer = Answer::default();
    let mut fates = Vec::new();
    for (at, call) in calls.iter().enumerate() {
        let (said, end) = answer.call(job, call);
        fates.push(Fate::Answered(said));
        let behind = &calls[at + 1..];
        match end {
            None => continue,
            Some(End::Job) => fates.extend(behind.iter().map(|_| Fate::NotCarriedOut)),
            Some(End::Phase(outcome)) => fates.extend(answer.behind_an_end(job, outcome, behind)),
        }
        break;
    }
    fates
}

/// The consequences of the calls so far for later ones.
#[derive(Default)]
struct Answer {
    /// A call failed: no later call closes a todo or the job.
    has_failed: bool,
    /// The closing of a todo was refused: that todo is still current.
    is_refused: bool,
}

impl Answer {
    fn call(&mut self, job: &mut Job, call: &Call) -> (Said, Option<End>) {
        let stopped = call.closes() && self.has_failed || call.closes_todo() && self.is_refused;
        let (said, end) = match stopped || !job.binds(call) {
            true => (Said::failed(), None),
            false => effect::carry_out(job, call),
        };
        self.has_failed |= said.failed && !call.closes();
        self.is_refused |= said.failed && call.closes_todo();
        (said, end)
    }

    /// The calls after the end of a phase: up to the first one that it does not bind they are executed in it, before
    /// the end takes effect; from that one on in the next phase, before its first request.
    fn behind_an_end(&mut self, job: &mut Job, outcome: PhaseOutcome, held: &[Call]) -> Vec<Fate> {
        let is_carried_over = |call: &Call| matches!(call, Call::JobComplete { .. }) || !job.binds(call);
        let first = held.iter().position(|call| !call.is_dropped_behind_an_end() && is_carried_over(call));
        let (here, next) = held.split_at(first.unwrap_or(held.len()));
        let mut fates: Vec<Fate> = here.iter().map(|call| self.held(job, call)).collect();
        job.turn(outcome);
        fates.extend(next.iter().map(|call| self.held(job, call)));
        fates
    }

    fn held(&mut self, job: &mut Job, call: &Call) -> Fate {
        if job.is_complete || call.is_dropped_behind_an_end() {
            return Fate::NotCarriedOut;
        }
        let completes = matches!(call, Call::JobComplete { .. });
        if !job.binds(call) || completes && (self.has_failed || !job.is_final_with_nothing_open()) {
            // The job cannot be closed after work that was due and was not done.
            self.has_failed = true;
            return Fate::NotCarriedOut;
        }
        let phase = job.number;
        let (said, _) = self.call(job, call);
        Fate::Held { phase, said }
    }
}

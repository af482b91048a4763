//! The place of a phase among those of its job and of the plan.

use crate::{NextPhase, Opening, PhaseKind, PhaseState, StagedPhase};

impl PhaseState {
    /// The tactical phase being planned or done, and the number of phases of the plan: "2 of 4". A phase of work beyond
    /// the plan counts as its last one; without a plan, phases of work are counted.
    pub(crate) fn of_plan(&self, planned: Option<i32>) -> (i32, i32) {
        let next = self.completed + 1;
        match (planned, self.kind) {
            (Some(planned), _) => (next.min(planned), planned),
            (None, PhaseKind::Tactical) => (next, next),
            (None, PhaseKind::Strategic) => (self.completed.max(1), self.completed.max(1)),
        }
    }

    /// Its identification: by the job's own counter, and by the plan's.
    pub(crate) fn which(&self, planned: Option<i32>) -> String {
        let (number, kind, next) = (self.number, self.kind.as_str(), self.completed + 1);
        let of_plan = match (planned, self.kind) {
            (None, _) => String::new(),
            (Some(planned), PhaseKind::Tactical) if next > planned => {
                format!(", phase of work {next}; the plan has {planned}")
            }
            (Some(planned), PhaseKind::Tactical) => format!(", phase {next} of {planned} of the plan"),
            (Some(planned), PhaseKind::Strategic) => {
                format!(", {} of {planned} phases of the plan are done", self.completed.min(planned))
            }
        };
        format!("job phase {number} ({kind}{of_plan})")
    }

    /// The next phase begins; one whose todos were written in advance has a name and a purpose.
    pub(crate) fn advance(&mut self, next: &NextPhase, staged: Option<StagedPhase>) {
        self.number += 1;
        self.kind = next.kind;
        self.opening = next.opening;
        self.tactical += i32::from(next.kind == PhaseKind::Tactical);
        let (name, purpose) = staged.map(|staged| (staged.phase, staged.description)).unzip();
        self.name = match (next.opening, name) {
            (Opening::Work, Some(name)) => name,
            (Opening::Work, None) => format!("Phase {}", self.tactical),
            (Opening::Initial, _) => "Planning".into(),
            (Opening::Transition, _) => "Review and next phase".into(),
            (Opening::Final, _) => "Completion".into(),
            (Opening::Rewound, _) => "Re-planning".into(),
            (Opening::Feedback, _) => "Feedback".into(),
        };
        self.description = match next.kind {
            PhaseKind::Tactical => purpose.unwrap_or_default(),
            PhaseKind::Strategic => String::new(),
        };
    }
}

//! The job's first step.

use crate::{Beginning, Intake, JobError, JobExit, Previous, Run, phase::opening};
use chrono::{DateTime, Utc};

impl Run {
    pub(super) fn intake_done(&mut self, intake: Intake, now: DateTime<Utc>) {
        let given = intake.files.iter().find(|file| file.path == opening::CONTEXT).and_then(opening::given);
        let waiting = intake.waiting;
        self.state.previous = intake.previous.map(|job_id| Previous { job_id, versions: None });
        self.take_files(intake);
        self.begin(Beginning { waiting, given, notes: Vec::new() }, now);
    }

    pub(super) fn intake_refused(&mut self, reason: String) {
        self.leave(JobExit::Failed(JobError::new("input", reason).with("stage", "intake")));
    }
}

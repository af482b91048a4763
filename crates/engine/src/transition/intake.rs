//! The job's first step.

use crate::{Beginning, Intake, JobError, JobExit, Previous, Run, phase::opening};
use chrono::{DateTime, Utc};

/// The kind of error of a job none of whose documents has text (INTERFACE 9.1).
const NO_TEXT: &str = "no_text";

impl Run {
    pub(super) fn intake_done(&mut self, intake: Intake, now: DateTime<Utc>) {
        let given = intake.files.iter().find(|file| file.path == opening::CONTEXT).and_then(opening::given);
        let waiting = intake.waiting;
        self.state.previous = intake.previous.map(|job_id| Previous { job_id, versions: None });
        self.take_files(intake);
        self.begin(Beginning { waiting, given, notes: Vec::new() }, now);
    }

    pub(super) fn intake_refused(&mut self, reason: String, no_text: bool) {
        let kind = if no_text { NO_TEXT } else { "input" };
        self.leave(JobExit::Failed(JobError::new(kind, reason).with("stage", "intake")));
    }
}

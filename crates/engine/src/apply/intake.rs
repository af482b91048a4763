//! The job's first step.

use crate::{Intake, JobError, Leave, Opening, Product, Run, boundary::Next};
use chrono::{DateTime, Utc};

impl Run {
    pub(super) fn taken_in(&mut self, intake: Intake, now: DateTime<Utc>) {
        for file in intake.files {
            self.produce(Product::WriteFile(file));
        }
        if let Some(shared) = intake.shared {
            self.produce(Product::ShareFiles(shared));
        }
        for source in intake.sources {
            self.produce(Product::AddSource(source));
        }
        self.open_phase(Next::strategic(Opening::Initial), None, now);
        self.ready_for_model(now);
    }

    pub(super) fn intake_refused(&mut self, reason: String) {
        self.leave(Leave::Failed(JobError::new("input", reason).with("stage", "intake")));
    }
}

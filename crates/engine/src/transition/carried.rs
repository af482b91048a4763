//! Carries over the findings of an earlier job, after all documents are prepared and before the first request.

use crate::{Carried, Run, Stage};
use chrono::{DateTime, Utc};

impl Run {
    pub(super) fn carried(&mut self, carried: Carried, now: DateTime<Utc>) {
        let Stage::Prepare { mut beginning } = std::mem::replace(&mut self.state.stage, Stage::Model) else {
            return;
        };
        if let Some(previous) = &mut self.state.previous {
            previous.versions = Some(carried.versions);
            beginning.notes.push(carried.note(previous.job_id));
        }
        self.ledger.carry(&carried.passages, self.step.number());
        for product in carried.products {
            self.record_product(product);
        }
        self.go_on_prepared(beginning, now);
    }
}

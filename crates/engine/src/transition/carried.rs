//! Carries over the findings of an earlier job, after all documents are prepared and before the first request.

use super::prepared::go_on_prepared;
use crate::{Carried, Run, Stage};
use chrono::{DateTime, Utc};

pub(super) fn apply(run: &mut Run, carried: Carried, now: DateTime<Utc>) {
    let Stage::Prepare { mut beginning } = std::mem::replace(&mut run.state.stage, Stage::Model) else {
        return;
    };
    if let Some(previous) = &mut run.state.previous {
        previous.versions = Some(carried.versions);
        beginning.notes.push(carried.note(previous.job_id));
    }
    run.ledger.carry(&carried.passages, run.step.number());
    for product in carried.products {
        run.record_product(product);
    }
    go_on_prepared(run, beginning, now);
}

//! Carries over the findings of an earlier job, after all documents are prepared and before the first request.

use super::prepared::go_on_prepared;
use crate::{Carried, Run, Stage};
use chrono::{DateTime, Utc};

pub(super) fn apply(run: &mut Run, carried: Carried, now: DateTime<Utc>) {
    let state = run.state_mut();
    if let (Some(previous), Stage::Prepare { beginning }) = (&mut state.previous, &mut state.stage) {
        previous.versions = Some(carried.versions);
        beginning.notes.push(carried.note(previous.job_id));
    }
    let (ledger, step) = run.ledger_mut();
    ledger.carry(&carried.passages, step);
    carried.products.into_iter().for_each(|product| run.record_product(product));
    go_on_prepared(run, now);
}

//! The claimed rows of a validator with their checks, in batches.

use super::Findings;
use crate::error::ToolError;
use crate::requirements::ids::{HeldNames, number};
use crate::requirements::validation_queue::ValidationQueue;
use parking_lot::Mutex;
use plumbline_engine::{Asked, HeldRequirement};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use uuid::Uuid;

/// A row, and its checks before relations are added.
#[derive(Debug)]
pub(crate) struct Checked {
    pub(crate) row: HeldRequirement,
    pub(crate) findings: Findings,
}

/// Checks rows; similar requirements are looked up in one query.
pub(crate) async fn check(
    validation_queue: &dyn ValidationQueue,
    rows: Vec<HeldRequirement>,
) -> Result<Vec<Checked>, ToolError> {
    let asked: Vec<Asked<'_>> = rows
        .iter()
        .map(|row| Asked { job_id: row.job_id, text: &row.text, before: Some(row.id), widely: false })
        .collect();
    let similar = validation_queue.similar(&asked).await?;
    let mut checked = Vec::with_capacity(rows.len());
    for (row, known) in rows.into_iter().zip(similar) {
        let findings = Findings::of(&row, known).await;
        checked.push(Checked { row, findings });
    }
    Ok(checked)
}

/// The rows that the job holds, as seen by the calls of one turn: read together on first use, because a turn judges
/// several, and again in the next turn. A row that is not among them is looked up once more: it may have been claimed
/// in the same turn.
#[derive(Debug, Default)]
pub(crate) struct ClaimedRows {
    rows: Mutex<BTreeMap<Uuid, Arc<Checked>>>,
    given: Mutex<BTreeSet<Uuid>>,
}

impl ClaimedRows {
    /// Records that a call of this batch has presented rows for judging.
    pub(crate) fn give(&self, rows: impl IntoIterator<Item = Uuid>) {
        self.given.lock().extend(rows);
    }

    /// Whether a call of this batch has presented the row.
    pub(crate) fn was_given(&self, row: Uuid) -> bool {
        self.given.lock().contains(&row)
    }

    /// The names of the rows that the job holds, as far as they have been read.
    pub(crate) fn names(&self) -> HeldNames {
        HeldNames::of(self.all().iter().map(|checked| &checked.row))
    }

    /// The rows that the job holds, as far as they have been read.
    pub(crate) fn all(&self) -> Vec<Arc<Checked>> {
        self.rows.lock().values().cloned().collect()
    }

    /// Reads the rows that the job holds, unless already read.
    pub(crate) async fn read(&self, validation_queue: &dyn ValidationQueue) -> Result<(), ToolError> {
        match self.all().is_empty() {
            true => self.reload(validation_queue).await,
            false => Ok(()),
        }
    }

    async fn reload(&self, validation_queue: &dyn ValidationQueue) -> Result<(), ToolError> {
        let held = check(validation_queue, validation_queue.held().await?).await?;
        let held = held.into_iter().map(|checked| (checked.row.id, Arc::new(checked))).collect();
        *self.rows.lock() = held;
        Ok(())
    }

    /// The held rows with this id: the row's id, `r12`, or the `req_` id; rows of several jobs may share the last two.
    pub(crate) async fn of(
        &self,
        validation_queue: &dyn ValidationQueue,
        id: &str,
    ) -> Result<Vec<Arc<Checked>>, ToolError> {
        let known = self.known(id);
        if !known.is_empty() {
            return Ok(known);
        }
        self.reload(validation_queue).await?;
        Ok(self.known(id))
    }

    pub(crate) fn known(&self, id: &str) -> Vec<Arc<Checked>> {
        let rows = self.rows.lock();
        let is_it = |row: &HeldRequirement| match (id.parse::<Uuid>(), number(id)) {
            (Ok(id), _) => row.id == id,
            (Err(_), Some(number)) => row.number == Some(number),
            (Err(_), None) => row.candidate_id.as_deref() == Some(id),
        };
        rows.values().filter(|checked| is_it(&checked.row)).cloned().collect()
    }
}

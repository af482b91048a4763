//! The rows that a validator judges, with their checks, many at a time.

use super::Findings;
use crate::error::ToolError;
use crate::requirements::validation_queue::{Asked, HeldRequirement, ValidationQueue};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use uuid::Uuid;

/// A row, and what was checked of it before anything is related.
#[derive(Debug)]
pub(crate) struct Checked {
    pub(crate) row: HeldRequirement,
    pub(crate) findings: Findings,
}

/// Checks rows; what is like them is looked up once for all.
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

/// The rows that the job holds, as the calls of one turn see them: read together when one is first asked for, because a
/// turn judges several, and anew in the next turn. A row that is not among them is looked for once more: it may have been
/// claimed in this very turn.
#[derive(Debug, Default)]
pub(crate) struct ClaimedRows(Mutex<BTreeMap<Uuid, Arc<Checked>>>);

impl ClaimedRows {
    /// The rows that the job holds of this id: that of the row, or the short one, which rows of several jobs may share.
    pub(crate) async fn of(
        &self,
        validation_queue: &dyn ValidationQueue,
        id: &str,
    ) -> Result<Vec<Arc<Checked>>, ToolError> {
        let known = self.known(id);
        if !known.is_empty() {
            return Ok(known);
        }
        let held = check(validation_queue, validation_queue.held().await?).await?;
        let held = held.into_iter().map(|checked| (checked.row.id, Arc::new(checked))).collect();
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = held;
        Ok(self.known(id))
    }

    fn known(&self, id: &str) -> Vec<Arc<Checked>> {
        let rows = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match id.parse::<Uuid>() {
            Ok(id) => rows.get(&id).into_iter().cloned().collect(),
            Err(_) => {
                let is_it = |checked: &&Arc<Checked>| checked.row.candidate_id.as_deref() == Some(id);
                rows.values().filter(is_it).cloned().collect()
            }
        }
    }
}

//! The system's products and statements, in the step that ends the job or puts it into review.

use crate::{Change, JobExit, Product, Run, Stage};
use serde_json::Value;

impl Run {
    /// Adds the system's products to the changes of the job's exit, their files to the deliverables of its result, and
    /// the system's statements about the job to the result or the error.
    pub fn deliver(
        &mut self,
        changes: &mut Vec<Change>,
        products: Vec<Product>,
        listed: &[String],
        told: SystemStatements,
    ) {
        let Some(mut leave) = self.exit().cloned() else { return };
        match &mut leave {
            JobExit::Completed { result } | JobExit::Review { result, .. } => {
                list(result, listed);
                tell(result, told);
                if let Stage::Review { result: kept } = &mut self.state_mut().stage {
                    kept.clone_from(result);
                }
            }
            JobExit::Failed(error) => {
                for (key, said) in [("headline", told.headline), ("decided", told.decided)] {
                    if let Some(said) = said {
                        *error = error.clone().with(key, said);
                    }
                }
            }
            JobExit::Paused { .. } | JobExit::Parked { .. } | JobExit::AwaitsDecision { .. } => {}
        }
        changes.retain(|change| !matches!(change, Change::Exited(_)));
        products.into_iter().for_each(|product| self.record_product(product));
        self.leave(leave);
        changes.append(&mut self.take_changes());
    }
}

/// The system's statements about a job that ends.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SystemStatements {
    /// One sentence, from rows.
    pub headline: Option<String>,
    /// One sentence about what was decided to be no requirement, with the most frequent reason.
    pub decided: Option<String>,
    /// Figures for `counts` of the result, an object.
    pub counts: Value,
}

fn tell(result: &mut Value, told: SystemStatements) {
    result["headline"] = told.headline.into();
    if let Some(decided) = told.decided {
        result["decided"] = decided.into();
    }
    let Value::Object(counted) = told.counts else { return };
    match result.get_mut("counts").and_then(Value::as_object_mut) {
        Some(counts) => counts.extend(counted),
        None => result["counts"] = counted.into(),
    }
}

/// Adds deliverables to a result, each once.
fn list(result: &mut Value, more: &[String]) {
    let Some(deliverables) = result.get_mut("deliverables").and_then(Value::as_array_mut) else { return };
    for path in more {
        if !deliverables.iter().any(|known| known == path) {
            deliverables.push(path.clone().into());
        }
    }
}

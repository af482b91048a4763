//! What the system itself delivers, in the step that ends the job or parks it in review: of a job that records requirements lists
//! made of its rows, of one with documents a report.

use crate::{Change, JobExit, Product, Run, Settings, Stage};
use serde_json::Value;

/// The lists of all requirements that the system renders.
pub const REQUIREMENT_LISTS: [&str; 3] =
    ["output/requirements.json", "output/requirements.csv", "output/requirements.md"];

/// The texts of a job's documents with its quotes marked in them, which the system writes.
pub const REPORT: &str = "output/report.html";

impl Settings {
    /// Whether jobs of this configuration record requirements.
    pub fn records_requirements(&self) -> bool {
        self.tools.iter().any(|tool| matches!(tool.name.as_str(), "add_requirement" | "write_requirement_to_db"))
    }

    /// Whether they judge the requirements of other jobs.
    pub fn judges_requirements(&self) -> bool {
        self.tools.iter().any(|tool| tool.name == "next_requirement")
    }
}

impl Run {
    /// Whether the end that was just decided is one with which the system renders the job's requirements: it is completed,
    /// parked in review or has failed, and its type records requirements.
    pub fn renders(&self) -> bool {
        self.ends() && self.settings.records_requirements()
    }

    /// Whether it is one with which the system writes the report: the same ends, of a job with documents.
    pub fn reports(&self) -> bool {
        self.ends() && !self.sources.is_empty()
    }

    fn ends(&self) -> bool {
        matches!(self.exit, Some(JobExit::Completed { .. } | JobExit::Review { .. } | JobExit::Failed(_)))
    }

    /// Whether the system renders this file when the job ends.
    pub(crate) fn will_render(&self, path: &str) -> bool {
        let lists =
            self.requirements() > 0 && self.settings.records_requirements() && REQUIREMENT_LISTS.contains(&path);
        lists || (path == REPORT && !self.sources.is_empty())
    }

    /// Adds what the system made of the rows to the changes with which the job leaves, and to the deliverables of its result.
    pub fn deliver(&mut self, changes: &mut Vec<Change>, products: Vec<Product>, listed: &[String]) {
        let Some(mut leave) = self.exit.take() else { return };
        if let JobExit::Completed { result } | JobExit::Review { result, .. } = &mut leave {
            list(result, listed);
            if let Stage::Review { result: kept } = &mut self.state.stage {
                kept.clone_from(result);
            }
        }
        changes.retain(|change| !matches!(change, Change::Exited(_)));
        for product in products {
            self.record_product(product);
        }
        changes.append(&mut self.pending);
        changes.push(Change::Exited(leave.clone()));
        self.exit = Some(leave);
    }
}

/// Names more deliverables in a result, each once.
fn list(result: &mut Value, more: &[String]) {
    let Some(deliverables) = result.get_mut("deliverables").and_then(Value::as_array_mut) else { return };
    for path in more {
        if !deliverables.iter().any(|known| known == path) {
            deliverables.push(path.clone().into());
        }
    }
}

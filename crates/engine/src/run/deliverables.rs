//! The system's deliverables, in the step that ends the job or puts it into review: lists from rows for a job that
//! records requirements, a report for one with documents.

use super::Workspace;
use crate::{FileMeta, JobExit, OwedFile, Run, Settings, vocabulary::NEXT_REQUIREMENT};

/// The lists of all requirements that the system renders.
pub const REQUIREMENT_LISTS: [&str; 3] =
    ["output/requirements.json", "output/requirements.csv", "output/requirements.md"];

/// The list of all candidate sentences, each with its outcome, which the system renders as well.
pub const CANDIDATE_LIST: &str = "candidates/candidates.md";

/// The texts of a job's documents with its quotes marked in them, written by the system.
pub const REPORT: &str = "output/report.html";

/// The tools that record requirements.
const RECORDERS: [&str; 3] = ["add_requirement", "record_passage", "write_requirement_to_db"];

/// Whether a tool records requirements.
pub fn is_recorder(tool: &str) -> bool {
    RECORDERS.contains(&tool)
}

impl Settings {
    /// Whether jobs of this configuration record requirements.
    pub fn records_requirements(&self) -> bool {
        self.tools.iter().any(|tool| is_recorder(&tool.name))
    }

    /// Whether they judge the requirements of other jobs.
    pub fn judges_requirements(&self) -> bool {
        self.tools.iter().any(|tool| tool.name == NEXT_REQUIREMENT)
    }
}

/// The files that a job owes, and those that the system renders for it when it ends.
#[derive(Clone, Copy)]
pub(crate) struct Deliverables<'a> {
    settings: &'a Settings,
    workspace: &'a Workspace,
    /// Whether a requirement is recorded.
    records: bool,
}

impl<'a> Deliverables<'a> {
    pub(crate) fn of(run: &'a Run) -> Self {
        let records = run.ledger().standing().count() > 0;
        Self { settings: run.settings(), workspace: run.workspace(), records }
    }

    /// Whether the system renders this file when the job ends.
    pub(crate) fn will_render(&self, path: &str) -> bool {
        let lists = self.records && self.settings.records_requirements() && REQUIREMENT_LISTS.contains(&path);
        lists || (path == REPORT && !self.workspace.sources().is_empty())
    }

    /// Whether a required file exists with real content, or will exist because the system renders it.
    pub(crate) fn is_delivered(&self, owed: &OwedFile) -> bool {
        let has_content = |file: &FileMeta| owed.has_schema || !file.placeholder;
        self.will_render(&owed.path) || self.workspace.files().get(&owed.path).is_some_and(has_content)
    }

    /// The deliverables that this type of job requires and that are missing, or have no real content.
    pub(crate) fn missing(&self) -> Vec<&'a str> {
        let owed = self.settings.owed.files.iter();
        let missing = owed.filter(|owed| owed.required && !self.is_delivered(owed));
        missing.map(|owed| owed.path.as_str()).collect()
    }
}

impl Run {
    /// Whether the exit just decided is one for which the system renders the job's requirements: it is completed, in
    /// review or failed, and its type records requirements.
    pub fn renders(&self) -> bool {
        self.exit().is_some_and(JobExit::ends) && self.settings().records_requirements()
    }

    /// Whether it is one for which the system writes the report: the same exits, of a job with documents.
    pub fn reports(&self) -> bool {
        self.exit().is_some_and(JobExit::ends) && !self.workspace().sources().is_empty()
    }
}

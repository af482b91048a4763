//! The rows a run is rebuilt from.

use crate::{Approval, Feedback, Message, Passage, Source, StandingRequirement, State, Todo, Totals, is_placeholder};
use chrono::{DateTime, Utc};
use std::collections::BTreeMap;
use uuid::Uuid;

/// The rows that [`crate::Run::load`] needs, read by the store.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Snapshot {
    /// The job as the user wrote it.
    pub job: JobInfo,
    /// The last checkpoint; none for a job that never took a step.
    pub state: Option<State>,
    /// The totals of requests of a job without a checkpoint: all of them were abandoned.
    pub first_totals: Totals,
    /// The messages of the checkpoint's [`crate::ContextWindow`], ascending by `seq`. Additional ones are harmless.
    pub messages: Vec<Message>,
    /// Todos of the current phase, by position.
    pub todos: Vec<Todo>,
    /// Todos written for the next phase, by position.
    pub staged_todos: Vec<Todo>,
    /// Index of the workspace.
    pub files: FileIndex,
    /// Texts of the memory files that exist.
    pub memory: WorkspaceMemory,
    /// The job's documents.
    pub sources: Vec<Source>,
    /// The passages of the documents, in any order.
    pub passages: Vec<Passage>,
    /// The active requirements.
    pub standing: Vec<StandingRequirement>,
    /// The highest number that a requirement of the job ever had, 0 if it has none.
    pub last_number: i32,
    /// Feedback that no step has used yet, oldest first.
    pub feedback: Vec<Feedback>,
    /// Approvals requested from people, with their decisions, of calls without an outcome, in order of the requests.
    pub approvals: Vec<Approval>,
    /// Seconds that the job has been in review or paused since it began.
    pub waited_s: i64,
    /// The step from which on the job holds untrusted text, according to its row: a follow-up job has it from its
    /// start.
    pub untrusted_step: Option<i64>,
    /// Whether this claim is not the one that wrote the checkpoint: a call that was dispatched by then and has no
    /// result is in doubt.
    pub new_claim: bool,
}

impl Snapshot {
    /// A job without a committed step and without feedback, claimed for the first time.
    pub fn unstarted(job: JobInfo) -> Self {
        Self { job, new_claim: true, ..Self::default() }
    }
}

/// The user's row.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct JobInfo {
    /// `jobs.id`.
    pub id: Uuid,
    /// `jobs.job_type`.
    pub job_type: String,
    /// `jobs.prompt`.
    pub prompt: String,
    /// Last committed step.
    pub step: i64,
    /// `jobs.started_at`, or now for a job that starts.
    pub started_at: DateTime<Utc>,
}

/// The workspace's files by path, without their content.
pub type FileIndex = BTreeMap<String, FileMeta>;

/// The properties of a file that decisions need.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileMeta {
    /// Bytes.
    pub size: u64,
    /// Whether its content is no real content (see [`is_placeholder`]); stored with the file, so that no decision
    /// needs to read it again.
    pub placeholder: bool,
}

impl FileMeta {
    /// The properties of a content.
    pub fn of(content: &[u8]) -> Self {
        Self { size: content.len() as u64, placeholder: is_placeholder(content) }
    }
}

/// The files kept in memory: those that are part of prompts and openings, and the one that every todo appends to.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct WorkspaceMemory {
    /// `workspace.md`.
    pub workspace: String,
    /// `main_plan.md`.
    pub main_plan: String,
    /// `workspace_summary.md`.
    pub summary: String,
    /// `progress.md`.
    pub progress: String,
}

impl WorkspaceMemory {
    /// The paths of the memory files.
    pub const PATHS: [&'static str; 4] = ["workspace.md", "main_plan.md", "workspace_summary.md", "progress.md"];

    /// The text of a memory file, by path.
    pub fn get_mut(&mut self, path: &str) -> Option<&mut String> {
        match path {
            "workspace.md" => Some(&mut self.workspace),
            "main_plan.md" => Some(&mut self.main_plan),
            "workspace_summary.md" => Some(&mut self.summary),
            "progress.md" => Some(&mut self.progress),
            _ => None,
        }
    }
}

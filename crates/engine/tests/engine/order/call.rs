//! The calls in the reference model.

use serde_json::{Value, json};

/// A call of one of the tools.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Call {
    // Files.
    ReadFile(String),
    WriteFile { path: String, content: String, append: bool },
    EditFile { path: String, old: String, new: String },
    DeleteFile(String),
    // Requirements.
    AddRequirement(String),
    // Read-only calls, by the tool's name: their text is not modelled.
    Look(&'static str),
    // Memory and plan.
    WritePlan(String),
    ReadPlan,
    AddNote(String),
    AddAccomplishment(String),
    Summary,
    GetProgress,
    // Calls that end a todo, a phase or the job, and calls that write the list of the next phase.
    TodoComplete,
    CompleteTask(usize),
    TodoWrite(Vec<String>),
    AddTask(String),
    TodoRewind(String),
    ArchiveAndReset,
    JobComplete { deliverable: String },
}

impl Call {
    /// The tool's name.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::ReadFile(_) => "read_file",
            Self::WriteFile { .. } => "write_file",
            Self::EditFile { .. } => "edit_file",
            Self::DeleteFile(_) => "delete_file",
            Self::AddRequirement(_) => "add_requirement",
            Self::Look(name) => name,
            Self::WritePlan(_) => "write_plan",
            Self::ReadPlan => "read_plan",
            Self::AddNote(_) => "add_note",
            Self::AddAccomplishment(_) => "add_accomplishment",
            Self::Summary => "generate_workspace_summary",
            Self::GetProgress => "get_progress",
            Self::TodoComplete => "todo_complete",
            Self::CompleteTask(_) => "complete_task",
            Self::TodoWrite(_) => "todo_write",
            Self::AddTask(_) => "add_task",
            Self::TodoRewind(_) => "todo_rewind",
            Self::ArchiveAndReset => "archive_and_reset",
            Self::JobComplete { .. } => "job_complete",
        }
    }

    /// Its arguments as sent by a model.
    pub(crate) fn arguments(&self) -> Value {
        match self {
            Self::ReadFile(path) | Self::DeleteFile(path) => json!({ "path": path }),
            Self::WriteFile { path, content, append } => json!({"path": path, "content": content, "append": append}),
            Self::EditFile { path, old, new } => json!({"path": path, "old": old, "new": new}),
            Self::AddRequirement(text) | Self::AddNote(text) | Self::AddAccomplishment(text) => json!({ "text": text }),
            Self::WritePlan(content) | Self::AddTask(content) => json!({ "content": content }),
            Self::CompleteTask(number) => json!({ "task_number": number }),
            Self::TodoWrite(contents) => {
                let todos: Vec<Value> =
                    (1..).zip(contents).map(|(id, content): (i64, _)| json!({"id": id, "content": content})).collect();
                json!({"phase": "Extraction", "description": "Part by part.", "todos": todos})
            }
            Self::TodoRewind(issue) => json!({ "issue": issue }),
            Self::JobComplete { deliverable } => {
                json!({"summary": "All of it is done.", "deliverables": [deliverable], "undelivered": [], "confidence": 0.9})
            }
            Self::Look(_)
            | Self::ReadPlan
            | Self::Summary
            | Self::GetProgress
            | Self::TodoComplete
            | Self::ArchiveAndReset => json!({}),
        }
    }

    /// The file that a file tool changes.
    pub(crate) fn changes(&self) -> Option<&str> {
        match self {
            Self::WriteFile { path, .. } | Self::EditFile { path, .. } | Self::DeleteFile(path) => Some(path),
            _ => None,
        }
    }

    /// Whether it closes a todo.
    pub(crate) fn closes_todo(&self) -> bool {
        matches!(self, Self::TodoComplete | Self::CompleteTask(_))
    }

    /// Whether it requests the closing of a todo or of the job.
    pub(crate) fn closes(&self) -> bool {
        self.closes_todo() || matches!(self, Self::JobComplete { .. })
    }

    /// Whether it is not executed in any phase if it follows the end of one.
    pub(crate) fn is_dropped_behind_an_end(&self) -> bool {
        self.closes_todo()
            || matches!(self, Self::TodoWrite(_) | Self::AddTask(_) | Self::TodoRewind(_) | Self::ArchiveAndReset)
    }
}

#[cfg(test)]
mod tests {
    use super::Call;
    use plumbline_engine::tools;

    #[test]
    fn the_engine_has_each_of_its_tools_with_these_arguments() {
        let text = || "x".to_string();
        let calls = [
            Call::WritePlan(text()),
            Call::ReadPlan,
            Call::AddNote(text()),
            Call::AddAccomplishment(text()),
            Call::Summary,
            Call::GetProgress,
            Call::TodoComplete,
            Call::CompleteTask(1),
            Call::TodoWrite(vec![text()]),
            Call::AddTask(text()),
            Call::TodoRewind(text()),
            Call::ArchiveAndReset,
            Call::JobComplete { deliverable: text() },
        ];
        let specs = tools::specs();
        for call in calls {
            let spec = specs.iter().find(|spec| spec.name == call.name()).expect("the engine has the tool");
            for key in call.arguments().as_object().expect("arguments are an object").keys() {
                assert!(!spec.parameters["properties"][key].is_null(), "{} has no argument {key}", call.name());
            }
        }
    }
}

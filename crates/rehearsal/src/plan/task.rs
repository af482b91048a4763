//! The todos of this model in tactical phases: their texts, and parsing them.
//!
//! A tactical turn knows only a todo's text of the plan, so the text contains everything needed.

use std::sync::LazyLock;

use plumbline_bounds::pattern;
use regex::Regex;

/// One tactical todo.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Task {
    /// Extract the text of a document.
    Extract(String),
    /// Cut a document into chunks.
    Chunk(String),
    /// Compare the manifest with the documents.
    CheckManifest,
    /// Write down the structure of the documents.
    Structure,
    /// Note what was prepared.
    NotePrepared,
    /// Read the beginning of the documents, and note their structure and defined terms.
    Terms,
    /// Record the duties of chunks `first..=last` of `source`, and decide their other candidates.
    Process { first: u32, last: u32, source: String },
    /// The same of passages that the system found left open.
    Leftover(Vec<u32>),
    /// Look at what was recorded and at the coverage.
    LookAtRecords,
    /// Write a deliverable.
    WriteOwed(String),
    /// Write the report.
    WriteReport,
    /// Look at the task again.
    Reorient,
    /// Note the statements of the prompt.
    NoteStatements,
    /// Write the answer of a job without documents.
    WriteAnswer,
    /// Look at the feedback again.
    ReadFeedback,
    /// Compare the deliverables with the feedback.
    CheckFeedback,
    /// Write the result of the feedback.
    WriteFeedback(u32),
    /// Read a file back.
    ReadBack(String),
    /// Note what was delivered.
    NoteDelivered,
    /// Look at the graph.
    GraphSchema,
    /// Judge every pending requirement.
    Validate,
    /// Write the outcome.
    WriteValidationReport,
    /// A todo that this model did not write.
    Other(String),
}

static PROCESS: LazyLock<Regex> = LazyLock::new(|| pattern::own(r"^Process chunks? (\d+)(?:-(\d+))? of (.+): record "));
/// How the system words the todos that it adds.
static LEFTOVER: LazyLock<Regex> = LazyLock::new(|| pattern::own(r"^Work through passages? ([\d, -]+), which "));
static NUMBERED: LazyLock<Regex> = LazyLock::new(|| pattern::own(r"feedback[_ ](\d+)"));

/// Suffix of the text of a deliverable's todo.
const OWED: &str = ", which the job owes, from the documents";

impl Task {
    /// The todo's text.
    pub(crate) fn text(&self) -> String {
        match self {
            Self::Extract(document) => format!("Extract the text of {document}"),
            Self::Chunk(document) => format!("Chunk {document}"),
            Self::CheckManifest => "Check chunks/manifest.json against the documents".to_owned(),
            Self::Structure => "Write analysis.md: the structure of the documents".to_owned(),
            Self::NotePrepared => "Note in workspace.md what was prepared".to_owned(),
            Self::Terms => "Read the beginning of the documents: note their structure and the defined terms".to_owned(),
            Self::Process { first, last, source } => {
                let chunks = if first == last { format!("chunk {first}") } else { format!("chunks {first}-{last}") };
                format!("Process {chunks} of {source}: record every requirement, decide what is left")
            }
            Self::Leftover(numbers) => {
                let numbers: Vec<String> = numbers.iter().map(u32::to_string).collect();
                format!("Work through passages {}, which were left open", numbers.join(", "))
            }
            Self::LookAtRecords => "Look at what was recorded and at the coverage".to_owned(),
            Self::WriteOwed(path) => format!("Write {path}{OWED}"),
            Self::WriteReport => "Write output/summary_report.md: how it was done and what is left".to_owned(),
            Self::Reorient => "Read instructions.md and list input/ again for what the job asks".to_owned(),
            Self::NoteStatements => "Write analysis.md: the statements of the prompt".to_owned(),
            Self::WriteAnswer => "Write output/answer.md".to_owned(),
            Self::ReadFeedback => "Read the feedback in workspace.md again".to_owned(),
            Self::CheckFeedback => "List output/ and compare the deliverables with the feedback".to_owned(),
            Self::WriteFeedback(number) => {
                format!("Write output/feedback_{number}.md: what the feedback asks and what was done")
            }
            Self::ReadBack(path) => format!("Read {path} back and check that it is complete"),
            Self::NoteDelivered => "Note in workspace.md what was delivered".to_owned(),
            Self::GraphSchema => "Look at the graph with get_graph_schema".to_owned(),
            Self::Validate => "Validate the pending requirements until none is left".to_owned(),
            Self::WriteValidationReport => "Write output/validation_report.md: counts and reasons".to_owned(),
            Self::Other(text) => text.clone(),
        }
    }

    /// Reads a todo's text.
    pub(crate) fn read(text: &str) -> Self {
        if let Some(found) = PROCESS.captures(text) {
            let first = found[1].parse().unwrap_or_default();
            let last = found.get(2).map_or(first, |last| last.as_str().parse().unwrap_or(first));
            return Self::Process { first, last, source: found[3].to_owned() };
        }
        if let Some(found) = LEFTOVER.captures(text) {
            return Self::Leftover(numbers(&found[1]));
        }
        if let Some(rest) = text.strip_prefix("Extract the text of ") {
            return Self::Extract(rest.to_owned());
        }
        if let Some(rest) = text.strip_prefix("Chunk ") {
            return Self::Chunk(rest.to_owned());
        }
        if let Some(path) = text.strip_prefix("Write ").and_then(|rest| rest.strip_suffix(OWED)) {
            return Self::WriteOwed(path.to_owned());
        }
        Self::fixed(text).unwrap_or_else(|| Self::Other(text.to_owned()))
    }

    /// The task, if any, whose text is exactly `text`: tries every task with at most a number or a path.
    fn fixed(text: &str) -> Option<Self> {
        let number = NUMBERED.captures(text).and_then(|found| found[1].parse().ok()).unwrap_or_default();
        let path = text.strip_prefix("Read ").and_then(|rest| rest.split(" back ").next()).unwrap_or_default();
        let all = [
            Self::CheckManifest,
            Self::Structure,
            Self::NotePrepared,
            Self::Terms,
            Self::LookAtRecords,
            Self::WriteReport,
            Self::Reorient,
            Self::NoteStatements,
            Self::WriteAnswer,
            Self::ReadFeedback,
            Self::CheckFeedback,
            Self::WriteFeedback(number),
            Self::NoteDelivered,
            Self::GraphSchema,
            Self::Validate,
            Self::WriteValidationReport,
            Self::ReadBack(path.to_owned()),
        ];
        all.into_iter().find(|task| task.text() == text)
    }
}

/// `3, 5-7` as numbers.
fn numbers(text: &str) -> Vec<u32> {
    let range = |part: &str| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (u32, u32) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
        (last.checked_sub(first)? < 1_000).then_some(first..=last)
    };
    text.split(',').filter_map(range).flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::Task;

    #[test]
    fn every_task_is_read_back_from_its_text() {
        let document = || "input/a b; c.pdf".to_owned();
        let process = |first, last| Task::Process { first, last, source: "input/p (2).pdf".to_owned() };
        for task in [
            Task::Extract(document()),
            Task::Chunk(document()),
            Task::CheckManifest,
            Task::Structure,
            Task::NotePrepared,
            process(7, 9),
            process(10, 10),
            Task::Terms,
            Task::Leftover(vec![3, 5, 6]),
            Task::LookAtRecords,
            Task::WriteOwed("output/a.json".to_owned()),
            Task::WriteReport,
            Task::Reorient,
            Task::NoteStatements,
            Task::WriteAnswer,
            Task::ReadFeedback,
            Task::CheckFeedback,
            Task::WriteFeedback(2),
            Task::ReadBack("output/answer.md".to_owned()),
            Task::NoteDelivered,
            Task::GraphSchema,
            Task::Validate,
            Task::WriteValidationReport,
            Task::Other("Call the auditor".to_owned()),
        ] {
            assert_eq!(Task::read(&task.text()), task);
        }
    }

    #[test]
    fn the_systems_own_todos_are_understood() {
        let text =
            "Work through passages 3, 5-7, which were left open: read what is unread, record what obliges somebody";
        assert_eq!(Task::read(text), Task::Leftover(vec![3, 5, 6, 7]));
    }
}

//! All changes that an outcome can cause. A step's changes are written in one transaction, in order.

use crate::{
    ApprovalChange, CutDocument, JobExit, Message, Passage, PassageDecision, PhaseKind, PhaseOutcome, RequestRecord,
    RequirementChange, SharedFiles, Todo, TodoStatus, Touched,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::sync::Arc;
use uuid::Uuid;

/// One thing to write.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// A message is appended to the history.
    Message(Message),
    /// These tool results are replaced by notes for the model.
    ResultsCleared(Vec<i64>),
    /// A phase begins.
    PhaseOpened {
        /// The job's one phase counter, from 1.
        number: i32,
        /// Strategic or tactical.
        kind: PhaseKind,
        /// Its name.
        name: String,
    },
    /// The phase ends.
    PhaseClosed {
        /// Which one.
        number: i32,
        /// How it ended.
        outcome: PhaseOutcome,
    },
    /// The todo list of a phase is replaced: the current one's when it opens, the next one's when it is written.
    TodosPut {
        /// The phase they belong to.
        phase_number: i32,
        /// The whole list; positions are 1 to n.
        todos: Vec<Todo>,
    },
    /// One todo's status changes.
    TodoMoved {
        /// The phase it belongs to.
        phase_number: i32,
        /// Its position.
        position: i32,
        /// The new status.
        status: TodoStatus,
        /// Notes, if it is closed.
        notes: Option<String>,
    },
    /// A todo was closed without evidence.
    TodoUnevidenced {
        /// The phase it belongs to.
        phase_number: i32,
        /// Its position.
        position: i32,
    },
    /// A product of a tool or of the engine.
    Product(Product),
    /// These rows of the ledger are new or changed.
    PassagesPut(Vec<Passage>),
    /// These passages no longer exist.
    PassagesDropped(Vec<i32>),
    /// A model request was made, successful or not.
    Request(RequestRecord),
    /// These feedback rows are now part of the conversation.
    FeedbackTaken(Vec<i64>),
    /// An approval is requested or changes its state.
    Approval(ApprovalChange),
    /// The job leaves the worker.
    Exited(JobExit),
}

/// The products of work other than conversation.
#[derive(Clone, Debug, PartialEq)]
pub enum Product {
    /// A workspace file is created or replaced.
    WriteFile(FileWrite),
    /// The job has these shared files from now on.
    ShareFiles(Arc<SharedFiles>),
    /// Text is appended to a workspace file, which is created if missing.
    AppendFile {
        /// Workspace path.
        path: String,
        /// The text to add.
        text: String,
    },
    /// A workspace file is deleted.
    DeleteFile {
        /// Workspace path.
        path: String,
    },
    /// A document of the job.
    AddSource(Source),
    /// A verified citation.
    AddCitation(Citation),
    /// A document of the job was cut into passages. They are written as [`Change::PassagesPut`].
    CutDocument(Box<CutDocument>),
    /// A new requirement for the hand-over, one that the job does not have yet: the tool checks that, and each one is
    /// counted.
    AddRequirement(Box<Requirement>),
    /// A passage whose requirements are recorded is decided.
    DecidePassage(Box<PassageDecision>),
    /// The sentences that the quotes of the delivered files touch, in a job that records no requirements.
    DeliverQuotes(Vec<Touched>),
    /// A requirement of the job that no validator has claimed yet is corrected or withdrawn.
    ChangeRequirement(Box<RequirementChange>),
    /// A validator's judgement of a requirement that its job holds.
    JudgeRequirement(Box<Judgement>),
}

impl Change {
    /// The product, if it is one.
    pub fn product(&self) -> Option<&Product> {
        if let Self::Product(product) = self { Some(product) } else { None }
    }
}

impl Product {
    /// The path of its workspace file, if it has one.
    pub fn path(&self) -> Option<&str> {
        match self {
            Self::WriteFile(file) => Some(&file.path),
            Self::AppendFile { path, .. } | Self::DeleteFile { path } => Some(path),
            Self::ShareFiles(_)
            | Self::AddSource(_)
            | Self::AddCitation(_)
            | Self::CutDocument(_)
            | Self::AddRequirement(_)
            | Self::DecidePassage(_)
            | Self::DeliverQuotes(_)
            | Self::ChangeRequirement(_)
            | Self::JudgeRequirement(_) => None,
        }
    }
}

/// A file's new content.
#[derive(Clone, Debug, PartialEq)]
pub struct FileWrite {
    /// Workspace path, normalized: relative, `/`-separated, without `.` or `..`.
    pub path: String,
    /// The bytes.
    pub content: Vec<u8>,
}

impl FileWrite {
    /// A text file.
    pub fn text(path: impl Into<String>, content: impl Into<String>) -> Self {
        Self { path: path.into(), content: content.into().into_bytes() }
    }
}

/// A document that was taken in or extracted.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Source {
    /// Workspace path of the document, e.g. `input/policy.pdf`.
    pub path: String,
    /// Size in bytes.
    pub size: i64,
    /// Number of pages, if the format has pages.
    pub pages: Option<i32>,
    /// Workspace path of its extracted, page-marked text, once extracted.
    pub text_path: Option<String>,
    /// The parts of it that are missing in its text, one sentence each, with page and first words.
    #[serde(default)]
    pub warnings: Vec<String>,
    /// Its pages with content that is mostly missing in its text.
    #[serde(default)]
    pub unread_pages: Vec<i32>,
    /// The version of the extraction that produced its text, once extracted: another version may cut and number the
    /// same bytes differently.
    #[serde(default)]
    pub extraction: Option<String>,
}

impl Source {
    /// The sentences about one of its pages; a generic one if there is none.
    pub fn why_unread(&self, page: i32) -> String {
        let about = self.warnings.iter().filter(|warning| names_page(warning, page)).map(String::as_str);
        let said = about.collect::<Vec<_>>().join(" ");
        match said.is_empty() {
            true => format!("Page {page}: most of what it shows is not in the text. {}", self.warnings.join(" "))
                .trim_end()
                .into(),
            false => said,
        }
    }
}

/// Whether a sentence begins with the page: `Page 3 has …`, `Pages 3, 7-9 have …`, `Page 3: …`.
fn names_page(warning: &str, page: i32) -> bool {
    let Some(list) = warning.strip_prefix("Pages ").or_else(|| warning.strip_prefix("Page ")) else { return false };
    let list = list.split(|c: char| !c.is_ascii_digit() && !matches!(c, ',' | '-' | ' ')).next().unwrap_or_default();
    list.split(',').any(|run| {
        let mut ends = run.trim().split('-').map(str::parse::<i32>);
        match (ends.next(), ends.next()) {
            (Some(Ok(from)), Some(Ok(to))) => (from..=to).contains(&page),
            (Some(Ok(only)), None) => only == page,
            _ => false,
        }
    })
}

/// A quote found in its source.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Citation {
    /// `cit_` and 8 hexadecimal digits of the hash of source, page and quote: the same citation has the same id.
    pub id: String,
    /// Workspace path of the source.
    pub source: String,
    /// The page on which the quote begins, if the source has pages.
    pub page: Option<i32>,
    /// The page on which it ends, if different.
    #[serde(default)]
    pub page_to: Option<i32>,
    /// The words as in the source; white space is reduced to single spaces, and words split at line ends are joined.
    pub quote: String,
    /// Whether the quote was found in the source.
    pub verified: bool,
    /// The passage in which it begins, and the sentences of that passage that it touches, if the document was cut.
    #[serde(flatten, default, skip_serializing_if = "Option::is_none")]
    pub place: Option<Touched>,
    /// The sentences that it touches in later passages.
    #[serde(default, skip)]
    pub continues: Vec<Touched>,
    /// The sentences that it touches in repetitions of the same whole sentences.
    #[serde(default, skip)]
    pub again: Vec<Touched>,
}

/// A row of `requirement_cache`, as the creator fills it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Requirement {
    /// The job's own number, `r12`: never reused, and copied by forks. The engine assigns it if absent.
    #[serde(default)]
    pub number: Option<i32>,
    /// `req_` and 12 hexadecimal digits of the hash of the normalized text.
    pub candidate_id: String,
    /// SHA-256 of the normalized text; unique within the job.
    pub content_key: Vec<u8>,
    /// The requirement's text, 10 to 10,000 characters.
    pub text: String,
    /// At most 80 characters.
    pub name: String,
    /// `functional`, `non_functional`, `compliance` or `constraint`.
    pub r#type: String,
    /// `high`, `medium` or `low`.
    pub priority: String,
    /// Workspace path of the document.
    pub source_document: Option<String>,
    /// `{article, paragraph, page, section}`, each optional.
    pub source_location: Value,
    /// Whether it concerns proper book-keeping (GoBD).
    pub gobd_relevant: bool,
    /// Whether it concerns data protection (GDPR).
    pub gdpr_relevant: bool,
    /// `[{source, page, quote, verified}]`.
    pub citations: Value,
    /// Names of business objects, as written in the document.
    pub mentioned_objects: Vec<String>,
    /// Names of messages, as written in the document.
    pub mentioned_messages: Vec<String>,
    /// Why it is a requirement.
    pub reasoning: Option<String>,
    /// The findings of research.
    pub research_notes: Option<String>,
    /// 0 to 1.
    pub confidence: f64,
    /// Free labels.
    pub tags: Vec<String>,
}

/// A validator's decision on one row of `requirement_cache`. It is written only if the job still holds the row.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Judgement {
    /// The row.
    pub id: Uuid,
    /// The verdict.
    pub verdict: Verdict,
    /// The reason of a rejection or a failure: one sentence.
    pub reason: Option<String>,
    /// The node's `rid`, once it is integrated.
    pub graph_node_id: Option<String>,
    /// Everything that was checked, an object.
    pub validation_result: Value,
}

/// The verdict on a requirement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It is in the graph.
    Integrated,
    /// It is not a requirement to integrate: a duplicate, without evidence, malformed.
    Rejected,
    /// It could not be judged or integrated; the reason is the error.
    Failed,
    /// It passed every check, and there is no graph to integrate it into: it waits for one.
    Accepted,
}

//! Why a document has no text, each case in one sentence for the job's `error_message`.

use crate::Kind;

/// Why a document could not be read.
///
/// The name is `the document` until [`DocumentError::with_name`] sets the file's own name, which the parser does not
/// know.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DocumentError {
    /// The file has no bytes at all.
    #[error("{name} is empty; supply a document with content")]
    Empty {
        /// The file as the user named it.
        name: String,
    },
    /// The content contradicts the name.
    #[error("{name} is not a {expected}: {found}; {advice}")]
    NotThatKind {
        /// The file as the user named it.
        name: String,
        /// The format according to the name.
        expected: Kind,
        /// The actual content.
        found: String,
        /// Advice for the user.
        advice: String,
    },
    /// An unsupported format.
    #[error("{name} is {what}, which cannot be read; {advice}")]
    Unsupported {
        /// The file as the user named it.
        name: String,
        /// The format, with its article.
        what: String,
        /// Advice for the user.
        advice: String,
    },
    /// A password is needed.
    #[error("{name} is encrypted; supply it without a password")]
    Encrypted {
        /// The file as the user named it.
        name: String,
    },
    /// The format is supported, but its content cannot be parsed.
    #[error("{name} could not be read: {reason}; open it in its own program and save or export it anew")]
    Damaged {
        /// The file as the user named it.
        name: String,
        /// The parser's reason.
        reason: String,
    },
    /// Pages without any text, usually a scan.
    #[error("{}", no_text(name, *pages, *first, why))]
    NoText {
        /// The file as the user named it.
        name: String,
        /// Number of pages without text; zero for a document that has no pages.
        pages: u32,
        /// The first of them, from 1.
        first: u32,
        /// Those of them with visible content; the others are blank.
        unread: Vec<u32>,
        /// Further findings, one sentence each.
        why: Vec<String>,
    },
    /// Requested pages do not exist.
    #[error("{name} has {count} page(s), so page {asked} cannot be extracted; ask for pages 1 to {count}")]
    NoSuchPage {
        /// The file as the user named it.
        name: String,
        /// The first requested page.
        asked: u32,
        /// Number of pages there are.
        count: u32,
    },
    /// More text than the limit for one document.
    #[error("{name} has {} of text, more than the {} that can be taken in; split it into several documents", size(*bytes), size(*most))]
    TooLong {
        /// The file as the user named it.
        name: String,
        /// How much text there is, in bytes.
        bytes: u64,
        /// How much it may be.
        most: u64,
    },
    /// The parser child ended without an answer.
    #[error("{name} could not be read: the parser {ending}; supply a smaller or repaired copy")]
    ParserDied {
        /// The file as the user named it.
        name: String,
        /// How it ended.
        ending: Ending,
    },
    /// The child process could not be started or reached; the document is not the cause.
    #[error(
        "the document parser could not be run at {program}: {reason}; check that the file exists and may be executed"
    )]
    Spawn {
        /// The program to run.
        program: String,
        /// The system's reason.
        reason: String,
    },
}

/// How a parser child ended without an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// It reached its memory limit.
    OutOfMemory,
    /// It reached its CPU or wall time limit.
    OutOfTime,
    /// It wrote far more than the permitted text.
    TooMuchOutput,
    /// It ended with a signal or an exit code.
    Crashed,
}

impl std::fmt::Display for Ending {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::OutOfMemory => "ran out of memory",
            Self::OutOfTime => "ran out of time",
            Self::TooMuchOutput => "gave more text than can be taken in",
            Self::Crashed => "crashed",
        })
    }
}

/// Placeholder for an unknown file name.
pub(crate) const UNNAMED: &str = "the document";

impl DocumentError {
    /// The same error about a document called `name`, for example `input/policy.pdf`.
    #[must_use]
    pub fn with_name(mut self, file: &str) -> Self {
        match &mut self {
            Self::Empty { name }
            | Self::NotThatKind { name, .. }
            | Self::Unsupported { name, .. }
            | Self::Encrypted { name }
            | Self::Damaged { name, .. }
            | Self::NoText { name, .. }
            | Self::NoSuchPage { name, .. }
            | Self::TooLong { name, .. }
            | Self::ParserDied { name, .. } => file.clone_into(name),
            Self::Spawn { .. } => {}
        }
        self
    }
}

fn no_text(name: &str, pages: u32, first: u32, why: &[String]) -> String {
    let advice = "supply a version with text, for example from a scanner's text recognition";
    match pages {
        _ if !why.is_empty() => format!("{name} has no text that can be read: {} {advice}", why.join(" ")),
        0 => format!("{name} has no text; supply a document with content"),
        1 => format!("{name}: page {first} has no text layer; OCR is not available; {advice}"),
        _ => format!("{name}: all {pages} pages have no text layer; OCR is not available; {advice}"),
    }
}

/// An amount of text, rounded up, so that a size above a limit never prints like the limit.
fn size(bytes: u64) -> String {
    match bytes {
        0..=9_999 => format!("{bytes} bytes"),
        10_000..=9_999_999 => format!("{} KiB", bytes.div_ceil(1 << 10)),
        _ => format!("{} MiB", bytes.div_ceil(1 << 20)),
    }
}

//! What a refusal teaches.

use crate::config::OutputCapField;
use crate::dialect::Field;

/// One thing that an endpoint does otherwise than it was taken to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Lesson {
    /// The model is to be asked by responses.
    UseResponses,
    /// Answers are not streamed.
    NoStream,
    /// A stream is asked for without options; servers that refuse them tell the usage all the same.
    NoStreamOptions,
    /// Reasoning does not come in encrypted form.
    NoEncrypted,
    /// What came with earlier answers is not taken back.
    NoEcho,
    /// A key of it is not.
    LeaveOut(String),
    /// The answer with this number in the history, and its results, are sent as text.
    AsText(i64),
    /// The cap of an answer has this name.
    CapAs(OutputCapField),
    /// An answer has at most so many tokens.
    MostTokens(u32),
    /// A field that is sent only where it is configured is not taken.
    Without(Field),
    /// The model takes this effort in place of the configured one.
    Effort(String),
    /// It takes none.
    NoEffort,
    /// It decides itself how much it thinks, and takes no budget (messages).
    Adaptive,
}

/// How the words for a consequence begin.
const GOES_ON: &str = "the job goes on ";

impl Lesson {
    /// How the job goes on, for the record and for the log.
    pub(crate) fn consequence(&self) -> String {
        let how = match self {
            Self::UseResponses => "by /responses".to_owned(),
            Self::NoStream => "without streaming".to_owned(),
            Self::NoStreamOptions => "without `stream_options`".to_owned(),
            Self::NoEncrypted => "without encrypted reasoning".to_owned(),
            Self::NoEcho => "without sending earlier reasoning back".to_owned(),
            Self::LeaveOut(key) => format!("without sending `{}` back", key.replace(['\n', ';'], " ")),
            Self::AsText(seq) => format!("with its message {seq} as text"),
            Self::CapAs(field) => format!("with `{}`", field.name()),
            Self::MostTokens(most) => format!("with answers of at most {most} tokens"),
            Self::Without(field) => format!("without `{}`", field.name()),
            Self::Effort(effort) => format!("with the effort `{effort}`"),
            Self::NoEffort => "without an effort".to_owned(),
            Self::Adaptive => "with adaptive thinking".to_owned(),
        };
        format!("{GOES_ON}{how}")
    }
}

/// Whether the recorded words of a failure are those of one that has taught something.
pub fn has_taught(message: &str) -> bool {
    message.rsplit_once("; ").is_some_and(|(_, end)| end.starts_with(GOES_ON))
}

//! What can be learnt from a refusal.

use crate::OutputCapField;
use crate::dialect::Field;

/// One deviation of an endpoint from the assumptions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Lesson {
    /// The model requires responses.
    UseResponses,
    /// Answers are not streamed.
    NoStream,
    /// A stream is requested without options; servers that refuse them report usage anyway.
    NoStreamOptions,
    /// Reasoning does not come in encrypted form.
    NoEncrypted,
    /// Extra data of earlier answers is not accepted back.
    NoEcho,
    /// An answer without reasoning needs an empty text in its place.
    EmptyReasoning,
    /// A key of it is not accepted back.
    LeaveOut(String),
    /// The answer with this number in the history, and its results, are sent as text.
    AsText(i64),
    /// The field name of an answer's cap.
    CapAs(OutputCapField),
    /// The maximum cap of an answer in tokens.
    MostTokens(u32),
    /// An optional configured field is not accepted.
    Without(Field),
    /// The model accepts this effort instead of the configured one.
    Effort(String),
    /// It takes none.
    NoEffort,
    /// The model decides how much it thinks, and accepts no budget (messages).
    Adaptive,
}

/// The prefix of the sentence about a consequence.
const GOES_ON: &str = "the job goes on ";

impl Lesson {
    /// How the job continues, for the record and for the log.
    pub(crate) fn consequence(&self) -> String {
        let how = match self {
            Self::UseResponses => "by /responses".to_owned(),
            Self::NoStream => "without streaming".to_owned(),
            Self::NoStreamOptions => "without `stream_options`".to_owned(),
            Self::NoEncrypted => "without encrypted reasoning".to_owned(),
            Self::NoEcho => "without sending earlier reasoning back".to_owned(),
            Self::EmptyReasoning => "with empty reasoning where an answer has none".to_owned(),
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

/// Whether a recorded failure is one from which something was learnt.
pub fn has_taught(message: &str) -> bool {
    message.rsplit_once("; ").is_some_and(|(_, end)| end.starts_with(GOES_ON))
}

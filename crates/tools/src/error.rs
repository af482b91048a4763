//! Why a tool has no result.

use crate::workspace::WorkspaceError;
use plumbline_engine::{GivenRow, Outage, Product, Source};

/// What a tool gives when it succeeds.
#[derive(Debug, Default)]
pub(crate) struct Output {
    /// The text for the model.
    pub(crate) content: String,
    /// What it produced.
    pub(crate) products: Vec<Product>,
    /// Requirements of other jobs that the text gives to be judged.
    pub(crate) gives: Vec<GivenRow>,
    /// Whether the call counts as failed all the same: a part of it was refused, and the rest carried out.
    pub(crate) is_failed: bool,
}

impl Output {
    /// A result with what it produced.
    pub(crate) fn of(content: impl Into<String>, products: Vec<Product>) -> Self {
        Self { content: content.into(), products, gives: Vec::new(), is_failed: false }
    }

    /// A result that changes nothing.
    pub(crate) fn text(content: impl Into<String>) -> Self {
        Self::of(content, Vec::new())
    }

    /// A result with one product.
    pub(crate) fn with(content: impl Into<String>, product: Product) -> Self {
        Self::of(content, vec![product])
    }
}

/// Why a call has no result.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ToolError {
    /// The model asked for something that cannot be done: one sentence that says what, where and what to do.
    #[error("{0}")]
    Refused(String),
    /// The same, of a call that is taken when it is made again ([`plumbline_engine::OutsideCall`]).
    #[error("{0}")]
    RefusedOnce(String),
    /// A document has no text that can be read: the sentence, and what is known of the document all the same.
    #[error("{reason}")]
    Unreadable {
        /// What, where and what to do.
        reason: String,
        /// The document, with the sentence and its pages.
        document: Box<Source>,
    },
    /// Something outside failed for a reason that may pass, and nothing was changed: the call is made again a few times
    /// (`limits.tool_retries`) before the model reads this.
    #[error("{0}")]
    Transient(String),
    /// A service that the job cannot do without is away, and nothing was changed: the whole batch waits for it.
    #[error("{reason}")]
    Unavailable {
        /// Which one, where, and what to do.
        reason: String,
        /// What brings it back.
        remedy: Remedy,
    },
    /// The rows could not be read.
    #[error(transparent)]
    Workspace(#[from] WorkspaceError),
}

/// What brings a service back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Remedy {
    /// Another try at once may do, as with [`ToolError::Transient`]; then time.
    AnotherTry,
    /// Time.
    Time,
    /// A person who corrects what is configured.
    Operator,
}

/// Why a batch has no results. Nothing of it is in the rows, and it may be run again as it is: no call was made that may
/// not be made twice.
#[derive(Debug, thiserror::Error)]
pub enum BatchError {
    /// The rows could not be read.
    #[error(transparent)]
    Workspace(#[from] WorkspaceError),
    /// A service that a call needs is away.
    #[error("{}", .0.reason)]
    Unavailable(Outage),
}

impl ToolError {
    /// A refusal for the model to read.
    pub(crate) fn refused(message: impl Into<String>) -> Self {
        Self::Refused(message.into())
    }
}

/// What running a tool gives.
pub(crate) type ToolResult = Result<Output, ToolError>;

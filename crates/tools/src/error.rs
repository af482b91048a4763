//! Why a tool has no result.

use crate::workspace::WorkspaceError;
use plumbline_engine::{GivenRow, Outage, Product, Source};
use std::fmt::Display;

/// The result of a successful tool.
#[derive(Debug, Default)]
pub(crate) struct Output {
    /// The text for the model.
    pub(crate) content: String,
    /// Its products.
    pub(crate) products: Vec<Product>,
    /// Requirements of other jobs that the text presents for judging.
    pub(crate) gives: Vec<GivenRow>,
    /// Whether the call still counts as failed: a part of it was refused, and the rest was done.
    pub(crate) is_failed: bool,
}

impl Output {
    /// A result with products.
    pub(crate) fn of(content: impl Into<String>, products: Vec<Product>) -> Self {
        Self { content: content.into(), products, gives: Vec::new(), is_failed: false }
    }

    /// A result without products.
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
    /// The model requested something impossible: one sentence that says what, where and what to do.
    #[error("{0}")]
    Refused(String),
    /// The same, for a call that is accepted if repeated ([`plumbline_engine::OutsideCall`]).
    #[error("{0}")]
    RefusedOnce(String),
    /// A document has no readable text: the message, and the known facts of the document.
    #[error("{reason}")]
    Unreadable {
        /// What, where and what to do.
        reason: String,
        /// The document, with the message and its pages.
        document: Box<Source>,
    },
    /// An external failure that is probably transient: unless the call must not be repeated, it is retried a few times
    /// (`limits.tool_retries`) before the model reads this. Whether it took effect is not known of a call that reaches out.
    #[error("{0}")]
    Transient(String),
    /// A service that the job requires is unavailable, and nothing was changed: the whole batch waits for it.
    #[error("{reason}")]
    Unavailable {
        /// Which service, where, and what to do.
        reason: String,
        /// The remedy.
        remedy: Remedy,
    },
    /// The rows could not be read.
    #[error(transparent)]
    Workspace(#[from] WorkspaceError),
}

/// What makes a service available again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Remedy {
    /// An immediate retry may succeed, as with [`ToolError::Transient`]; then time.
    AnotherTry,
    /// Time.
    Time,
    /// An operator who corrects the configuration.
    Operator,
}

/// Why a batch has no results. Nothing of it is in the rows, and it may be run again: no call was made that must not be
/// repeated.
#[derive(Debug, thiserror::Error)]
pub enum BatchError {
    /// The rows could not be read.
    #[error(transparent)]
    Workspace(#[from] WorkspaceError),
    /// A service that a call needs is unavailable.
    #[error("{}", .0.reason)]
    Unavailable(Outage),
}

impl ToolError {
    /// A refusal, shown to the model.
    pub(crate) fn refused(message: impl Into<String>) -> Self {
        Self::Refused(message.into())
    }

    /// The same, with this before the reason of a refusal.
    pub(crate) fn at(self, place: impl Display) -> Self {
        if let Self::Refused(reason) = self { Self::Refused(format!("{place}: {reason}")) } else { self }
    }
}

/// The result of running a tool.
pub(crate) type ToolResult = Result<Output, ToolError>;

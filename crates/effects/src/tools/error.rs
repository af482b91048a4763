//! Why a tool has no result.

use super::workspace::WorkspaceError;
use plumbline_engine::Product;

/// What a tool gives when it succeeds.
#[derive(Debug, Default)]
pub(super) struct Output {
    /// The text for the model.
    pub(super) content: String,
    /// What it produced.
    pub(super) products: Vec<Product>,
}

impl Output {
    /// A result that changes nothing.
    pub(super) fn text(content: impl Into<String>) -> Self {
        Self { content: content.into(), products: Vec::new() }
    }

    /// A result with one product.
    pub(super) fn with(content: impl Into<String>, product: Product) -> Self {
        Self { content: content.into(), products: vec![product] }
    }
}

/// Why a call has no result.
#[derive(Debug, thiserror::Error)]
pub(super) enum ToolError {
    /// The model asked for something that cannot be done: one sentence that says what, where and what to do.
    #[error("{0}")]
    Refused(String),
    /// Something outside failed for a reason that may pass, and nothing was changed: the call is made again a few times
    /// (`limits.tool_retries`) before the model reads this.
    #[error("{0}")]
    Passing(String),
    /// The rows could not be read.
    #[error(transparent)]
    Workspace(#[from] WorkspaceError),
}

impl ToolError {
    /// A refusal for the model to read.
    pub(super) fn refused(message: impl Into<String>) -> Self {
        Self::Refused(message.into())
    }
}

/// What running a tool gives.
pub(super) type ToolResult = Result<Output, ToolError>;
